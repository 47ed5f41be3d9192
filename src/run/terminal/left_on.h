// What a command has changed at the terminal and not changed back: modes, keyboard reports, colours, character sets. Only what the
// filter has let through is noted, so everything noted can be undone.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "run/terminal/sequences.h"

namespace coop::run {

class LeftOn {
 public:
  // False for one that must not pass: it takes away more keyboard modes than the command has added.
  bool note(const ControlSequence& sequence);
  void note_escape(std::string_view intermediates, char final);
  void note_shift() { shifted_ = true; }
  void note_command(std::string_view text);

  // The sequences that undo it, and forgets it. The cursor stays where it is on that screen.
  std::string undo();

 private:
  void note_mode(char prefix, unsigned number, char final);
  bool note_keyboard(const ControlSequence& sequence);

  std::set<std::pair<char, unsigned>> modes_{};  // not as usual; of the table in sequences.cc
  std::array<unsigned, 2> keyboard_{};           // modes added: each of both screens has its own
  std::set<unsigned> colours_{};                 // numbers of OSC, of the table in sequences.cc
  bool keyboard_set_ = false;
  bool modified_keys_ = false;
  bool keypad_ = false;
  bool shifted_ = false;  // character sets
  bool region_ = false;
  bool tabs_ = false;
  bool attributes_ = false;
  bool protected_ = false;
  bool cursor_ = false;
  bool pointer_ = false;
  bool link_ = false;
  bool progress_ = false;
};

}  // namespace coop::run
