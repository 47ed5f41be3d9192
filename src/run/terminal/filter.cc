#include "run/terminal/filter.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

namespace coop::run {

namespace {

constexpr unsigned char kEscape = 0x1b;
constexpr unsigned char kBell = 0x07;
constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD
constexpr std::size_t kMostControl = 256;
constexpr std::size_t kMostText = 4096;

bool is_between(unsigned char byte, unsigned char low, unsigned char high) {
  return byte >= low && byte <= high;
}

// The bytes of the character that starts with this one; 0 when none does.
std::size_t length_of(unsigned char first) {
  if (is_between(first, 0xc2, 0xdf)) return 2;
  if (is_between(first, 0xe0, 0xef)) return 3;
  return is_between(first, 0xf0, 0xf4) ? 4 : 0;
}

// No overlong forms, surrogates or values past U+10FFFF: a terminal that decodes those would find controls in them.
bool continues(std::string_view so_far, unsigned char byte) {
  if (so_far.size() > 1) return is_between(byte, 0x80, 0xbf);
  switch (static_cast<unsigned char>(so_far[0])) {
    case 0xe0: return is_between(byte, 0xa0, 0xbf);
    case 0xed: return is_between(byte, 0x80, 0x9f);
    case 0xf0: return is_between(byte, 0x90, 0xbf);
    case 0xf4: return is_between(byte, 0x80, 0x8f);
    default: return is_between(byte, 0x80, 0xbf);
  }
}

}  // namespace

TerminalEncoding terminal_encoding() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string locale(value);
    const std::size_t dot = locale.find('.');
    if (dot == std::string::npos) return TerminalEncoding::unknown;
    std::string encoding;
    for (const char letter : locale.substr(dot + 1, locale.find('@') - dot - 1))
      if (std::isalnum(static_cast<unsigned char>(letter)) != 0)
        encoding += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return encoding == "utf8" ? TerminalEncoding::utf8 : TerminalEncoding::single_byte;
  }
  return TerminalEncoding::unknown;
}

void TerminalFilter::feed(std::string_view bytes, std::string& out) {
  for (const char byte : bytes) take(static_cast<unsigned char>(byte), out);
}

std::string TerminalFilter::end() {
  begin(State::ground);
  character_.clear();
  return undo();
}

void TerminalFilter::take(unsigned char byte, std::string& out) {
  if (!character_.empty()) return take_character(byte, out);
  if (byte < 0x80) return step(byte, out);
  // An 8-bit control, as ESC and a letter. In UTF-8 such a byte is no character either.
  if (byte < 0xa0) {
    step(kEscape, out);
    return step(static_cast<unsigned char>(byte - 0x40), out);
  }
  const char character = static_cast<char>(byte);
  if (encoding_ == TerminalEncoding::single_byte) return show({&character, 1}, out);
  length_ = length_of(byte);
  if (length_ == 0) return show(kReplacement, out);
  character_ = character;
}

void TerminalFilter::take_character(unsigned char byte, std::string& out) {
  if (!continues(character_, byte)) {
    character_.clear();
    show(kReplacement, out);
    return take(byte, out);
  }
  character_ += static_cast<char>(byte);
  if (character_.size() < length_) return;
  const std::string character = std::exchange(character_, {});
  // U+0080 to U+009F: terminals take them for 8-bit controls after decoding.
  if (character[0] == '\xc2' && byte < 0xa0) {
    step(kEscape, out);
    return step(static_cast<unsigned char>(byte - 0x40), out);
  }
  const bool ambiguous =
      encoding_ == TerminalEncoding::unknown && std::ranges::any_of(character, [](char part) {
        return is_between(static_cast<unsigned char>(part), 0x80, 0x9f);
      });
  show(ambiguous ? kReplacement : std::string_view(character), out);
}

// A character that is not ASCII ends a sequence that it cannot belong to.
void TerminalFilter::show(std::string_view character, std::string& out) {
  if (state_ == State::text) {
    for (const char byte : character) keep(static_cast<unsigned char>(byte));
    return;
  }
  begin(State::ground);
  out += character;
}

void TerminalFilter::step(unsigned char byte, std::string& out) {
  constexpr unsigned char kCancel = 0x18;
  constexpr unsigned char kSubstitute = 0x1a;
  if (byte == kCancel || byte == kSubstitute) return begin(State::ground);
  if (byte == kEscape)
    return state_ == State::text ? void(state_ = State::text_escape) : begin(State::escape);
  switch (state_) {
    case State::ground:
      if (byte < 0x20) execute(byte, out);
      else if (byte != 0x7f) out += static_cast<char>(byte);
      return;
    case State::escape: return step_escape(byte, out);
    case State::control:
    case State::ignored: return step_control(byte, out);
    case State::text: return step_text(byte, out);
    case State::text_escape:
      if (byte == '\\') return finish_text("\x1b\\", out);
      begin(State::escape);
      return step(byte, out);
  }
}

void TerminalFilter::step_escape(unsigned char byte, std::string& out) {
  if (byte < 0x20) return execute(byte, out);  // as terminals do, without leaving the sequence
  if (byte == 0x7f) return;
  if (sequence_.empty() && byte == '[') return begin(State::control);
  if (sequence_.empty() &&
      std::string_view("]PX^_k").find(static_cast<char>(byte)) != std::string_view::npos)
    return begin_text(byte);
  if (byte < 0x30) {
    if (sequence_.size() < kMostControl) sequence_ += static_cast<char>(byte);
    return;
  }
  const std::string intermediates = std::exchange(sequence_, {});
  state_ = State::ground;
  if (byte == '\\' || intermediates.size() == kMostControl) return;  // the end of nothing
  if (!passes(judge_escape(intermediates, static_cast<char>(byte)))) return;
  left_on_.note_escape(intermediates, static_cast<char>(byte));
  out += '\x1b' + intermediates + static_cast<char>(byte);
}

void TerminalFilter::step_control(unsigned char byte, std::string& out) {
  if (byte < 0x20) return execute(byte, out);
  if (byte == 0x7f) return;
  if (byte >= 0x40) {
    const bool ignored = state_ == State::ignored;
    state_ = State::ground;
    if (!ignored) finish_control(static_cast<char>(byte), out);
    return;
  }
  // "<=>?" only first, and no parameter after an intermediate.
  const bool late =
      !sequence_.empty() && (byte >= 0x3c || (byte >= 0x30 && sequence_.back() < 0x30));
  if (late || sequence_.size() == kMostControl) state_ = State::ignored;
  else sequence_ += static_cast<char>(byte);
}

void TerminalFilter::step_text(unsigned char byte, std::string& out) {
  if (byte == kBell && kind_ == ']') return finish_text("\a", out);
  keep(byte);
}

void TerminalFilter::execute(unsigned char control, std::string& out) {
  if (!may_pass(control)) return;
  constexpr unsigned char kShiftOut = 0x0e;
  if (control == kShiftOut) left_on_.note_shift();
  out += static_cast<char>(control);
}

void TerminalFilter::begin(State state) {
  state_ = state;
  sequence_.clear();
}

void TerminalFilter::begin_text(unsigned char kind) {
  begin(State::text);
  kind_ = kind;
  broken_ = false;
}

void TerminalFilter::keep(unsigned char byte) {
  if (byte < 0x20 || byte == 0x7f || sequence_.size() == kMostText) broken_ = true;
  if (!broken_) sequence_ += static_cast<char>(byte);
}

bool TerminalFilter::passes(SequenceVerdict verdict) {
  if (verdict == SequenceVerdict::asks) asked_at_ = std::chrono::steady_clock::now();
  return verdict != SequenceVerdict::refused;
}

void TerminalFilter::finish_control(char final, std::string& out) {
  const std::string text = std::exchange(sequence_, {});
  std::string_view rest = text;
  ControlSequence sequence{.final = final};
  if (!rest.empty() && rest[0] >= 0x3c) {
    sequence.prefix = rest[0];
    rest.remove_prefix(1);
  }
  const std::size_t end = std::min(rest.find_first_of(" !\"#$%&'()*+,-./"), rest.size());
  sequence.parameters = rest.substr(0, end);
  sequence.intermediates = rest.substr(end);
  if (!passes(judge_control(sequence)) || !left_on_.note(sequence)) return;
  out += "\x1b[" + text + final;
}

void TerminalFilter::finish_text(std::string_view end, std::string& out) {
  const std::string text = std::exchange(sequence_, {});
  state_ = State::ground;
  if (broken_) return;
  SequenceVerdict verdict = SequenceVerdict::refused;  // APC makes kitty read and delete files
  if (kind_ == ']') verdict = judge_operating_system_command(text);
  if (kind_ == 'P') verdict = judge_device_control(text);
  if (!passes(verdict)) return;
  if (kind_ == ']') left_on_.note_command(text);
  out += '\x1b';
  out += static_cast<char>(kind_);
  out += text;
  out += end;
}

}  // namespace coop::run
