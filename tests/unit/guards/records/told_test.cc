#include "guards/records/told.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "temp_tree.h"

namespace coop::guards {
namespace {

using test::TempTree;

constexpr const char* kMounted = ".envrc";       // a mount keeps it in its place
constexpr const char* kContents = ".git/index";  // programs inside must write it

GuardedPath found(const Path& path, const std::string& guard, std::uint64_t inode,
                  std::int64_t changed = 5, const std::string& link = {}) {
  return {.path = path,
          .guard = guard,
          .device = 1,
          .inode = inode,
          .born = 2,
          .changed = changed,
          .link = link};
}

ToldPath known(const Path& path, const std::string& guard, std::uint64_t inode,
               const std::string& link = {}) {
  return {path, guard, {1, inode, 2}, link};
}

Told told(std::vector<ToldPath> paths) {
  return {.roots = {{"/w", {}}},
          .started = 10,
          .guards = {kMounted, kContents},
          .known = std::move(paths)};
}

TEST(ToldTest, BytesGiveTheSameBack) {
  const Told all{.roots = {{"/w", {1, 2, -3}}, {"/w two\n", {}}},
                 .started = -7,
                 .complete = false,
                 .guards = {".a", ".b"},
                 .known = {known("/w/.a", ".a", 9), known("/w/.b", ".b", 8, "to/there")}};
  const std::string bytes = to_bytes(all);
  EXPECT_EQ(parse_told(bytes), all);
  EXPECT_EQ(parse_roots(bytes), all.roots);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::optional<Told> part = parse_told(bytes.substr(0, size));
    EXPECT_TRUE(!part || part->known.size() < all.known.size()) << size;
  }
}

TEST(ToldTest, DamagedBytesGiveNothing) {
  const std::string bytes =
      to_bytes(told({known("/w/b", kMounted, 1), known("/w/a", kMounted, 2)}));
  EXPECT_EQ(parse_told(bytes), std::nullopt);  // not sorted
  std::string huge = to_bytes(told({}));
  huge.replace(2, 1, "99999999999999999999");
  EXPECT_EQ(parse_told(huge), std::nullopt);
  EXPECT_EQ(parse_roots(huge), std::nullopt);
  huge = to_bytes(told({}));
  huge[0] = '5';
  EXPECT_EQ(parse_told(huge), std::nullopt);
  EXPECT_TRUE(parse_roots(huge));
}

// An older object takes the place of a known one when a directory above is renamed: its times do not change.
TEST(ToldTest, AnotherObjectAtAKnownPathIsInDoubt) {
  Identities identities;
  const OtherRun run(told({known("/w/.envrc", kMounted, 1), known("/w/.git/index", kContents, 2)}),
                     identities);
  EXPECT_FALSE(run.may_have_made(found("/w/.envrc", kMounted, 1), "/w/.envrc"));
  EXPECT_TRUE(run.may_have_made(found("/w/.envrc", kMounted, 7), "/w/.envrc"));
  EXPECT_FALSE(run.may_have_made(found("/w/.git/index", kContents, 2), "/w/.git/index"));
  EXPECT_TRUE(run.may_have_made(found("/w/.git/index", kContents, 7), "/w/.git/index"));
  EXPECT_TRUE(
      run.may_have_made(found("/w/.envrc", kMounted, 1, 10), "/w/.envrc"));  // changed since
}

// That run's sandbox could not put another object where a mount is; a program of the host could.
TEST(ToldTest, OnlyWhatTheSandboxCouldReplaceIsItsOwn) {
  Identities identities;
  const OtherRun run(told({known("/w/.envrc", kMounted, 1), known("/w/.git/index", kContents, 2)}),
                     identities);
  EXPECT_FALSE(run.has_made(found("/w/.envrc", kMounted, 7), "/w/.envrc", "/w"));
  EXPECT_TRUE(run.has_made(found("/w/.git/index", kContents, 7), "/w/.git/index", "/w"));
  EXPECT_TRUE(run.has_made(found("/w/.git/index", kContents, 2, 10), "/w/.git/index", "/w"));
  EXPECT_FALSE(run.has_made(found("/w/.git/index", kContents, 2), "/w/.git/index", "/w"));
  EXPECT_TRUE(run.has_made(found("/w/a/.envrc", kMounted, 7), "/w/a/.envrc", "/w"));
}

// A mount moves with what it is on. A file that programs inside write has no mount, nor has a symlink.
TEST(ToldTest, WhatTheUserMovedIsStillKnown) {
  Identities identities;
  const OtherRun run(
      told({known("/w/a/.envrc", kMounted, 1), known("/w/a/.git/index", kContents, 2),
            known("/w/b/.envrc", kMounted, 3, "text")}),
      identities);
  EXPECT_FALSE(run.may_have_made(found("/w/c/.envrc", kMounted, 1), "/w/c/.envrc"));
  EXPECT_FALSE(run.has_made(found("/w/c/.envrc", kMounted, 1), "/w/c/.envrc", "/w"));
  EXPECT_TRUE(run.may_have_made(found("/w/c/.git/index", kContents, 2), "/w/c/.git/index"));
  EXPECT_TRUE(run.may_have_made(found("/w/c/.envrc", kMounted, 3, 5, "text"), "/w/c/.envrc"));
  // Under another guard it is something else.
  EXPECT_TRUE(run.may_have_made(found("/w/c/.mcp.json", ".mcp.json", 1), "/w/c/.mcp.json"));
}

TEST(ToldTest, NothingIsMadeByARunThatDoesNotGuardOrListIt) {
  Identities identities;
  const GuardedPath file = found("/w/a/.envrc", kMounted, 7);
  EXPECT_TRUE(OtherRun(told({}), identities).has_made(file, file.path, "/w"));     // control
  EXPECT_FALSE(OtherRun(told({}), identities).has_made(file, file.path, "/w/a"));  // another top
  const GuardedPath index = found("/w/a/.git/index", kContents, 7);
  EXPECT_TRUE(OtherRun(told({}), identities).has_made(index, index.path, "/w/a"));
  Told partial = told({});
  partial.complete = false;
  EXPECT_FALSE(OtherRun(partial, identities).has_made(file, file.path, "/w"));
  Told other = told({});
  other.guards = {kContents};
  EXPECT_FALSE(OtherRun(other, identities).has_made(file, file.path, "/w"));
}

TEST(ToldTest, TreesAreFoundByWhatTheyAre) {
  const TempTree tree;
  tree.must("mkdir -p w/sub other");
  Identities identities;
  const Told all{.roots = {{"/where/it/was", object_at(tree / "w")}}};
  const OtherRun run(all, identities);
  EXPECT_EQ(run.as_told(tree / "w"), "/where/it/was");
  EXPECT_EQ(run.as_told(tree / "w/sub/file"), "/where/it/was/sub/file");
  EXPECT_EQ(run.as_told(tree / "other/file"), std::nullopt);
  EXPECT_TRUE(run.is_root(tree / "w"));
  EXPECT_FALSE(run.is_root(tree / "w/sub"));
}

// In namespaces of its own: what is mounted there is gone when the process ends.
TEST(ToldTest, APartOfATreeUnderABindMountIsFoundToo) {
  const TempTree tree;
  tree.must("mkdir -p w/sub bound");
  // By clone itself: the thread sanitizer has a thread in each child, and unshare() refuses that.
  const auto child = static_cast<pid_t>(
      ::syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD, nullptr, nullptr, nullptr, 0));
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::mount((tree / "w/sub").c_str(), (tree / "bound").c_str(), nullptr, MS_BIND, nullptr) < 0)
      ::_exit(2);
    Identities identities;
    const OtherRun run({.roots = {{tree / "w", object_at(tree / "w")}}}, identities);
    ::_exit(run.as_told(tree / "bound/x") == tree / "w/sub/x" && !run.as_told(tree / "elsewhere")
                ? 0
                : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace coop::guards
