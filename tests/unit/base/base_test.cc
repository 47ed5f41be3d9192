// Paths as text, names that are safe to print, and quantities as people write them.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>

#include "base/path.h"
#include "base/quantity.h"
#include "base/result.h"

namespace coop {
namespace {

using std::chrono::milliseconds;

TEST(PathTest, NormalizeRemovesWhatIsOnlySpelling) {
  EXPECT_EQ(normalize("/a//b/./c/"), "/a/b/c");
  EXPECT_EQ(normalize("/a/../b"), "/b");
  EXPECT_EQ(normalize("/../../x"), "/x");
  EXPECT_EQ(normalize("/"), "/");
  EXPECT_EQ(normalize(""), "/");
  EXPECT_EQ(normalize("b/c", "/a"), "/a/b/c");
  EXPECT_EQ(normalize("../c", "/a/b"), "/a/c");
  EXPECT_EQ(normalize(".", "/a/b"), "/a/b");
  EXPECT_EQ(normalize("/x", "/a"), "/x");
  EXPECT_EQ(normalize("...", "/a"), "/a/...");
}

TEST(PathTest, PartsOfAPath) {
  EXPECT_EQ(join("/a", "b/c"), "/a/b/c");
  EXPECT_EQ(join("/", "b"), "/b");
  EXPECT_EQ(join("/a", ""), "/a");
  EXPECT_EQ(parent_of("/a/b"), "/a");
  EXPECT_EQ(parent_of("/a"), "/");
  EXPECT_EQ(parent_of("/"), "/");
  EXPECT_EQ(name_of("/a/b"), "b");
  EXPECT_EQ(name_of("b"), "b");
  EXPECT_EQ(depth_of("/"), 0u);
  EXPECT_EQ(depth_of("/a/b"), 2u);
  EXPECT_EQ(relative_to("/a/b/c", "/a"), "b/c");
  EXPECT_EQ(relative_to("/a", "/a"), "");
  EXPECT_EQ(relative_to("/a/b", "/"), "a/b");
  EXPECT_EQ(ancestors_below("/a/b/c/d", "/a"), (std::vector<Path>{"/a/b", "/a/b/c"}));
  EXPECT_EQ(ancestors_below("/a/b", "/"), std::vector<Path>{"/a"});
  EXPECT_EQ(ancestors_below("/a", "/a"), std::vector<Path>{});
  EXPECT_EQ(ancestors_below("/a/b", "/x"), std::vector<Path>{});
}

TEST(PathTest, WithinGoesByComponentsNotByLetters) {
  EXPECT_TRUE(is_within("/a/b", "/a"));
  EXPECT_TRUE(is_within("/a", "/a"));
  EXPECT_TRUE(is_within("/a", "/"));
  EXPECT_FALSE(is_within("/ab", "/a"));
  EXPECT_FALSE(is_within("/a", "/a/b"));
  EXPECT_FALSE(is_within("a", "/"));
}

TEST(PrintableTest, ReadableTextStays) {
  EXPECT_EQ(printable("plain text 1!"), "plain text 1!");
  EXPECT_EQ(printable("häuser/日本/🐔"), "häuser/日本/🐔");
}

TEST(PrintableTest, WhatATerminalWouldObeyIsEscaped) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(printable("line\nbreak\ttab\rback\x7f"), "line\\x0abreak\\x09tab\\x0dback\\x7f");
  EXPECT_EQ(printable(std::string_view("nul\0!", 5)), "nul\\x00!");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");                             // CSI as one C1 character
  EXPECT_EQ(printable("back\\slash"), "back\\x5cslash");  // an escape cannot be forged
}

TEST(PrintableTest, InvalidUtf8IsEscaped) {
  for (const char* bad :
       {"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe0\x80\x80", "\xc3", "\x80"}) {
    for (const char c : printable(bad)) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << printable(bad);
  }
  EXPECT_EQ(printable("\xc3"), "\\xc3");
}

TEST(QuantityTest, Sizes) {
  const std::pair<const char*, std::uint64_t> good[] = {{"0", 0},
                                                        {"512", 512},
                                                        {"1b", 1},
                                                        {"64k", 65536},
                                                        {"64K", 65536},
                                                        {"100m", 100 << 20},
                                                        {"2g", 2ULL << 30},
                                                        {"2GiB", 2ULL << 30},
                                                        {"2gb", 2ULL << 30},
                                                        {"1t", 1ULL << 40},
                                                        {"1.5g", 3ULL << 29},
                                                        {"0.001k", 1},
                                                        {"9223372036854775", 9223372036854775}};
  for (const auto& [text, bytes] : good) EXPECT_EQ(parse_size(text).value_or(~0ULL), bytes) << text;
  for (const char* bad : {"",         " ",
                          "k",        "-1",
                          "+1",       "1 g",
                          "g1",       "1x",
                          "1kk",      "1..5",
                          "1.",       ".5g",
                          "1.2345",   "0x10",
                          "1e3",      "18446744073709551616",
                          "9000000t", "99999999999999999999999",
                          "1ki b",    "1ibb",
                          "nan"})
    EXPECT_FALSE(parse_size(bad).has_value()) << bad;
}

TEST(QuantityTest, Counts) {
  EXPECT_EQ(parse_count("0"), 0u);
  EXPECT_EQ(parse_count("18446744073709551615"), UINT64_MAX);
  for (const char* bad : {"", "-1", "+1", "1 ", " 1", "1.0", "0x1", "18446744073709551616", "one"})
    EXPECT_FALSE(parse_count(bad).has_value()) << bad;
  EXPECT_EQ(parse_signed("-5"), -5);
  EXPECT_EQ(parse_signed("+5"), 5);
  EXPECT_EQ(parse_signed("-9223372036854775808"), INT64_MIN);
  for (const char* bad : {"", "-", "+", "+-5", "--5", "5s", "9223372036854775808"})
    EXPECT_FALSE(parse_signed(bad).has_value()) << bad;
}

TEST(QuantityTest, Durations) {
  const std::pair<const char*, milliseconds> good[] = {
      {"30", milliseconds(30000)},      {"250ms", milliseconds(250)},
      {"30s", milliseconds(30000)},     {"2m", milliseconds(120000)},
      {"1h30m", milliseconds(5400000)}, {"1m30s", milliseconds(90000)},
      {"0.5s", milliseconds(500)},      {"1s5ms", milliseconds(1005)}};
  for (const auto& [text, length] : good)
    EXPECT_EQ(parse_duration(text).value_or(milliseconds(-1)), length) << text;
  for (const char* bad :
       {"", "-1s", "s", "1x", "1m30", "30 s", "1d", "100000h", "99999999999999999999s", "1sm"})
    EXPECT_FALSE(parse_duration(bad).has_value()) << bad;
}

TEST(QuantityTest, Processors) {
  EXPECT_EQ(parse_milli("2"), 2000u);
  EXPECT_EQ(parse_milli("0.5"), 500u);
  EXPECT_EQ(parse_milli("1.25"), 1250u);
  for (const char* bad : {"", "-1", "1x", "1.2345", "half"})
    EXPECT_FALSE(parse_milli(bad).has_value()) << bad;
}

TEST(QuantityTest, FormattingIsReadable) {
  EXPECT_EQ(format_size(0), "0 B");
  EXPECT_EQ(format_size(1023), "1023 B");
  EXPECT_EQ(format_size(1024), "1 KiB");
  EXPECT_EQ(format_size(1536), "1.5 KiB");
  EXPECT_EQ(format_size(512ULL << 20), "512 MiB");
  EXPECT_EQ(format_size(3ULL << 40), "3 TiB");
  EXPECT_EQ(format_size(UINT64_MAX), "16777215.9 TiB");
  EXPECT_EQ(format_duration(milliseconds(250)), "250ms");
  EXPECT_EQ(format_duration(milliseconds(90000)), "90s");
  EXPECT_EQ(format_duration(milliseconds(120000)), "2m");
}

TEST(ErrorTest, TheSentenceGoesFromTheOutsideIn) {
  Result<int> inner = system_error_of(EACCES, "open", "/srv/x");
  const Result<int> outer =
      with_context("starting", with_context("opening the workspace", std::move(inner)));
  ASSERT_FALSE(outer.has_value());
  EXPECT_EQ(to_text(outer.error()),
            "starting: opening the workspace: open \"/srv/x\": EACCES (Permission denied)");
}

TEST(ErrorTest, AHintIsGivenOnce) {
  const Result<int> first = with_hint("second", Result<int>(invalid("x", "y", "first")));
  EXPECT_EQ(first.error().hint, "first");
  const Result<int> none = with_hint("only", Result<int>(invalid("x", "y")));
  EXPECT_EQ(none.error().hint, "only");
}

TEST(ErrorTest, NumbersHaveNames) {
  EXPECT_EQ(errno_text(ENOENT), "ENOENT (No such file or directory)");
  EXPECT_EQ(errno_text(99999), "errno 99999");
  EXPECT_EQ(signal_text(15), "SIGTERM");
}

}  // namespace
}  // namespace coop
