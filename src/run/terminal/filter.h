// What a command writes to its pty, without what a hostile one could do to the caller's terminal: write the clipboard, have
// the terminal type text into the shell that comes after, and the like. sequences.h decides; this splits the bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "run/terminal/left_on.h"
#include "run/terminal/sequences.h"

namespace coop::run {

enum class TerminalEncoding : std::uint8_t { utf8, single_byte, unknown };

// From LC_ALL, LC_CTYPE and LANG; unknown where none names an encoding: a terminal started with these settings may read
// single bytes, and then takes those from 0x80 to 0x9f for controls, also in the middle of what is a character in UTF-8.
TerminalEncoding terminal_encoding();

// Emits whole sequences only, in their 7-bit form, so that a terminal cannot read the bytes in another way than we did.
class TerminalFilter {
 public:
  explicit TerminalFilter(TerminalEncoding encoding) : encoding_(encoding) {}

  // Appends what may reach the terminal. A sequence may be split between calls at any byte.
  void feed(std::string_view bytes, std::string& out);

  // Undoes what the command left on: reports of the mouse, the other screen, colours. Nothing if there is nothing.
  std::string undo() { return left_on_.undo(); }
  // The same, and drops an incomplete sequence.
  std::string end();

  // Whether an answer of the terminal may be on its way. What arrives meanwhile does not change that: the command may
  // have asked several times, and a key looks like an answer.
  bool asked(std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now()) const {
    constexpr std::chrono::seconds kSlowest{3};  // over a network
    return asked_at_ && now - *asked_at_ < kSlowest;
  }

 private:
  enum class State : std::uint8_t {
    ground,
    escape,       // after ESC, and its intermediates
    control,      // after ESC [
    ignored,      // a control sequence that is too long or malformed
    text,         // after ESC and one of "]PX^_k"
    text_escape,  // an ESC in it: "\" ends it, anything else is a new sequence
  };

  void take(unsigned char byte, std::string& out);
  void take_character(unsigned char byte, std::string& out);
  void step(unsigned char byte, std::string& out);
  void step_escape(unsigned char byte, std::string& out);
  void step_control(unsigned char byte, std::string& out);
  void step_text(unsigned char byte, std::string& out);
  void show(std::string_view character, std::string& out);
  void execute(unsigned char control, std::string& out);
  void begin(State state);
  void begin_text(unsigned char kind);
  void finish_control(char final, std::string& out);
  void finish_text(std::string_view end, std::string& out);
  void keep(unsigned char byte);
  bool passes(SequenceVerdict verdict);

  TerminalEncoding encoding_;
  State state_ = State::ground;
  unsigned char kind_ = 0;   // text: what it began with
  bool broken_ = false;      // text: too long, or with a control character
  std::string sequence_{};   // after ESC, ESC [ or the kind
  std::string character_{};  // of UTF-8, so far
  std::size_t length_ = 0;   // of that character
  LeftOn left_on_{};
  std::optional<std::chrono::steady_clock::time_point> asked_at_{};
};

}  // namespace coop::run
