#include "guards/git/harmless.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "guards/git/config.h"
#include "temp_tree.h"

namespace coop::guards {
namespace {

using Lines = std::vector<std::string>;

bool is_harmless(const std::string& text, ConfigFile file = ConfigFile::repository) {
  const ConfigVerdict verdict = judge_config(text, file);
  return !verdict.danger && verdict.worktrees.empty();
}

TEST(HarmlessTest, WhatGitItselfWritesIsHarmless) {
  EXPECT_TRUE(is_harmless(
      "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
      "\tlogallrefupdates = true\n[remote \"origin\"]\n\turl = https://example.com/x.git\n"
      "\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n"
      "\tmerge = refs/heads/main\n[submodule]\n\tactive = .\n[submodule \"a/b\"]\n"
      "\turl = ../b\n\tupdate = merge\n[user]\n\tname = Ann\n\temail = a@b\n"));
  EXPECT_TRUE(is_harmless("[core]\nsharedRepository = 1\n[receive]\ndenyNonFastForwards = true"));
  for (const char* const value : {"--no-tags", "--tags"})
    EXPECT_TRUE(is_harmless("[remote \"origin\"]\ntagOpt = " + std::string(value))) << value;
  EXPECT_FALSE(is_harmless("[remote \"origin\"]\ntagOpt = --upload-pack=x"));
  EXPECT_TRUE(is_harmless(""));
  EXPECT_TRUE(is_harmless("[core]\nsparseCheckout\n", ConfigFile::worktree));
}

TEST(HarmlessTest, WhatRunsOrRedirectsIsNot) {
  for (const char* const text : {"[core]\nfsmonitor = x",
                                 "[core]\nfsmonitor",
                                 "[CORE]\nFSMonitor = x",
                                 "[core]\npager = x",
                                 "[core]\neditor = x",
                                 "[core]\nsshCommand = x",
                                 "[core]\nhooksPath = x",
                                 "[core]\naskPass = x",
                                 "[core]\ngitProxy = x",
                                 "[core]\nattributesFile = x",
                                 "[core]\nexcludesFile = x",
                                 "[core]\nalternateRefsCommand = x",
                                 "[core]\nworktree = ..",
                                 "[extensions]\nrefStorage = files://../../x",
                                 "[extensions]\nobjectFormat = ../x",
                                 "[core]\nsharedRepository = 0666",
                                 "[core]\nsharedRepository = all",
                                 "[include]\npath = x",
                                 "[includeIf \"gitdir:/\"]\npath = x",
                                 "[alias]\nst = !x",
                                 "[filter \"x\"]\nsmudge = x",
                                 "[diff \"x\"]\ncommand = x",
                                 "[diff]\nexternal = x",
                                 "[merge \"x\"]\ndriver = x",
                                 "[gpg]\nprogram = x",
                                 "[credential]\nhelper = x",
                                 "[url \"x\"]\ninsteadOf = y",
                                 "[http]\nproxy = x",
                                 "[init]\ntemplateDir = x",
                                 "[sequence]\neditor = x",
                                 "[pager]\nlog = x",
                                 "[browser \"x\"]\ncmd = y",
                                 "[remote \"o\"]\nuploadpack = x",
                                 "[remote \"o\"]\nreceivepack = x",
                                 "[remote \"o\"]\nvcs = x",
                                 "[remote \"o\"]\nproxy = x",
                                 "[remote \"o\"]\npromisor = true",
                                 "[remote \"--upload-pack=x\"]\nurl = y",
                                 "[branch \"m\"]\nmergeOptions = -s x",
                                 "[branch \"m\"]\nremote = ext::x",
                                 "[branch \"m\"]\nremote = --upload-pack=x",
                                 "[submodule \"s\"]\nupdate = !x",
                                 "[submodule \"../s\"]\nurl = x",
                                 "[submodule \"s\"]\nurl = ext::x",
                                 "[uploadpack]\npackObjectsHook = x",
                                 "[unknown]\nx = y",
                                 "[core]\nx",
                                 "x = y",
                                 "[core.x]\nbare = true",
                                 "[remote.origin]\nurl = https://x",
                                 "[core]\nbare = true\n[",
                                 "[core]\nbare = \"x"})
    EXPECT_FALSE(is_harmless(text)) << text;
  EXPECT_FALSE(is_harmless("[core]\nbare = false", ConfigFile::worktree));
  EXPECT_FALSE(is_harmless("[remote \"o\"]\nurl = https://x", ConfigFile::worktree));
  EXPECT_EQ(judge_config("[core]\nworktree = a\nworktree = b", ConfigFile::repository).worktrees,
            (Lines{"a", "b"}));
}

TEST(HarmlessTest, ARemoteNamesNoProgram) {
  for (const char* const url :
       {"https://example.com/x.git", "http://[::1]:80/x", "ssh://git@example.com:22/x",
        "git@example.com:x/y.git", "git://example.com/x", "file:///srv/x", "/srv/x", "../x", "./x",
        "x", ".", "origin", "C:/x", "https://example.com/a%20b", "host:path with blanks"})
    EXPECT_TRUE(is_plain_remote(url)) << url;
  for (const char* const url : {"",
                                "ext::sh -c x",
                                "fd::17",
                                "x::y",
                                "foo://x",
                                "-x",
                                "--upload-pack=x",
                                "ssh://-x/y",
                                "ssh://a@-x/y",
                                "-oProxyCommand=x:y",
                                "host:-x",
                                "[-x]:y",
                                "a@-x:y",
                                "ssh://%2dx/y",
                                "https://x/%0ahost=y",
                                "https://x/\n",
                                "http::https://x",
                                "persistent-https://x",
                                "ftp://x",
                                "SSH://x"})
    EXPECT_FALSE(is_plain_remote(url)) << url;
}

TEST(HarmlessTest, LinesOfARebaseThatRunProgramsAreFound) {
  EXPECT_EQ(programs_in_todo("pick 1 x\n# exec\n\n  s 2 y\nfixup -C 3\nmerge -C 4 l # m\nlabel "
                             "onto\nreset onto\nupdate-ref refs/heads/x\nnoop\nbreak\nd 5\n\r\n"),
            Lines{});
  EXPECT_EQ(programs_in_todo("pick 1\nexec a\n\tx b\nexec\tc\nx\nunknown\nX d\nexec"),
            (Lines{"exec a", "\tx b", "exec\tc", "x", "unknown", "X d", "exec"}));
  EXPECT_EQ(programs_in_todo(std::string("pick 1\0exec a", 13)).size(), 1u);
  EXPECT_EQ(programs_in_strategy("ort\n"), Lines{});
  EXPECT_EQ(programs_in_strategy(""), Lines{});
  EXPECT_EQ(programs_in_strategy("x/evil"), Lines{"x/evil"});
  EXPECT_EQ(programs_in_strategy("ort\nx"), Lines{"ort\nx"});
  EXPECT_EQ(programs_in_options("[options]\nsignoff = true\nstrategy = ort\n"), Lines{});
  EXPECT_EQ(programs_in_options("[options]\nstrategy = x\n"), Lines{"options.strategy = x"});
  EXPECT_EQ(programs_in_options("[other]\nsignoff = true\n["),
            (Lines{"other.signoff = true", "malformed options"}));
}

// --- Against git itself ----------------------------------------------------------------------

// What git reads from a file, as "name" or "name\nvalue"; nothing when it refuses the file.
std::optional<Lines> read_by_git(const Path& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(
      ::popen(("git config --file '" + path +
               "' --no-includes --list -z 2>/dev/null; "
               "printf %s $?")
                  .c_str(),
              "r"),
      &::pclose);
  std::string text;
  std::array<char, 4096> buffer;
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe.get()))
    text.append(buffer.data(), count);
  Lines lines;
  for (std::size_t end = text.find('\0'); end != std::string::npos; end = text.find('\0')) {
    lines.push_back(text.substr(0, end));
    text.erase(0, end + 1);
  }
  return text == "0" ? std::optional(lines) : std::nullopt;
}

std::string with_blanks(std::string text) {
  // Older versions of git do so in values.
  std::ranges::replace_if(text, [](char letter) { return letter == '\t' || letter == '\r'; }, ' ');
  return text;
}

// Lines as people write them, with something strange in every second text.
std::string generated(std::mt19937& random) {
  static const Lines kLines{"[core]\n",
                            "[remote \"o\"]\n",
                            "[a.B \"c\\\"d\"]\n",
                            "[Core] fsmonitor = x\n",
                            "\tbare\n",
                            "fsmonitor = x y  z\n",
                            "\turl = \"a b\" c # note\n",
                            "url=\"x;y\" ; z\r\n",
                            "x = a\\\n  b\n",
                            "# [core]\n",
                            "  ; x = y\n",
                            "\n",
                            "name = \\\"x\\\\\\n\\t\n",
                            "empty =\n",
                            "X-1 = 2 \t \n"};
  static const Lines kTokens{"[",  "]",      "\n",  "\r\n", "\r",          " ",
                             "\t", "=",      "\"",  "\\",   "\\\n",        "#",
                             ";",  "-",      ".",   "1",    "\v",          "\f",
                             "'",  "\\\r\n", "\\q", "[x",   "[core]y = z", "\xef\xbb\xbf"};
  std::string text = "[core]\n";
  for (auto left = random() % 6; left > 0; --left) text += kLines[random() % kLines.size()];
  if (random() % 2 == 0)
    text.insert(random() % (text.size() + 1), kTokens[random() % kTokens.size()]);
  return text;
}

// A setting that git obeys and our parser does not see would pass every list.
TEST(HarmlessTest, EverySettingThatGitReadsIsSeen) {
  const test::TempTree tree(test::fast_parent());
  std::mt19937 random(1);
  int compared = 0;
  for (int round = 0; round < 600; ++round) {
    const std::string text = generated(random);
    Lines ours;
    const Syntax syntax = for_each_setting(text, [&](const GitSetting& setting) {
      std::string name = setting.section;
      if (setting.subsection) name += "." + *setting.subsection;
      if (!name.empty()) name += ".";
      ours.push_back(
          with_blanks(name + setting.key + (setting.value ? "\n" + *setting.value : "")));
    });
    if (syntax == Syntax::malformed) continue;  // judged dangerous
    tree.write("config", text);
    const std::optional<Lines> theirs = read_by_git(tree / "config");
    if (!theirs) continue;
    Lines expected;
    for (const std::string& line : *theirs) expected.push_back(with_blanks(line));
    ASSERT_EQ(ours, expected) << testing::PrintToString(text);
    compared += expected.empty() ? 0 : 1;
  }
  EXPECT_GT(compared, 200);  // control: files with settings were compared
}

TEST(HarmlessTest, StepsOfARebaseAreNumbers) {
  for (const char* const text : {"", "1", "12\n", "3\r\n"})
    EXPECT_TRUE(programs_in_number(text).empty()) << text;
  for (const char* const text : {"$(evil)", "1\n$(evil)\n", "`evil`", "1 2", "-1"})
    EXPECT_FALSE(programs_in_number(text).empty()) << text;
}

TEST(HarmlessTest, OptionsOfApplyAreOnesThatWriteNothingElse) {
  for (const char* const text :
       {"", "\n", " '--whitespace=fix' '-p1'\n", " '-C3' '--exclude=a b'", "'--ignore-whitespace'"})
    EXPECT_TRUE(programs_in_apply_options(text).empty()) << text;
  using Words = std::vector<std::string>;
  EXPECT_EQ(programs_in_apply_options(" '-p1' '--build-fake-ancestor=/home/x' '--directory=../y'"),
            (Words{"--build-fake-ancestor=/home/x", "--directory=../y"}));
  for (const char* const text :
       {" --directory=x", " '-p1'x", " '-p1'\\''x'", " '-px'", " '-pp", "x"})
    EXPECT_FALSE(programs_in_apply_options(text).empty()) << text;
}

}  // namespace
}  // namespace coop::guards
