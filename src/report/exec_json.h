#pragma once

#include <string>
#include <vector>

#include "coop/sandbox.h"

namespace coop::report {

// What `coop run --json` prints. Output bytes that are not UTF-8 become U+FFFD.
// Hosts that were allowed and never reached, each with why the last attempt failed; the first twenty.
std::vector<NetworkEvent> unreached_of(const std::vector<NetworkEvent>& events);

std::string exec_json(const ExecOutput& output, const std::string& id);

}  // namespace coop::report
