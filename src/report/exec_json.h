#pragma once

#include <string>

#include "coop/sandbox.h"

namespace coop::report {

// What `coop run --json` prints. Output bytes that are not UTF-8 become U+FFFD.
std::string exec_json(const ExecOutput& output, const std::string& id);

}  // namespace coop::report
