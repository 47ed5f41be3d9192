#include "run/terminal/filter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace coop::run {
namespace {

std::string filtered(std::string_view bytes, TerminalEncoding encoding = TerminalEncoding::utf8) {
  TerminalFilter filter(encoding);
  std::string out;
  filter.feed(bytes, out);
  return out;
}

// The result must not depend on where the bytes were split.
void expect(std::string_view bytes, std::string_view result) {
  EXPECT_EQ(filtered(bytes), result);
  for (std::size_t at = 0; at <= bytes.size(); ++at) {
    TerminalFilter filter(TerminalEncoding::utf8);
    std::string out;
    filter.feed(bytes.substr(0, at), out);
    filter.feed(bytes.substr(at), out);
    EXPECT_EQ(out, result) << "split at " << at;
  }
  TerminalFilter filter(TerminalEncoding::utf8);
  std::string out;
  for (const char byte : bytes) filter.feed({&byte, 1}, out);
  EXPECT_EQ(out, result) << "byte by byte";
}

void expect_same(std::string_view bytes) { expect(bytes, bytes); }
// Nothing of it arrives, and what follows does.
void expect_nothing(const std::string& bytes) { expect("a" + bytes + "b", "ab"); }

// "ESC ]" and the like as one 8-bit control: as the byte itself, and as the UTF-8 of that character.
std::vector<std::string> all_forms(const std::string& sequence) {
  const char control = static_cast<char>(sequence[1] + 0x40);
  const std::string rest = sequence.substr(2);
  return {sequence, control + rest, std::string("\xc2") + control + rest};
}

TEST(TerminalFilterTest, TextAndDrawingPass) {
  expect_same("plain text\r\n\ttab\bback\a");
  expect_same("\x1b[1;31mred\x1b[0m\x1b[38;5;208m\x1b[48:2::1:2:3m\x1b[4:3m");
  expect_same("\x1b[2J\x1b[H\x1b[10;20H\x1b[K\x1b[3A\x1b[?25l\x1b[?25h\x1b[2 q\x1b[1;24r");
  expect_same("\x1b[?1049h\x1b[?2004h\x1b[?2026h\x1b[>4;2m\x1b[>1u\x1b[<u\x1b[!p");
  expect_same(
      "\x1b"
      "7\x1b"
      "8\x1b(0lqk\x1b(B\x1b=\x1b>\x1bM\x1b"
      "c\x1b#8\x1b[22;0t\x1b[23;0t");
}

TEST(TerminalFilterTest, CharactersAreNotMistakenForControls) {
  // Continuation bytes from 0x80 to 0x9f, among them those of CSI, OSC, DCS and ST.
  expect_same("\u251c\u2500 \u201b \u2750 \u00db \u5b9b \U0001f41b \U0001f600 \u00a0\u00ff");
  expect_same("\x1b]0;\u251c title \u201c\x07");
}

TEST(TerminalFilterTest, InvalidUtf8BecomesTheReplacementCharacter) {
  expect("\xff\xfe", "\uFFFD\uFFFD");
  expect("\xc3(", "\uFFFD(");
  expect("\xe2\x82", "");  // not complete yet
  // Overlong forms of ESC and of CSI, which a lenient terminal would decode.
  expect(
      "\xe0\x82\x9b"
      "21t",
      "\uFFFD");  // its bytes after the first are 8-bit controls: CSI 21 t
  expect(
      "\xc0\x9b"
      "21tx",
      "\uFFFDx");
  expect("\xed\xa0\x80z", "\uFFFD\uFFFDz");
  expect("\x80\x81\x99z", "z");  // 8-bit controls without a use
}

TEST(TerminalFilterTest, QuestionsWithAnswersOfAFixedFormPass) {
  for (const char* question : {"\x1b[c",
                               "\x1b[0c",
                               "\x1b[>c",
                               "\x1b[=c",
                               "\x1b[5n",
                               "\x1b[6n",
                               "\x1b[?6n",
                               "\x1b[?996n",
                               "\x1b[?2026$p",
                               "\x1b[4$p",
                               "\x1b[>q",
                               "\x1b[>0q",
                               "\x1b[?u",
                               "\x1b[14t",
                               "\x1b[16t",
                               "\x1b[18t",
                               "\x1bZ",
                               "\x1b]10;?\x07",
                               "\x1b]11;?\x1b\\",
                               "\x1b]4;1;?\x07",
                               "\x1bP$q q\x1b\\",
                               "\x1bP$qm\x1b\\",
                               "\x1bP+q544e;436f\x1b\\"}) {
    expect_same(question);
    TerminalFilter filter(TerminalEncoding::utf8);
    std::string out;
    EXPECT_FALSE(filter.asked());
    filter.feed(question, out);
    EXPECT_TRUE(filter.asked()) << question + 1;
    EXPECT_TRUE(filter.asked());  // a second answer may follow the first
    EXPECT_FALSE(filter.asked(std::chrono::steady_clock::now() + std::chrono::seconds(4)));
  }
  TerminalFilter filter(TerminalEncoding::utf8);
  std::string out;
  filter.feed("\x1b]0;Ready?\x07\x1b[1m", out);
  EXPECT_FALSE(filter.asked());
}

TEST(TerminalFilterTest, WhatWritesTheClipboardIsDropped) {
  for (const char* end : {"\x07", "\x1b\\"})
    for (const std::string& form : all_forms(std::string("\x1b]52;c;ZXZpbA==") + end))
      expect_nothing(form);
  expect_nothing("\x1b]52;c;?\x07");
  expect_nothing("\x1b]52;c;ZXZpbA==\x9c");      // ended by an 8-bit ST
  expect_nothing("\x1b]52;c;ZXZpbA==\xc2\x9c");  // and by its UTF-8 form
  expect_nothing("\x1b]5522;type=write\x1b\\");
  expect_nothing("\x1b]1337;Copy=:ZXZpbA==\x07");
  expect_nothing("\x1b]1337;CopyToClipboard=\x07");
}

TEST(TerminalFilterTest, ReportsThatACommandCanShapeAreDropped) {
  for (const char* sequence :
       {"\x1b[21t", "\x1b[20t", "\x1b[21;0t", "\x1b[>2t", "\x1b[1;1;1;1;9;9*y", "\x1b[5i",
        "\x1b[?5i", "\x1b[65;0\"p", "\x1b[1*z", "\x1b[1$w", "\x1b[1$u", "\x1b[2;1y", "\x1b[1'z",
        "\x1b[8;9;9t", "\x1b[2t", "\x1b[t"})
    for (const std::string& form : all_forms(sequence)) expect_nothing(form);
  expect_nothing("\x05");                          // ENQ: the answerback message
  expect_nothing("\x1bP$qevil\x1b\\");             // echoed by some terminals
  expect_nothing("\x1bP0;1|17/6576696c0a\x1b\\");  // user-defined keys
  expect_nothing("\x1b]50;?\x07");
  expect_nothing("\x1b]51;Eevil\x07");
  expect_nothing("\x1b]633;E;evil\x07");
  expect_nothing("\x1b]7;file:///tmp/evil\x07");
  expect_nothing("\x1b]777;notify;a;b\x07");
}

TEST(TerminalFilterTest, WhatLeavesTheEncodingIsDropped) {
  expect_nothing("\x1b%@");
  expect_nothing("\x1b%G");
  expect_nothing("\x1b G");
  expect_nothing("\x1b F");
}

TEST(TerminalFilterTest, WhatPassesThroughAMultiplexerIsDropped) {
  expect("\x1bPtmux;\x1b\x1b]52;c;ZXZpbA==\x07\x1b\\x", "x");
  expect("\x1bP\x1b]52;c;ZXZpbA==\x07\x1b\\x", "x");
  expect_nothing("\x1b_Gi=1,t=t,d=AAAA;L2V0Yy9wYXNzd2Q=\x1b\\");
  expect_nothing("\x1b^private\x1b\\");
  expect_nothing("\x1bXstring\x1b\\");
  expect_nothing("\x1bkwindow\x1b\\");
}

TEST(TerminalFilterTest, LinksLeadToTheWebOnly) {
  expect_same("\x1b]8;;https://example.com/\x1b\\text\x1b]8;;\x1b\\");
  expect_same("\x1b]8;id=1;mailto:a@example.com\x07text\x1b]8;;\x07");
  expect("\x1b]8;;file:///etc/passwd\x1b\\text\x1b]8;;\x1b\\", "text\x1b]8;;\x1b\\");
  expect_nothing("\x1b]8;;vscode://evil\x07");
}

TEST(TerminalFilterTest, ASequenceInsideAnotherIsJudgedByItself) {
  expect("\x1b[\x1b]52;c;QQ==\x07z", "z");
  expect("\x1b]0;title\x1b]52;c;QQ==\x07z", "z");
  expect("\x1b]0;title\x1b[21tz", "z");
  expect(
      "\x1b[3\x18"
      "1mz",
      "1mz");  // CAN ends it
  expect(
      "\x1b[2\x05"
      "1tz",
      "z");                              // ENQ in the middle is not executed
  expect("\x1b[3\r1mz", "\r\x1b[31mz");  // but a carriage return is, as terminals do
  expect(
      "\x1b[2\u00e9"
      "1t",
      "\u00e9"
      "1t");                        // a character ends it
  expect("\x1b]0;a\nb\x07z", "z");  // a title with a line feed is no title
}

TEST(TerminalFilterTest, MalformedSequencesAreDroppedAsAWhole) {
  expect("\x1b[1$1pz", "z");
  expect("\x1b[1?21tz", "z");
  expect("\x1b[" + std::string(300, '1') + "mz", "z");
  expect_nothing("\x1b]0;" + std::string(5000, 'x') + "\x07");
  expect_nothing("\x1b(" + std::string(600, '(') + "B");
}

// A terminal that was started without an encoding reads single bytes: 0x9b would begin a sequence.
TEST(TerminalFilterTest, WithoutAnEncodingNoByteOfACharacterIsAControl) {
  constexpr TerminalEncoding kUnknown = TerminalEncoding::unknown;
  EXPECT_EQ(filtered("\xe0\xa0\x9b"
                     "21t",
                     kUnknown),
            "\xef\xbf\xbd"
            "21t");
  EXPECT_EQ(filtered("\xe0\xa0\x9b"
                     "21t"),
            "\xe0\xa0\x9b"
            "21t");  // control
  EXPECT_EQ(filtered("\xc3\xa9", kUnknown), "\xc3\xa9");
}

TEST(TerminalFilterTest, InOtherEncodingsEveryEightBitControlCounts) {
  constexpr TerminalEncoding kLatin = TerminalEncoding::single_byte;
  EXPECT_EQ(filtered("\xe9t\xe9", kLatin), "\xe9t\xe9");
  // In UTF-8 these are two harmless characters.
  EXPECT_EQ(filtered("\xe2\x80\x9b"
                     "21tz",
                     kLatin),
            "\xe2"
            "z");
  EXPECT_EQ(filtered("\xe2\x94\x9d"
                     "52;c;QQ==\x9cz",
                     kLatin),
            "\xe2"
            "z");
}

TEST(TerminalFilterTest, WhatACommandLeftOnIsSwitchedOff) {
  TerminalFilter filter(TerminalEncoding::utf8);
  std::string out;
  filter.feed("\x1b[?1000;1006h\x1b[?1004h\x1b[?1049h\x1b[?1004l\x1b[?25l", out);
  EXPECT_EQ(filter.end(), "\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1006l");
  EXPECT_EQ(filter.end(), "");
  filter.feed(
      "\x1b[?1003h\x1b"
      "c",
      out);  // a reset
  EXPECT_EQ(filter.end(), "");
}

std::string undone(std::string_view bytes) {
  TerminalFilter filter(TerminalEncoding::utf8);
  std::string out;
  filter.feed(bytes, out);
  return filter.end();
}

TEST(TerminalFilterTest, EachThingLeftOnHasWhatUndoesIt) {
  struct Row {
    std::string left;
    std::string undo;
  };
  for (const Row& row : {
           Row{"\x1b[?2004h", "\x1b[?2004l"},
           Row{"\x1b[?5522h", "\x1b[?5522l"},
           Row{"\x1b[?25l\x1b[?7l", "\x1b[?7h\x1b[?25h"},
           Row{"\x1b[4h", "\x1b[4l"},
           Row{"\x1b[>1u\x1b[>3u\x1b[<u", "\x1b[<1u"},
           Row{"\x1b[=1;1u", "\x1b[=0u"},
           Row{"\x1b[?1049h\x1b[>1u", "\x1b[<1u\x1b[?1049l"},
           Row{"\x1b[?1049h\x1b[>1u\x1b[?1049l", "\x1b[?1049h\x1b[<1u\x1b[?1049l"},
           Row{"\x1b[>4;2m", "\x1b[>4m"},
           Row{"\x1b=", "\x1b>"},
           Row{"\x1b(0", "\x0f\x1b(B\x1b)B\x1b*B\x1b+B"},
           Row{"\x0e", "\x0f\x1b(B\x1b)B\x1b*B\x1b+B"},
           Row{"\x1b[5;10r",
               "\x1b"
               "7\x1b[r\x1b"
               "8"},
           Row{"\x1b[31m", "\x1b[0m"},
           Row{"\x1b[31m\x1b"
               "7\x1b[0m\x1b"
               "8",
               "\x1b[0m"},
           Row{"\x1b[?6h\x1b"
               "7\x1b[?6l\x1b"
               "8",
               "\x1b[?6l"},
           Row{"\x1b[3g", "\x1b[?5W"},
           Row{"\x1b[2 q", "\x1b[0 q"},
           Row{"\x1b]4;1;red\x07\x1b]11;#000000\x07", "\x1b]104\x1b\\\x1b]111\x1b\\"},
           Row{"\x1b]4;1;?;2;red\x07", "\x1b]104\x1b\\"},
           Row{"\x1b]8;;https://example.com/\x07", "\x1b]8;;\x1b\\"},
           Row{"\x1b]9;4;1;50\x07", "\x1b]9;4;0\x1b\\"},
           Row{"\x1b]22;wait\x07", "\x1b]22;\x1b\\"},
       }) {
    EXPECT_EQ(undone(row.left), row.undo) << row.left.substr(1);
    EXPECT_EQ(undone(row.left + undone(row.left)).find("[?1000"), std::string::npos);
    EXPECT_EQ(undone(row.left + "\x1b"
                                "c"),
              "")
        << row.left.substr(1);  // a reset
  }
}

TEST(TerminalFilterTest, NothingLeftOnNeedsNothing) {
  for (const char* text :
       {"text\r\n", "\x1b[?2004h\x1b[?2004l", "\x1b[?25l\x1b[?25h", "\x1b[>1u\x1b[<u", "\x1b=\x1b>",
        "\x1b]11;?\x07", "\x1b]4;1;?\x07", "\x1b]8;;https://a.example/\x07x\x1b]8;;\x07",
        "\x1b[0m\x1b[m", "\x1b[?1034h", "\x1b[6n"})
    EXPECT_EQ(undone(text), "") << text + 1;
}

TEST(TerminalFilterTest, ModesThatCannotBeUndoneOrChangeTheLanguageDoNotPass) {
  for (const char* sequence :
       {"\x1b[?2l", "\x1b[?38h", "\x1b[?46h", "\x1b[2h", "\x1b[12l", "\x1b[?99999h",
        "\x1b[?1000;2l", "\x1b[?1000:1h", "\x1b[?;1000h", "\x1b[?1000s", "\x1b[?1000r", "\x1b[<u",
        "\x1b[>2f", "\x1b[1$}", "\x1bl"})
    expect_nothing(sequence);
  // A terminal would ignore the last of these.
  std::string many = "\x1b[?1000h\x1b[?";
  for (int index = 0; index < 16; ++index) many += "12;";
  EXPECT_EQ(filtered(many + "1000l"), "\x1b[?1000h");
}

TEST(TerminalFilterTest, EndingDropsWhatIsIncomplete) {
  TerminalFilter filter(TerminalEncoding::utf8);
  std::string out;
  filter.feed("a\x1b]52;c;QQ", out);
  EXPECT_EQ(filter.end(), "");
  EXPECT_EQ(out, "a");
}

}  // namespace
}  // namespace coop::run
