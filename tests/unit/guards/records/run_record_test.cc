#include "guards/records/run_record.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "temp_tree.h"

namespace coop::guards {
namespace {

using test::exists;
using test::TempTree;
using Paths = std::vector<Path>;

// A look that began at `started` and found these, each changed at the time that stands behind it.
WorkspaceFacts look(std::int64_t started, const std::vector<std::pair<Path, std::int64_t>>& found) {
  WorkspaceFacts facts{.started = started};
  for (const auto& [path, changed] : found)
    facts.guarded.push_back({.path = path, .changed = changed});
  return facts;
}

class RunRecordTest : public testing::Test {
 protected:
  RunRecord enter(const std::string& id) {
    Result<RunRecord> record = RunRecord::enter(tree / "runs", id);
    EXPECT_TRUE(record) << to_text(record.error());
    return record ? std::move(*record) : RunRecord();
  }
  static Paths tell(RunRecord& record, const Paths& roots, const WorkspaceFacts& facts,
                    const Versions& versions = {}) {
    const Result<Paths> doubtful = record.tell(roots, std::span(&facts, 1), versions);
    EXPECT_TRUE(doubtful) << to_text(doubtful.error());
    return doubtful ? *doubtful : Paths{"?"};
  }

  const TempTree tree;
};

TEST_F(RunRecordTest, AloneNothingIsInDoubt) {
  RunRecord record = enter("a");
  EXPECT_EQ(tell(record, {"/w"}, look(10, {{"/w/.envrc", 20}})), Paths{});
  EXPECT_TRUE(exists(tree / "runs/a"));
  record.leave();
  EXPECT_FALSE(exists(tree / "runs/a"));
}

// Making and removing the directory at each run takes longer than the rest of the record.
TEST_F(RunRecordTest, InCoopsStateTheDirectoryStaysAndNothingIsLeftWithoutIt) {
  enter("a").leave();
  EXPECT_TRUE(exists(tree / "runs"));
  Result<RunRecord> record = RunRecord::enter(tree / "state/coop/runs", "a");
  ASSERT_TRUE(record) << to_text(record.error());
  EXPECT_TRUE(exists(tree / "state/coop/runs/a"));
  record->leave();
  EXPECT_FALSE(exists(tree / "state"));
}

TEST_F(RunRecordTest, WhatAnotherRunDidNotKnowOrSeeUnchangedIsInDoubt) {
  RunRecord first = enter("a");
  tell(first, {"/w"}, look(10, {{"/w/old", 5}, {"/w/touched", 5}}));
  RunRecord second = enter("b");
  const WorkspaceFacts later = look(
      20, {{"/elsewhere/x", 15}, {"/w/new", 3}, {"/w/old", 5}, {"/w/same", 5}, {"/w/touched", 12}});
  EXPECT_EQ(tell(second, {"/w", "/elsewhere"}, later), (Paths{"/w/new", "/w/same", "/w/touched"}));
  // A third is told only what the second did not doubt.
  first.leave();
  RunRecord third = enter("c");
  EXPECT_EQ(tell(third, {"/w"}, look(30, {{"/w/old", 5}, {"/w/same", 5}})), Paths{"/w/same"});
}

// What it made cannot be told from what is the user's.
TEST_F(RunRecordTest, BesideALiveRunThatCouldNotTellNoneStarts) {
  const WorkspaceFacts later = look(20, {{"/w/old", 5}});
  RunRecord first = enter("a");
  RunRecord second = enter("b");
  EXPECT_EQ(tell(second, {"/w"}, later), Paths{});  // control: the first only looks
  for (const std::string content : {std::string(), std::string("2"),
                                    std::string("3\0"
                                                "1\0/w\0"
                                                "0:0:0\0x\0",
                                                15)}) {
    tree.write("runs/a", content);
    RunRecord third = enter("c");
    const Result<Paths> doubtful = third.tell(Paths{"/w"}, std::span(&later, 1), {});
    ASSERT_FALSE(doubtful) << content;
    EXPECT_NE(doubtful.error().hint, "");
  }
}

// The roots are at the same place in every version of the format.
TEST_F(RunRecordTest, ALiveRunOfAnotherVersionElsewhereIsNoHindrance) {
  RunRecord first = enter("a");
  tree.write("runs/a", std::string("9\0"
                                   "1\0/elsewhere\0"
                                   "0:0:0\0x\0",
                                   22));
  RunRecord second = enter("b");
  EXPECT_EQ(tell(second, {"/w"}, look(20, {{"/w/old", 5}})), Paths{});
  const WorkspaceFacts facts = look(20, {});
  RunRecord third = enter("c");
  EXPECT_FALSE(third.tell(Paths{"/elsewhere/below"}, std::span(&facts, 1), {}));
  RunRecord fourth = enter("d");
  EXPECT_FALSE(fourth.tell(Paths{"/"}, std::span(&facts, 1), {}));
}

// A limit on the size of files fails as a full disk does.
TEST_F(RunRecordTest, AFullDiskIsAnError) {
  RunRecord record = enter("a");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const rlimit limit{1, 1};
    ::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const WorkspaceFacts facts = look(10, {});
    const bool told = record.tell(Paths{"/w"}, std::span(&facts, 1), {}).has_value();
    ::_exit(told ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const WorkspaceFacts later = look(20, {{"/w/old", 5}});
  RunRecord second = enter("b");
  EXPECT_FALSE(second.tell(Paths{"/w"}, std::span(&later, 1), {}));
}

TEST_F(RunRecordTest, ADirectoryIsAsYoungAsWhatItContains) {
  RunRecord first = enter("a");
  tell(first, {"/w"}, look(10, {{"/w/.vscode", 5}}));
  RunRecord second = enter("b");
  const Versions versions{{.path = "/w/.vscode", .changed = 12}};
  EXPECT_EQ(tell(second, {"/w"}, look(20, {{"/w/.vscode", 5}}), versions), Paths{"/w/.vscode"});
}

// It may have seen what the other made, and the other has taken it away meanwhile.
TEST_F(RunRecordTest, ARunThatEndsWhileAnotherLooksIsNotForgotten) {
  RunRecord first = enter("a");
  tell(first, {"/w"}, look(10, {}));
  RunRecord second = enter("b");
  first.leave();
  EXPECT_EQ(tell(second, {"/w"}, look(12, {{"/w/new", 11}})), Paths{"/w/new"});
  EXPECT_FALSE(exists(tree / "runs/a"));
  RunRecord third = enter("c");
  EXPECT_EQ(tell(third, {"/w"}, look(20, {})), Paths{});
}

// Its record is still there for a run that looks elsewhere meanwhile.
TEST_F(RunRecordTest, ARunThatBeginsAfterAnotherHasEndedDoubtsNothingOfIt) {
  RunRecord first = enter("a");
  tell(first, {"/w"}, look(10, {}));
  RunRecord looking = enter("b");
  const UniqueFd janitor(::dup(first.fd()));  // lets go of the lock later
  first.leave();
  RunRecord next = enter("c");
  EXPECT_EQ(tell(next, {"/w"}, look(12, {{"/w/new", 11}})), Paths{});
  EXPECT_EQ(tell(looking, {"/w"}, look(12, {{"/w/new", 11}})), Paths{"/w/new"});  // control
  tree.must("test $(ls runs | wc -l) = 2");
}

TEST_F(RunRecordTest, ARunThatHasNoCommandYetMadeNothing) {
  const RunRecord first = enter("a");
  RunRecord second = enter("b");
  EXPECT_EQ(tell(second, {"/w"}, look(12, {{"/w/new", 11}})), Paths{});
}

// Its paths are others now, and the tree is the same.
TEST_F(RunRecordTest, ATreeThatWasMovedIsFoundWhereItIs) {
  tree.must("mkdir w");
  RunRecord first = enter("a");
  tell(first, {tree / "w"}, look(10, {{tree / "w/old", 5}}));
  tree.must("mv w v && mkdir w");
  RunRecord second = enter("b");
  const WorkspaceFacts there = look(30, {{tree / "v/new", 5}, {tree / "v/old", 5}});
  EXPECT_EQ(tell(second, {tree / "v"}, there), Paths{tree / "v/new"});
  // What is at its old path was never its own.
  RunRecord third = enter("c");
  EXPECT_EQ(tell(third, {tree / "w"}, look(30, {{tree / "w/new", 5}})), Paths{});
}

// Of a killed process, of another version, or damaged.
TEST_F(RunRecordTest, ARecordThatCannotBeReadPutsAllInDoubt) {
  RunRecord first = enter("a");
  tree.must(
      "printf '1\\0009\\0001\\000/w\\000' > runs/z; printf 'nonsense' > runs/y; mkdir runs/x");
  EXPECT_EQ(tell(first, {"/w"}, look(10, {{"/w/a", 1}})), Paths{"/w/a"});
  // No process has them locked: they are gone.
  RunRecord second = enter("b");
  EXPECT_EQ(tell(second, {"/w"}, look(20, {{"/w/a", 1}})), Paths{"/w/a"});
  EXPECT_FALSE(exists(tree / "runs/z"));
  EXPECT_FALSE(exists(tree / "runs/y"));
}

TEST_F(RunRecordTest, TheSameIdTwice) {
  RunRecord first = enter("a");
  RunRecord second = enter("a");
  EXPECT_NE(first.path(), second.path());
}

TEST_F(RunRecordTest, WhereNothingCanBeWrittenThereIsNoRecord) {
  EXPECT_FALSE(RunRecord::enter("/proc/nothing/runs", "a"));
  EXPECT_EQ(all_guarded(std::vector{look(1, {{"/b", 1}, {"/a", 1}})}), (Paths{"/a", "/b"}));
}

}  // namespace
}  // namespace coop::guards
