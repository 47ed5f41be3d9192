// One command per file: parse, call, print.
#pragma once

#include <span>
#include <string>

#include "base/result.h"

namespace coop::cli {

using Arguments = std::span<const std::string>;

// Each returns the exit code. Results go to standard output, everything else to standard error.
Result<int> command_run(Arguments arguments);
Result<int> command_plan(Arguments arguments);
Result<int> command_status(Arguments arguments);
Result<int> command_policy(Arguments arguments);
Result<int> command_trust(Arguments arguments);
Result<int> command_config(Arguments arguments);
Result<int> command_completion(Arguments arguments);
Result<int> command_man(Arguments arguments);

// The whole program.
int main_with(Arguments arguments);

std::string help_text();
std::string run_help_text(const char* command);

void print(const std::string& text);
// For output a program reads: an error when it could not be written.
Result<void> print_all(const std::string& text);
void print_error(const Error& error);
// "coop: …" on standard error, a line each.
void print_note(const std::string& text);
// "coop: …" on standard error.
void say(const std::string& text);

inline constexpr int kOwnFailure = 125;

}  // namespace coop::cli
