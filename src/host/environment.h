// User, directories and environment of the caller: cheap, read at every start.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "host/facts.h"

namespace coop::host {

// The first of equal names wins, as in getenv.
std::map<std::string, std::string> read_environment();

// Fills the kernel, the user, the directories and the environment.
Result<void> read_surroundings(HostFacts& facts);

}  // namespace coop::host
