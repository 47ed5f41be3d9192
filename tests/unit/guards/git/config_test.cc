#include "guards/git/config.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "guards/git/settings.h"

namespace coop::guards {
namespace {

using Lines = std::vector<std::string>;

// Each setting as "section|subsection|key=value"; "!" in the end when the text is malformed.
Lines settings(std::string_view text) {
  Lines lines;
  const Syntax syntax = for_each_setting(text, [&](const GitSetting& setting) {
    std::string line = setting.section;
    if (setting.subsection) line += "|" + *setting.subsection;
    line += "|" + setting.key;
    if (setting.value) line += "=" + *setting.value;
    lines.push_back(line);
  });
  if (syntax == Syntax::malformed) lines.emplace_back("!");
  return lines;
}

TEST(GitConfigFormatTest, SectionsAndKeysAreInLowerCaseAndSubsectionsAreNot) {
  EXPECT_EQ(settings("[CORE]\n\tHooksPath = Githooks\n[includeIf \"gitdir:~/A\\\"b\\\\\"]PATH=x\n"),
            (Lines{"core|hookspath=Githooks", "includeif|gitdir:~/A\"b\\|path=x"}));
  EXPECT_EQ(settings("[branch.Main]\nx=1"), Lines{"branch.main|x=1"});
  EXPECT_EQ(settings("\xef\xbb\xbf[a]b=c"), Lines{"a|b=c"});
}

TEST(GitConfigFormatTest, ValuesAreReadAsGitReadsThem) {
  const auto value = [](std::string_view text) { return settings("[a]\nb =" + std::string(text)); };
  EXPECT_EQ(value("  x y \t\n"), Lines{"a|b=x y"});
  EXPECT_EQ(value(" x ; note \\\nc = d"), (Lines{"a|b=x", "a|c=d"}));
  EXPECT_EQ(value(" \"x ; y\" # z"), Lines{"a|b=x ; y"});
  EXPECT_EQ(value(" \"\"  x"), Lines{"a|b=x"});
  EXPECT_EQ(value(" x \"\""), Lines{"a|b=x "});
  EXPECT_EQ(value(" a\\\n  b\r\n"), Lines{"a|b=a  b"});
  EXPECT_EQ(value(" a\\\r\nb\r\n"), Lines{"a|b=ab"});
  EXPECT_EQ(value(" \\t\\n\\b\\\"\\\\"), Lines{"a|b=\t\n\b\"\\"});
  EXPECT_EQ(value(" x\\"), Lines{"a|b=x"});
  EXPECT_EQ(value(""), Lines{"a|b="});
  EXPECT_EQ(settings("[a]\nb\nc # note\nd=1"), (Lines{"a|b", "a|c", "a|d=1"}));
}

TEST(GitConfigFormatTest, WhatStandsBeforeAMistakeIsTold) {
  for (const char* const mistake : {"[b", "[b \"c\n\"]", "[b \"c", "1 = 2", "x = \"y", "x = \\q",
                                    "x y", "=", "\x01", "[b \"c\" d]"})
    EXPECT_EQ(settings("[a]\nb=c\n" + std::string(mistake) + "\ne=f\n"), (Lines{"a|b=c", "!"}))
        << mistake;
  EXPECT_EQ(settings(std::string_view("[a]\nb=c\0d\ne=f", 13)), (Lines{"a|b=c", "a|e=f", "!"}));
  EXPECT_EQ(settings(""), Lines{});
}

TEST(GitConfigFormatTest, LengthAndDepthCostNothingElse) {
  EXPECT_EQ(settings("[" + std::string(1 << 20, '[')), Lines{"!"});
  EXPECT_EQ(settings("[a]b=" + std::string(1 << 20, '\\')).size(), 1u);
  EXPECT_EQ(settings("[a]b=" + std::string(1 << 20, '"')), Lines{"a|b="});
}

TEST(GitSettingsTest, PathsAreExpandedAsGitDoes) {
  EXPECT_EQ(expand_setting("x/../y", "/w", "/home/ann"), "/w/x/../y");
  EXPECT_EQ(expand_setting("/x", "/w", "/home/ann"), "/x");
  EXPECT_EQ(expand_setting("~/x", "/w", "/home/ann"), "/home/ann/x");
  EXPECT_EQ(expand_setting("~", "/w", "/home/ann"), "/home/ann");
  EXPECT_EQ(expand_setting(":(optional)x", "/w", "/home/ann"), "/w/x");
  EXPECT_EQ(expand_setting("~root/x", "/w", "/home/ann"), "/root/x");
  EXPECT_EQ(expand_setting("~root", "/w", "/home/ann"), "/root");
  EXPECT_FALSE(is_home_not_known("~root/x", "/home/ann"));
  EXPECT_TRUE(is_home_not_known("~no-such-account/x", "/home/ann"));
  EXPECT_FALSE(is_home_not_known("x~", ""));
  for (const char* const value : {"", "~no-such-account/x", "%(prefix)/x"})
    EXPECT_EQ(expand_setting(value, "/w", "/home/ann"), "") << value;
  EXPECT_EQ(expand_setting("~/x", "/w", ""), "");
  EXPECT_EQ(expand_setting(std::string(5000, 'x'), "/w", ""), "");
}

}  // namespace
}  // namespace coop::guards
