#include "run/terminal/left_on.h"

#include <algorithm>
#include <charconv>

namespace coop::run {

namespace {

constexpr unsigned kMostKeyboardModes = 64;  // more than any terminal keeps
constexpr std::array<unsigned, 3> kOtherScreen{47, 1047, 1049};

unsigned number_of(std::string_view text, unsigned otherwise) {
  unsigned number = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool is_other_screen(const std::pair<char, unsigned>& mode) {
  return mode.first == '?' && std::ranges::find(kOtherScreen, mode.second) != kOtherScreen.end();
}

std::string set_mode(const std::pair<char, unsigned>& mode, char final) {
  std::string text = "\x1b[";
  if (mode.first != 0) text += mode.first;
  return text + std::to_string(mode.second) + final;
}

// A question has only "?" and positions in the palette.
bool sets_one(std::string_view values) {
  return values.find_first_not_of("0123456789;?") != std::string_view::npos;
}

// Which of "h" and "l" is the usual state.
char usual_final(const std::pair<char, unsigned>& mode) {
  return *usual_of(mode.first, mode.second) == UsualMode::on ? 'h' : 'l';
}

}  // namespace

bool LeftOn::note(const ControlSequence& sequence) {
  const bool plain = sequence.prefix == 0 && sequence.intermediates.empty();
  switch (sequence.final) {
    case 'h':
    case 'l':
      for_each_parameter(sequence.parameters, [&](std::string_view text) {
        note_mode(sequence.prefix, number_of(text, 0), sequence.final);
      });
      return true;
    case 'u': return sequence.intermediates.empty() ? note_keyboard(sequence) : true;
    case 'm':
      if (sequence.prefix == '>') modified_keys_ = true;
      // Not switched off by "0": a saved cursor brings them back.
      if (plain && !sequence.parameters.empty() && sequence.parameters != "0") attributes_ = true;
      return true;
    case 'r':
      if (plain) region_ = true;
      return true;
    case 's':
      if (plain && !sequence.parameters.empty()) region_ = true;
      return true;
    case 'g':
      if (plain) tabs_ = true;
      return true;
    case 'q':
      if (sequence.intermediates == " ") cursor_ = true;
      if (sequence.intermediates == "\"") protected_ = true;
      return true;
    default: return true;
  }
}

void LeftOn::note_mode(char prefix, unsigned number, char final) {
  const std::optional<UsualMode> usual = usual_of(prefix, number);
  if (!usual || *usual == UsualMode::either) return;
  const std::pair mode(prefix, number);
  // Origin and wrapping come back with a saved cursor, whatever was switched meanwhile.
  const bool saved = prefix == '?' && (number == 6 || number == 7);
  if (final == usual_final(mode) && !saved) modes_.erase(mode);
  else if (final == usual_final(mode)) return;
  else modes_.insert(mode);
}

bool LeftOn::note_keyboard(const ControlSequence& sequence) {
  const bool other = std::ranges::any_of(modes_, is_other_screen);
  unsigned& added = keyboard_[other ? 1 : 0];
  if (sequence.prefix == '=') keyboard_set_ = true;
  if (sequence.prefix == '>') added = std::min(added + 1, kMostKeyboardModes);
  if (sequence.prefix == '<') {
    const unsigned taken = std::max(number_of(sequence.parameters, 1), 1U);
    if (taken > added) return false;
    added -= taken;
  }
  return true;
}

void LeftOn::note_escape(std::string_view intermediates, char final) {
  if (!intermediates.empty()) {
    if (intermediates[0] != '#') shifted_ = true;
    return;
  }
  switch (final) {
    case 'c': *this = {}; return;  // a reset
    case '=': keypad_ = true; return;
    case '>': keypad_ = false; return;
    case 'H': tabs_ = true; return;
    case 'n':
    case 'o':
    case '|':
    case '}':
    case '~': shifted_ = true; return;
    default: return;
  }
}

void LeftOn::note_command(std::string_view text) {
  const std::string_view number = text.substr(0, text.find(';'));
  const std::string_view rest = text.substr(std::min(number.size() + 1, text.size()));
  if (number == "8") link_ = !rest.empty() && rest != ";";
  if (number == "9") progress_ = rest != "4;0" && !rest.starts_with("4;0;");
  if (number == "22") pointer_ = true;
  if (const unsigned colour = number_of(number, 0);
      is_colour(number) && colour < 100 && sets_one(rest))
    colours_.insert(colour);
}

std::string LeftOn::undo() {
  const LeftOn left = std::exchange(*this, {});
  const auto pop = [](unsigned count) {
    return count == 0 ? std::string{} : "\x1b[<" + std::to_string(count) + "u";
  };
  const bool other = std::ranges::any_of(left.modes_, is_other_screen);
  std::string text;
  if (left.keyboard_[1] > 0 && !other) text += "\x1b[?1049h";
  text += pop(left.keyboard_[1]);
  if (left.keyboard_[1] > 0 && !other) text += "\x1b[?1049l";
  // The rest is meant for the screen that stays.
  for (const auto& mode : left.modes_)
    if (is_other_screen(mode)) text += set_mode(mode, 'l');
  text += pop(left.keyboard_[0]);
  for (const auto& mode : left.modes_)
    if (!is_other_screen(mode)) text += set_mode(mode, usual_final(mode));
  if (left.keyboard_set_) text += "\x1b[=0u";
  if (left.modified_keys_) text += "\x1b[>4m";
  if (left.keypad_) text += "\x1b>";
  if (left.shifted_) text += "\x0f\x1b(B\x1b)B\x1b*B\x1b+B";
  if (left.protected_) text += "\x1b[0\"q";
  if (left.attributes_) text += "\x1b[0m";
  // Moves the cursor, which is saved and restored with what was just set.
  if (left.region_)
    text +=
        "\x1b"
        "7\x1b[r\x1b"
        "8";
  if (left.tabs_) text += "\x1b[?5W";
  if (left.cursor_) text += "\x1b[0 q";
  if (left.link_) text += "\x1b]8;;\x1b\\";
  if (left.progress_) text += "\x1b]9;4;0\x1b\\";
  if (left.pointer_) text += "\x1b]22;\x1b\\";
  // OSC 104 undoes OSC 4, 110 undoes 10.
  for (const unsigned number : left.colours_)
    text += "\x1b]" + std::to_string(100 + number) + "\x1b\\";
  return text;
}

}  // namespace coop::run
