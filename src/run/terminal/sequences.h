// Which control sequences may reach the caller's terminal. docs/terminal.md has the same as a table.
#pragma once

#include <cstdint>
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

// Private modes in which the terminal sends reports or shows its other screen: a command must not leave them on.
bool must_end(unsigned mode);

}  // namespace coop::run
