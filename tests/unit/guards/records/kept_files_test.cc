#include "guards/records/kept_files.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "base/path.h"
#include "temp_tree.h"

namespace coop::guards {
namespace {

std::string contents_of(const Path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A quarantine of one run, which has taken w/NAME.
struct Kept {
  explicit Kept(const std::string& name) : file{.guard = ".envrc", .problem = "it runs"} {
    tree.must("mkdir -p w/sub quarantine/run1/0-w/sub");
    file.path = tree / ("w/" + name);
    file.moved_to = tree / ("quarantine/run1/0-w/" + name);
    std::ofstream(file.moved_to) << "text";
  }
  void list() const { ASSERT_TRUE(write_kept_files(tree / "quarantine/run1", {file}).has_value()); }
  test::TempTree tree{};
  Quarantined file;
};

TEST(KeptFilesTest, AListIsReadAsItWasWrittenWhateverTheNames) {
  const Kept kept("new\nline \xff\x01 name");
  kept.list();
  const Result<std::vector<KeptRun>> runs = kept_runs(kept.tree / "quarantine");
  ASSERT_TRUE(runs.has_value());
  ASSERT_EQ(runs->size(), 1U);
  EXPECT_EQ(runs->front().id, "run1");
  EXPECT_THAT(runs->front().files, testing::ElementsAre(kept.file));
}

TEST(KeptFilesTest, WithoutAQuarantineThereAreNoRunsAndWithoutAListNoFiles) {
  const test::TempTree tree;
  EXPECT_EQ(kept_runs(tree / "none").value(), std::vector<KeptRun>{});
  tree.must("mkdir -p quarantine/old");
  const std::vector<KeptRun> runs = kept_runs(tree / "quarantine").value();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs.front().files, std::vector<Quarantined>{});
}

TEST(KeptFilesTest, APutBackFileIsWhereItWasAndListedNoMore) {
  const Kept kept("sub/.envrc");
  kept.list();
  ASSERT_TRUE(put_back_kept(kept.file).has_value());
  EXPECT_EQ(contents_of(kept.file.path), "text");
  EXPECT_EQ(kept_runs(kept.tree / "quarantine")->front().files, std::vector<Quarantined>{});
}

TEST(KeptFilesTest, NothingIsReplaced) {
  const Kept kept(".envrc");
  std::ofstream(kept.file.path) << "newer";
  const Result<void> put_back = put_back_kept(kept.file);
  ASSERT_FALSE(put_back.has_value());
  EXPECT_EQ(put_back.error().errno_value, EEXIST);
  EXPECT_THAT(put_back.error().hint, testing::HasSubstr(kept.file.moved_to));
  EXPECT_EQ(contents_of(kept.file.path), "newer");
  EXPECT_EQ(contents_of(kept.file.moved_to), "text");
}

// A sandbox that runs later may have put it there: the file would land wherever it leads.
TEST(KeptFilesTest, ASymlinkOnTheWayIsNotFollowed) {
  const Kept kept("sub/.envrc");
  kept.tree.must("mkdir elsewhere && rmdir w/sub && ln -s ../elsewhere w/sub");
  const Result<void> put_back = put_back_kept(kept.file);
  ASSERT_FALSE(put_back.has_value());
  EXPECT_EQ(put_back.error().errno_value, ELOOP);
  struct stat status{};
  EXPECT_LT(::lstat((kept.tree / "elsewhere/.envrc").c_str(), &status), 0);
  EXPECT_EQ(contents_of(kept.file.moved_to), "text");
  kept.tree.must("rm w/sub && mkdir w/sub");  // control
  EXPECT_TRUE(put_back_kept(kept.file).has_value());
}

TEST(KeptFilesTest, WhatIsRemovedIsGone) {
  const Kept kept(".envrc");
  kept.list();
  const std::vector<KeptRun> runs = kept_runs(kept.tree / "quarantine").value();
  ASSERT_TRUE(remove_kept_run(kept.tree / "quarantine", runs.front()).has_value());
  EXPECT_EQ(kept_runs(kept.tree / "quarantine").value(), std::vector<KeptRun>{});
}

}  // namespace
}  // namespace coop::guards
