#include "run/terminal/sequences.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace coop::run {

namespace {

using enum SequenceVerdict;

constexpr std::string_view kAny = "any";

// 0 stands for any prefix or final.
struct Row {
  char prefix;
  std::string_view intermediates;
  char final;
  SequenceVerdict verdict;
  std::string_view reason;
};

// The first match decides. Most sequences only draw; those that make the terminal answer, or do more than draw, have a row.
constexpr std::array kControls{
    Row{0, "", 'c', asks, "device attributes: numbers that depend on the terminal alone"},
    Row{0, "", 'n', asks, "status and cursor position: numbers"},
    Row{0, "$", 'p', asks, "whether a mode is set: numbers"},
    Row{0, "", 'x', asks, "terminal parameters: numbers"},
    Row{'>', "", 'q', asks, "name and version of the terminal, which no program can set"},
    Row{'?', "", 'u', asks, "keyboard mode: a number"},
    Row{'?', "", 'S', asks, "sizes of graphics: numbers"},
    Row{'?', "", 'm', asks, "how keys are reported: numbers"},
    Row{'?', "", 's', refused, "saves modes, to switch them on again later"},
    Row{'?', "", 'r', refused, "switches saved modes on"},
    Row{'>', "", 'm', passed, "how keys are reported"},
    Row{'>', "", 'u', passed, "adds a keyboard mode"},
    Row{'<', "", 'u', passed, "takes one away"},
    Row{'=', "", 'u', passed, "sets the keyboard mode"},
    Row{'>', kAny, 0, refused, "settings of single terminals"},
    Row{'<', kAny, 0, refused, "settings of single terminals"},
    Row{'=', kAny, 0, refused, "settings of single terminals"},
    Row{0, "", 'i', refused, "prints: a terminal may pipe it to a program"},
    Row{0, kAny, 'y', refused, "self tests, and checksums that tell what is on the screen"},
    Row{'>', "", 't', refused, "how titles are reported"},
    Row{0, "\"", 'p', refused, "switches to 8-bit controls"},
    Row{0, "*", 'z', refused, "runs a macro"},
    Row{0, "'", 0, refused, "reports of the mouse's position"},
    Row{0, "$", 'w', refused, "reports of tabs and the cursor"},
    Row{0, "$", 'u', refused, "report of the whole state"},
    Row{0, "&", 'u', refused, "report of a character set"},
    Row{0, "#", 'S', refused, "report of title modes"},
    Row{0, "#", 'R', refused, "report of colours"},
    Row{0, "#", '|', refused, "report of attributes"},
    Row{0, "#", 'P', refused, "saves colours, to set them again later"},
    Row{0, "#", 'Q', refused, "sets saved colours"},
    Row{0, "$", '}', refused, "writes to the status line"},
    Row{0, "$", '~', refused, "the kind of status line"},
    Row{0, "$", '|', refused, "width of the screen"},
    Row{0, "*", '|', refused, "height of the screen"},
    Row{0, "*", 'x', refused, "how rectangles are counted"},
};

bool matches(const Row& row, const ControlSequence& sequence) {
  return (row.prefix == 0 || row.prefix == sequence.prefix) &&
         (row.final == 0 || row.final == sequence.final) &&
         (row.intermediates == sequence.intermediates || row.intermediates == kAny);
}

struct ModeRow {
  char prefix;
  unsigned number;
  UsualMode usual;
  std::string_view reason;
};

// All that a command may switch. What else terminals have stays as it is: VT52 and Tektronix modes, in which the bytes mean something
// else, logging to a file, locking the keyboard, and whatever comes next. What is not as usual at the end is switched back.
constexpr std::array kModes{
    ModeRow{0, 4, UsualMode::off, "insert"},
    ModeRow{0, 20, UsualMode::off, "a line feed also returns"},
    ModeRow{0, 34, UsualMode::either, "shape of the cursor in screen and tmux"},
    ModeRow{'?', 1, UsualMode::off, "cursor keys of applications"},
    ModeRow{'?', 3, UsualMode::off, "132 columns"},
    ModeRow{'?', 4, UsualMode::off, "smooth scrolling"},
    ModeRow{'?', 5, UsualMode::off, "reverse video"},
    ModeRow{'?', 6, UsualMode::off, "positions count from the scroll region"},
    ModeRow{'?', 7, UsualMode::on, "lines wrap"},
    ModeRow{'?', 8, UsualMode::on, "keys repeat"},
    ModeRow{'?', 9, UsualMode::off, "reports of the mouse"},
    ModeRow{'?', 12, UsualMode::off, "the cursor blinks"},
    ModeRow{'?', 25, UsualMode::on, "the cursor is visible"},
    ModeRow{'?', 45, UsualMode::off, "backspace goes to the line before"},
    ModeRow{'?', 47, UsualMode::off, "the other screen"},
    ModeRow{'?', 66, UsualMode::off, "keypad of applications"},
    ModeRow{'?', 67, UsualMode::off, "what the backspace key sends"},
    ModeRow{'?', 69, UsualMode::off, "margins left and right"},
    ModeRow{'?', 1000, UsualMode::off, "reports of the mouse"},
    ModeRow{'?', 1001, UsualMode::off, "reports of the mouse"},
    ModeRow{'?', 1002, UsualMode::off, "reports of the mouse"},
    ModeRow{'?', 1003, UsualMode::off, "reports of the mouse"},
    ModeRow{'?', 1004, UsualMode::off, "reports of the focus"},
    ModeRow{'?', 1005, UsualMode::off, "form of reports"},
    ModeRow{'?', 1006, UsualMode::off, "form of reports"},
    ModeRow{'?', 1007, UsualMode::either, "the wheel moves the cursor on the other screen"},
    ModeRow{'?', 1015, UsualMode::off, "form of reports"},
    ModeRow{'?', 1016, UsualMode::off, "form of reports"},
    ModeRow{'?', 1034, UsualMode::either, "the meta key; shells switch it on and leave it"},
    ModeRow{'?', 1047, UsualMode::off, "the other screen"},
    ModeRow{'?', 1048, UsualMode::either, "saves the cursor"},
    ModeRow{'?', 1049, UsualMode::off, "the other screen"},
    ModeRow{'?', 2004, UsualMode::off, "marks around pasted text"},
    ModeRow{'?', 2026, UsualMode::off, "holds the screen until an update is complete"},
    ModeRow{'?', 2027, UsualMode::off, "width of characters"},
    ModeRow{'?', 2031, UsualMode::off, "reports of a change of colours"},
    ModeRow{'?', 2048, UsualMode::off, "reports of a change of size"},
    ModeRow{'?', 5522, UsualMode::off, "reports of a paste"},
};

// A terminal ignores parameters past some number, which for all of them is larger: we would take a mode for switched off that is on.
constexpr std::size_t kMostModes = 16;

bool may_switch(const ControlSequence& sequence) {
  std::size_t count = 0;
  bool known = sequence.intermediates.empty();
  for_each_parameter(sequence.parameters, [&](std::string_view text) {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    known = known && whole && ++count <= kMostModes && usual_of(sequence.prefix, number);
  });
  return known;
}

// Of window operations (CSI t) the reports of sizes, and saving the title. Reports of the title (20, 21) would type what
// the command wrote there into the next shell; moving and resizing windows is nothing a command needs.
constexpr std::array<std::string_view, 7> kReportedSizes{"11", "13", "14", "15", "16", "18", "19"};
constexpr std::array<std::string_view, 2> kSavedTitles{"22", "23"};

// Titles, and the shape of the pointer.
constexpr std::array<std::string_view, 4> kNames{"0", "1", "2", "22"};
// Colours: with "?" the terminal tells one, as numbers. 104 and up reset them.
constexpr std::array<std::string_view, 24> kColours{
    "4",   "5",   "10",  "11",  "12",  "13",  "14",  "15",  "16",  "17",  "18",  "19",
    "104", "105", "110", "111", "112", "113", "114", "115", "116", "117", "118", "119"};

constexpr std::array<std::string_view, 3> kLinks{"http://", "https://", "mailto:"};

std::string_view take_field(std::string_view& text) {
  const std::size_t end = text.find(';');
  const std::string_view field = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  return field;
}

bool all_of(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

}  // namespace

SequenceVerdict judge_control(const ControlSequence& sequence) {
  const auto row =
      std::ranges::find_if(kControls, [&](const Row& one) { return matches(one, sequence); });
  if (row != kControls.end()) return row->verdict;
  if (sequence.final == 'h' || sequence.final == 'l')
    return may_switch(sequence) ? passed : refused;
  if (sequence.final == 't' && sequence.intermediates.empty()) {
    std::string_view rest = sequence.parameters;
    const std::string_view operation = take_field(rest);
    if (std::ranges::find(kReportedSizes, operation) != kReportedSizes.end()) return asks;
    return std::ranges::find(kSavedTitles, operation) != kSavedTitles.end() ? passed : refused;
  }
  return passed;
}

SequenceVerdict judge_escape(std::string_view intermediates, char final) {
  // Character sets and line sizes. Not "ESC %", which leaves UTF-8, where our reading of the bytes would no longer be the
  // terminal's, nor "ESC SP", which makes answers 8-bit.
  if (!intermediates.empty())
    return std::string_view("()*+-./#").find(intermediates[0]) == std::string_view::npos ? refused
                                                                                         : passed;
  if (final == 'Z') return asks;  // device attributes
  // The cursor, tabs, keypad, character sets, reset.
  return std::string_view("6789=>DEHMNOcno|}~").find(final) == std::string_view::npos ? refused
                                                                                      : passed;
}

SequenceVerdict judge_operating_system_command(std::string_view text) {
  const std::string_view number = take_field(text);
  if (std::ranges::find(kNames, number) != kNames.end()) return passed;
  if (is_colour(number)) return text.find('?') != std::string_view::npos ? asks : passed;
  if (number == "8") {  // a link; other schemes start programs
    take_field(text);
    const bool harmless = std::ranges::any_of(
        kLinks, [&](std::string_view scheme) { return text.starts_with(scheme); });
    return text.empty() || harmless ? passed : refused;
  }
  if (number == "9") return text.starts_with("4;") ? passed : refused;  // progress
  // 52 and 5522 (clipboard), 50 (fonts), 51 (Emacs runs it), 7 (where a new window starts), 133 and 633 (forged prompts),
  // 777, 99 (notifications), 1337 (files, clipboard), and whatever a terminal will have next.
  return refused;
}

SequenceVerdict judge_device_control(std::string_view text) {
  if (text == "$q q" || text == "$qm") return asks;  // shape of the cursor, colours: numbers
  // Capabilities by name, in hexadecimal both ways.
  if (text.starts_with("+q") && all_of(text.substr(2), "0123456789abcdefABCDEF;")) return asks;
  // User-defined keys, fonts, macros, passing through tmux or screen; and images, whose decoders are large.
  return refused;
}

bool may_pass(unsigned char control) { return control >= 0x07 && control <= 0x0f; }

std::optional<UsualMode> usual_of(char prefix, unsigned number) {
  const auto row = std::ranges::find_if(
      kModes, [&](const ModeRow& one) { return one.prefix == prefix && one.number == number; });
  return row == kModes.end() ? std::nullopt : std::optional(row->usual);
}

bool is_colour(std::string_view number) {
  return std::ranges::find(kColours, number) != kColours.end();
}

}  // namespace coop::run
