// What `coop status` prints.
#pragma once

#include <string>

#include "host/facts.h"

namespace coop::report {

// One line for each feature with its reason and fix; ends with whether the default sandbox can run.
std::string status_text(const HostFacts& facts);

// The same as one JSON object. Contains no environment variables, which may hold keys.
std::string status_json(const HostFacts& facts);

}  // namespace coop::report
