// Which control sequences may reach the caller's terminal. docs/terminal.md has the same as a table.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace coop::run {

enum class SequenceVerdict : std::uint8_t {
  refused,
  passed,
  asks,  // passed, and the terminal answers: the answer's form is fixed, so no program can make a command of it
};

// ESC [ PREFIX PARAMETERS INTERMEDIATES FINAL.
struct ControlSequence {
  char prefix = 0;                   // one of "<=>?", or 0
  std::string_view parameters{};     // digits, ";" and ":"
  std::string_view intermediates{};  // " " to "/"
  char final = 0;                    // "@" to "~"
};
SequenceVerdict judge_control(const ControlSequence& sequence);

// ESC INTERMEDIATES FINAL.
SequenceVerdict judge_escape(std::string_view intermediates, char final);

// The text between "ESC ]" (OSC) or "ESC P" (DCS) and the end.
SequenceVerdict judge_operating_system_command(std::string_view text);
SequenceVerdict judge_device_control(std::string_view text);

// BEL, BS, TAB, line and page movements, character sets. Not ENQ: the terminal would answer.
bool may_pass(unsigned char control);

// The state of a mode that programs expect. either: it depends on the terminal, and is harmless.
enum class UsualMode : std::uint8_t { off, on, either };
// Nothing for a mode that must not be changed. `prefix` is "?" for a private one, or 0.
std::optional<UsualMode> usual_of(char prefix, unsigned number);

// Whether this number of an operating system command sets or resets colours.
bool is_colour(std::string_view number);

// Calls `take` for each parameter between semicolons.
template <typename Take>
void for_each_parameter(std::string_view parameters, Take take) {
  while (true) {
    const std::size_t end = parameters.find(';');
    take(parameters.substr(0, end));
    if (end == std::string_view::npos) return;
    parameters.remove_prefix(end + 1);
  }
}

}  // namespace coop::run
