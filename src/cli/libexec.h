// Commands that are separate programs, installed beside this one (docs/adr/0010).
#pragma once

#include "cli/command.h"

namespace coop::cli {

// Executes ../libexec/coop/coop-PROGRAM with these arguments; returns only on failure. Searches
// nowhere else: a program that an agent left on the PATH must not become a command of coop.
Result<int> become(const std::string& program, const std::string& command, Arguments arguments);

}  // namespace coop::cli
