// The index of a tree as a file: what is trusted, and what is not.
#include "sys/tree/tree_index.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sys/fd.h"
#include "temp_tree.h"

namespace coop {
namespace {

using test::TempTree;

constexpr std::int64_t kLater = std::int64_t{1} << 62;  // every directory is old by then

class TreeIndexTest : public testing::Test {
 protected:
  // w/a, w/a/b, w/c; all plain but w.
  void SetUp() override { tree_.must("mkdir -p w/a/b w/c"); }

  UniqueFd root() const { return *open_file(tree_ / "w", O_RDONLY | O_DIRECTORY); }
  IndexPlace place(const std::string& key = "k") const {
    return {tree_ / "indexes", tree_ / "w", key};
  }

  DirectoryState state(const std::string& name) const {
    const Result<UniqueFd> fd = open_file(tree_ / name, O_RDONLY | O_DIRECTORY);
    return directory_state(fd->get()).value();
  }

  void save(std::int64_t began = kLater) const {
    const TreeIndex none;
    IndexBuilder builder(none, began, {.fewest_rows = 1, .worth_writing = 1000});
    builder.open("", state("w"), 0);
    const std::uint32_t a = builder.open("a", state("w/a"), 1);
    builder.plain(a);
    const std::uint32_t b = builder.open("b", state("w/a/b"), 1);
    builder.plain(b);
    builder.close();
    builder.close();
    const std::uint32_t c = builder.open("c", state("w/c"), 1);
    builder.plain(c);
    builder.close();
    builder.close();
    builder.save(place(), root().get());
  }

  // "a=settled b=unchanged c=-", in the order of the rows.
  std::string read(const std::string& key = "k") const {
    const TreeIndex index = TreeIndex::read(place(key), root().get());
    std::string text;
    for (std::uint32_t row = 1; row < index.size(); ++row)
      text += std::string(index.name(row)) + "=" +
              (index.is_settled(row)     ? "settled "
               : index.is_unchanged(row) ? "unchanged "
                                         : "- ");
    return text;
  }

  Path file() const {
    for (const auto& entry : std::filesystem::directory_iterator(tree_ / "indexes"))
      return entry.path().string();
    return {};
  }

  const TempTree tree_;
};

TEST_F(TreeIndexTest, WhatIsAsItWasIsSettled) {
  EXPECT_EQ(read(), "");
  save();
  EXPECT_EQ(read(), "a=settled b=settled c=settled ");
}

TEST_F(TreeIndexTest, AChangeBelowIsNotSettledAbove) {
  save();
  tree_.must("sleep 0.02; touch w/a/b/x");
  EXPECT_EQ(read(), "a=unchanged b=- c=settled ");
}

TEST_F(TreeIndexTest, AnotherDirectoryOfTheSameNameIsChanged) {
  save();
  tree_.must("sleep 0.02; mkdir w/d; rmdir w/c; mv w/d w/c");
  EXPECT_EQ(read(), "a=settled b=settled c=- ");
}

TEST_F(TreeIndexTest, ADirectoryReplacedByASymlinkToItselfIsChanged) {
  save();
  tree_.must("sleep 0.02; mv w/c kept; ln -s ../kept w/c");
  EXPECT_EQ(read(), "a=settled b=settled c=- ");
}

TEST_F(TreeIndexTest, YoungDirectoriesAreNotTrusted) {
  struct timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  save(std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec);
  EXPECT_EQ(read(), "");  // nothing was learned, so there is no file either
}

TEST_F(TreeIndexTest, AnotherKeyHasAnotherIndex) {
  save();
  EXPECT_EQ(read("other"), "");
  EXPECT_NE(read(), "");
}

TEST_F(TreeIndexTest, AFileThatOthersCanWriteIsNotRead) {
  save();
  ASSERT_EQ(::chmod(file().c_str(), 0622), 0);
  EXPECT_EQ(read(), "");
  ASSERT_EQ(::chmod(file().c_str(), 0600), 0);
  EXPECT_NE(read(), "");  // control
}

TEST_F(TreeIndexTest, ADamagedFileIsNotRead) {
  save();
  const std::string whole = test::read_text(file());
  std::size_t used = 0;
  // Every byte in turn, to 0 and to 255: no answer may be wrong, and nothing may crash.
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const char byte : {'\0', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = byte;
      std::ofstream(file(), std::ios::binary) << damaged;
      const std::string text = read();
      used += text.empty() ? 0 : 1;
    }
  EXPECT_GT(used, 0U);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(file(), std::ios::binary) << whole.substr(0, size);
    EXPECT_EQ(read(), "");
  }
  std::ofstream(file(), std::ios::binary) << whole;
  EXPECT_EQ(read(), "a=settled b=settled c=settled ");
}

TEST_F(TreeIndexTest, TheOldestAreRemoved) {
  tree_.must("mkdir indexes; for i in $(seq 150); do touch -d @$i indexes/$i; done");
  save();
  std::size_t left = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(tree_ / "indexes"))
    ++left;
  EXPECT_EQ(left, 101U);
  EXPECT_FALSE(test::exists(tree_ / "indexes/50"));
  EXPECT_TRUE(test::exists(tree_ / "indexes/51"));
}

}  // namespace
}  // namespace coop
