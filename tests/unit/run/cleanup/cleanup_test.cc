// What a janitor is told, over a file in memory.
#include "run/cleanup/cleanup.h"

#include <gtest/gtest.h>

namespace coop::run {
namespace {

Cleanup full() {
  GuardedPath guarded{.path = "/w/.git/hooks",
                      .guard = ".git/hooks",
                      .device = 1,
                      .inode = ~std::uint64_t{0},
                      .born = 3,
                      .changed = -5,
                      .links = 2,
                      .directory = true,
                      .harmless = true,
                      .link = std::string("a\0b", 3),
                      .through = "/w/x"};
  return Cleanup{.groups = {"/sys/fs/cgroup/coop-a", ""},
                 .guards = {.roots = {"/w", "/x\n"},
                            .names = {".git"},
                            .mounted = {"/w/.envrc"},
                            .places = {"/work/.envrc"}},
                 .before = {WorkspaceFacts{.guarded = {guarded, {}},
                                           .outside_git = {"/r"},
                                           .complete = false,
                                           .started = 7,
                                           .named = {{"/w/githooks", ".git/hooks"}},
                                           .notes = {"a note"}},
                            WorkspaceFacts{}},
                 .versions = {{.path = "/w/.envrc",
                               .entries = {{.path = "x",
                                            .mode = 0100644,
                                            .owner = 1,
                                            .group = 2,
                                            .content = std::string("a\0b", 3)}},
                               .changed = 9}},
                 .quarantine = "/q",
                 .record = "/s/runs/a",
                 .doubtful = {"/w/.envrc"},
                 .gaps = {"/w/.git/config"}};
}

TEST(CleanupTest, SurvivesTheJourney) {
  EXPECT_EQ(cleanup_from(to_bytes(full())), full());
  EXPECT_EQ(cleanup_from(to_bytes({})), Cleanup{});
}

TEST(CleanupTest, HalfOfItIsNothing) {
  const std::string bytes = to_bytes(full());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(cleanup_from(bytes.substr(0, size)), std::nullopt) << size;
  EXPECT_EQ(cleanup_from(bytes + '\0'), std::nullopt);
  EXPECT_EQ(cleanup_from(std::string(64, '\xff')), std::nullopt);
}

}  // namespace
}  // namespace coop::run
