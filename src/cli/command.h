// One command per file: parse, call, print.
#pragma once

#include <span>
#include <string>

#include "base/log.h"
#include "base/result.h"

namespace coop::cli {

using Arguments = std::span<const std::string>;

struct Parsed;

// Each returns the exit code. Results go to standard output, everything else to standard error.
Result<int> command_run(const Parsed& parsed);
Result<int> command_plan(const Parsed& parsed);
Result<int> command_status(const Parsed& parsed);
Result<int> quarantine_list(const Parsed& parsed);
Result<int> quarantine_restore(const Parsed& parsed);
Result<int> quarantine_remove(const Parsed& parsed);
Result<int> home_list(const Parsed& parsed);
Result<int> home_path(const Parsed& parsed);
Result<int> home_remove(const Parsed& parsed);
Result<int> command_presets(const Parsed& parsed);
Result<int> command_setup(const Parsed& parsed);
Result<int> command_hook(const Parsed& parsed);
Result<int> command_trust(const Parsed& parsed);
Result<int> command_completion(const Parsed& parsed);
Result<int> command_man(const Parsed& parsed);
Result<int> config_check(const Parsed& parsed);

// The whole program.
int main_with(Arguments arguments);

void print(const std::string& text);
// The help of a command that needs another word, where no program takes it for a result.
void print_usage_error(const std::string& help);
// For output a program reads: an error when it could not be written.
Result<void> print_all(const std::string& text);
void print_error(const Error& error, LogFormat format = LogFormat::text);
// json when the words before "--" ask for that: then nothing else may be on standard error.
LogFormat log_format_in(Arguments arguments);
// "coop: …" on standard error, a line each.
void print_note(const std::string& text);
// "coop: …" on standard error.
void say(const std::string& text);

inline constexpr int kOwnFailure = 125;

}  // namespace coop::cli
