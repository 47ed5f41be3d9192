#include "host/files/glob.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "temp_tree.h"

namespace coop::host {
namespace {

using test::TempTree;
using testing::HasSubstr;
using Paths = std::vector<Path>;

Paths must_match(const std::string& pattern) {
  const Result<Paths> paths = glob(pattern);
  EXPECT_TRUE(paths.has_value()) << to_text(paths.error());
  return paths.value_or(Paths{"error"});
}

std::string refusal(const std::string& pattern) {
  const Result<Paths> paths = glob(pattern);
  return paths ? "" : to_text(paths.error());
}

TEST(GlobTest, NamesOfOneDirectoryAreMatchedAndSorted) {
  const TempTree tree;
  tree.must("touch c.pem a.pem b.txt; mkdir d.pem; touch d.pem/e.pem");
  EXPECT_EQ(must_match(tree / "*.pem"), (Paths{tree / "a.pem", tree / "c.pem", tree / "d.pem"}));
  EXPECT_EQ(must_match(tree / "[ab].*"), (Paths{tree / "a.pem", tree / "b.txt"}));
  EXPECT_EQ(must_match(tree / "?.txt"), Paths{tree / "b.txt"});
}

TEST(GlobTest, EachComponentIsMatchedOnItsOwn) {
  const TempTree tree;
  tree.must("mkdir -p a/x b/x b/y; touch a/x/1 b/x/2 b/y/3 c");
  EXPECT_EQ(must_match(tree / "*/*/*"), (Paths{tree / "a/x/1", tree / "b/x/2", tree / "b/y/3"}));
  EXPECT_EQ(must_match(tree / "*/x"), (Paths{tree / "a/x", tree / "b/x"}));
  EXPECT_EQ(must_match(tree / "*/x/[12]"), (Paths{tree / "a/x/1", tree / "b/x/2"}));
  EXPECT_EQ(must_match(tree / "*/y/3"), Paths{tree / "b/y/3"});
  EXPECT_EQ(must_match(tree / "./a/../*/y//"), Paths{tree / "b/y"});
}

TEST(GlobTest, ALeadingDotMustBeWritten) {
  const TempTree tree;
  tree.must("touch .env .envrc env; mkdir .d; touch .d/env");
  EXPECT_EQ(must_match(tree / "*"), Paths{tree / "env"});
  EXPECT_EQ(must_match(tree / "?env"), Paths{});
  EXPECT_EQ(must_match(tree / "[.]env"), Paths{});
  EXPECT_EQ(must_match(tree / ".env*"), (Paths{tree / ".env", tree / ".envrc"}));
  EXPECT_EQ(must_match(tree / ".*"), (Paths{tree / ".d", tree / ".env", tree / ".envrc"}));
  EXPECT_EQ(must_match(tree / "*/env"), Paths{});
}

TEST(GlobTest, SymlinksAreFollowedBeforeTheFirstWildcardOnly) {
  const TempTree tree;
  tree.must("mkdir real; touch real/a real/b; ln -s real link; ln -s nowhere dangling");
  EXPECT_EQ(must_match(tree / "link/*"), (Paths{tree / "link/a", tree / "link/b"}));
  // A matched symlink is a match itself, wherever it leads.
  EXPECT_EQ(must_match(tree / "[dl]*"), (Paths{tree / "dangling", tree / "link"}));
  EXPECT_EQ(must_match(tree / "*/a"), Paths{tree / "real/a"});
  EXPECT_EQ(must_match(tree / "*/*"), (Paths{tree / "real/a", tree / "real/b"}));
}

TEST(GlobTest, SymlinksBehindAWildcardLeadNowhere) {
  const TempTree tree;
  tree.must("mkdir -p a/b out; touch out/x a/b/x; ln -s ../out a/link; ln -s / a/root");
  EXPECT_EQ(must_match(tree / "?/link/x"), Paths{});
  EXPECT_EQ(must_match(tree / "?/link/*"), Paths{});
  EXPECT_EQ(must_match(tree / "?/root/etc"), Paths{});
  EXPECT_EQ(must_match(tree / "?/link"), Paths{tree / "a/link"});
  EXPECT_EQ(must_match(tree / "?/b/x"), Paths{tree / "a/b/x"});
}

TEST(GlobTest, APatternWithoutWildcardsIsThePathIfItIsThere) {
  const TempTree tree;
  tree.must("touch a; ln -s nowhere b");
  EXPECT_EQ(must_match(tree / "a"), Paths{tree / "a"});
  EXPECT_EQ(must_match(tree / "b"), Paths{tree / "b"});
  EXPECT_EQ(must_match(tree / "c"), Paths{});
  EXPECT_EQ(must_match(tree / "a/c"), Paths{});
  EXPECT_EQ(must_match("/"), Paths{"/"});
}

TEST(GlobTest, WhatIsMissingGivesNoMatch) {
  const TempTree tree;
  tree.must("mkdir a; touch file");
  EXPECT_EQ(must_match(tree / "missing/*"), Paths{});
  EXPECT_EQ(must_match(tree / "*/missing/*"), Paths{});
  EXPECT_EQ(must_match(tree / "file/*"), Paths{});
  EXPECT_EQ(must_match(tree / "a/*"), Paths{});
  EXPECT_EQ(must_match(tree / "x*"), Paths{});
}

TEST(GlobTest, NamesNeedNoMeaningToBeMatched) {
  const TempTree tree;
  tree.must("touch 'a b' \"$(printf 'a\\nb')\" \"$(printf 'a\\377b')\" 'a*b'");
  EXPECT_EQ(must_match(tree / "a?b"), (Paths{tree / "a\nb", tree / "a b", tree / "a*b",
                                             tree / "a\xff"
                                                    "b"}));
  EXPECT_EQ(must_match(tree / "a[*]b"), Paths{tree / "a*b"});
}

TEST(GlobTest, BadPatternsAreRefused) {
  EXPECT_EQ(refusal("/tmp/**/x"), "\"**\": has \"**\" in it");
  EXPECT_EQ(refusal("/tmp/[a"), "\"[a\": has a \"[\" without \"]\"");
  EXPECT_EQ(refusal("/tmp/[a/b]"), "\"[a\": has a \"[\" without \"]\"");
  EXPECT_EQ(refusal("tmp/*"), "wildcard: \"tmp/*\" is not an absolute path");
  EXPECT_EQ(refusal(""), "wildcard: \"\" is not an absolute path");
  EXPECT_EQ(refusal(std::string("/a\0*", 4)), "wildcard: \"/a\\x00*\" is not an absolute path");
}

TEST(GlobTest, TooManyMatchesOrNamesAreRefused) {
  const TempTree tree(test::fast_parent());
  tree.must("mkdir many more; cd many; seq 1 1000 | xargs touch");
  EXPECT_EQ(must_match(tree / "many/*").size(), 1000u);
  tree.must("touch many/1001");
  EXPECT_EQ(refusal(tree / "many/*"),
            "wildcard: \"" + tree / "many/*" + "\" matches more than 1000 paths");
  EXPECT_EQ(must_match(tree / "many/100?").size(), 2u);
  tree.must("cd more; seq 1 10001 | xargs touch");
  EXPECT_EQ(refusal(tree / "more/77"), "");
  EXPECT_EQ(refusal(tree / "more/[x]"),
            "wildcard: \"" + tree / "more/[x]" + "\" has more than 10000 names to compare with");
}

// Root has another effective uid while this object exists.
class OrdinaryUser {
 public:
  OrdinaryUser() {
    if (::geteuid() == 0) was_root_ = ::seteuid(65534) == 0;
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;
  ~OrdinaryUser() {
    if (was_root_ && ::seteuid(0) != 0) ADD_FAILURE() << "no way back to root";
  }

 private:
  bool was_root_ = false;
};

TEST(GlobTest, AnUnreadableDirectoryIsAnErrorThatNamesIt) {
  const TempTree tree;
  tree.must("mkdir -p a/b c; touch a/b/x c/x; chmod 755 .; chmod 000 a/b");
  const OrdinaryUser user;  // root reads everything
  EXPECT_EQ(refusal(tree / "a/b/*"), "open \"" + tree / "a/b" + "\": EACCES (Permission denied)");
  EXPECT_EQ(refusal(tree / "*/b/*"), "open \"" + tree / "a/b" + "\": EACCES (Permission denied)");
  EXPECT_EQ(refusal(tree / "a/*"), "");
  EXPECT_EQ(must_match(tree / "c/*"), Paths{tree / "c/x"});
}

TEST(GlobTest, NoDescriptorStaysOpen) {
  const TempTree tree;
  tree.must("mkdir -p a/b c/d; touch a/b/x c/d/x");
  const int before = ::dup(0);
  ::close(before);
  EXPECT_EQ(must_match(tree / "*/*/x").size(), 2u);
  const int after = ::dup(0);
  ::close(after);
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace coop::host
