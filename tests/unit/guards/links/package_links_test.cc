#include "guards/links/package_links.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "guards/walk.h"
#include "guards/workspace.h"
#include "temp_tree.h"

namespace coop::guards {
namespace {

using test::TempTree;
using Lines = std::vector<std::string>;

Lines seen_in(const TempTree& tree) {
  const Result<WorkspaceFacts> facts = inspect_workspace(tree / "w", test::kGuards);
  if (!facts) return {to_text(facts.error())};
  Lines lines;
  for (const GuardedPath& found : facts->guarded)
    lines.emplace_back(relative_to(found.path, tree / "w"));
  return lines;
}

TEST(PackageLinksTest, TheTextSaysWhetherALinkMayLeadThere) {
  for (const char* const text :
       {"node_modules", "node_modules/app", "../Vendor/x", "/srv/site-packages/x", "app/../x",
        "a/./../x", "../node_modules.", "/a/../b"})
    EXPECT_TRUE(may_lead_into_packages(text)) << text;
  for (const char* const text :
       {"", "app", "../../app", "/srv/app", ".././../x", "node_modules2/x", "./app", "//", "../.."})
    EXPECT_FALSE(may_lead_into_packages(text)) << text;
}

TEST(PackageLinksTest, NamesCountWhereALinkLeads) {
  const TempTree tree;
  tree.must(
      "mkdir -p w/node_modules/app/sub w/node_modules/app/node_modules/x w/node_modules/other"
      " && ln -s node_modules/app w/app && cd w/node_modules && touch app/.envrc"
      " app/sub/.envrc other/.envrc app/node_modules/x/.envrc && mkdir app/.vscode");
  EXPECT_EQ(seen_in(tree), (Lines{"node_modules/app/.envrc", "node_modules/app/.vscode",
                                  "node_modules/app/sub/.envrc"}));
  tree.must("rm w/app");
  EXPECT_EQ(seen_in(tree), Lines{});
}

TEST(PackageLinksTest, AlsoThroughOtherLinks) {
  for (const char* const links : {
           "ln -s two w/one && ln -s three w/two && ln -s node_modules/app w/three",
           "mkdir w/lib && ln -s ../node_modules w/lib/all && ln -s lib/all/app w/one",
           "ln -s \"$PWD/w/node_modules/app\" w/one",
           "ln -s node_modules w/one",
           "mkdir w/vendor && ln -s ../node_modules/app w/vendor/app && ln -s vendor/app w/one",
           "ln -s node_modules/other w/other && ln -s other/../app w/one",
           "ln -s node_modules/other w/one && ln -s ../app w/node_modules/other/two",
           "ln -s node_modules/x/../app w/one",
           "ln -s x/../other/../app w/one && ln -s node_modules/other w/other",
       }) {
    const TempTree tree;
    tree.must(
        "mkdir -p w/node_modules/app w/node_modules/other && touch w/node_modules/app/.envrc");
    tree.must(links);
    EXPECT_EQ(seen_in(tree), Lines{"node_modules/app/.envrc"}) << links;
  }
}

// As package managers make them for the packages of a workspace.
TEST(PackageLinksTest, LinksInPackagesAreNotFollowed) {
  const TempTree tree;
  tree.must(
      "mkdir -p w/node_modules/.pnpm/a@1/node_modules/a w/packages/p/node_modules w/x"
      " && touch w/node_modules/.pnpm/a@1/node_modules/a/.envrc"
      " && ln -s .pnpm/a@1/node_modules/a w/node_modules/a && ln -s ../packages/p w/node_modules/p"
      " && ln -s ../../../node_modules/a w/packages/p/node_modules/a"
      " && ln -s ../node_modules w/x/node_modules");
  const Result<WorkspaceFacts> facts = inspect_workspace(tree / "w", test::kGuards);
  ASSERT_TRUE(facts);
  EXPECT_TRUE(facts->guarded.empty());
  EXPECT_TRUE(facts->package_links.empty());
}

TEST(PackageLinksTest, WhereALinkLeadsIsKnownBeforeItExists) {
  const TempTree tree;
  tree.must("mkdir w && ln -s node_modules/app w/app");
  const Result<WorkspaceFacts> facts = inspect_workspace(tree / "w", test::kGuards);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->package_links, (std::vector<PackageLink>{{.path = tree / "w/app",
                                                             .text = "node_modules/app",
                                                             .place = tree / "w/node_modules/app",
                                                             .through = ""}}));
}

TEST(PackageLinksTest, WhatIsNoDirectoryDoesNotDisturbTheLook) {
  for (const char* const text :
       {"node_modules/file", "x/../node_modules/file", "node_modules/file/x", "x/../node_modules/l",
        "node_modules/x/../l"}) {
    const TempTree tree;
    tree.must("mkdir -p w/node_modules w/a && touch w/node_modules/file w/a/.envrc");
    tree.must(std::string("ln -s ") + text + " w/link && ln -s ../a w/node_modules/l");
    EXPECT_EQ(seen_in(tree), Lines{"a/.envrc"}) << text;
  }
}

TEST(PackageLinksTest, CirclesAndManyLinksEnd) {
  const TempTree tree(test::fast_parent());
  tree.must(
      "mkdir -p w/node_modules/app/a/b && touch w/node_modules/app/a/b/.envrc"
      " && ln -s node_modules/app w/app && ln -s ../.. w/node_modules/app/a/up"
      " && ln -s . w/node_modules/app/self && ln -s ../../../app w/node_modules/app/back");
  std::vector<std::string> entries;
  for (int number = 0; number < 1900; ++number)
    ASSERT_EQ(::symlink("node_modules/app/a", (tree / ("w/" + std::to_string(number))).c_str()), 0);
  const GuardNames names(test::kGuards);
  // Each directory once, and not once for each link.
  GuardWalk walk(names, WalkLimits{.entries = 1930}, {tree / "w"});
  ASSERT_TRUE(walk.tree(tree / "w"));
  EXPECT_EQ(walk.stop(), GuardWalk::Stop::none);
  const std::vector<GuardedPath> found = walk.take_guarded();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].path, tree / "w/node_modules/app/a/b/.envrc");
}

TEST(PackageLinksTest, TooManyAreAnError) {
  const TempTree tree(test::fast_parent());
  tree.must("mkdir w");
  for (int number = 0; number <= 50'000; ++number)
    ASSERT_EQ(::symlink("node_modules/x", (tree / ("w/" + std::to_string(number))).c_str()), 0);
  const Result<WorkspaceFacts> facts = inspect_workspace(tree / "w", test::kGuards);
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().kind, Error::Kind::unsupported);
}

// Where it leads depends on who asks.
TEST(PackageLinksTest, ALinkThroughProcCountsItself) {
  const TempTree tree;
  tree.must(
      "mkdir w && ln -s /proc/self/cwd/node_modules/app w/app && ln -s way/vendor w/other"
      " && ln -s /proc/self/cwd w/way && ln -s /proc/self/fd w/harmless");
  EXPECT_EQ(seen_in(tree), (Lines{"app", "other"}));
}

TEST(PackageLinksTest, TheFirstNewLinkOfEachWayIsNamed) {
  const std::vector<PackageLink> now{
      {.path = "/w/a", .text = "node_modules/p", .place = "/w/node_modules/p"},
      {.path = "/w/b", .text = "node_modules/q", .place = "/w/node_modules/q"},
      {.path = "/w/node_modules/p/c",
       .text = "../q",
       .place = "/w/node_modules/q",
       .through = "/w/a"},
      {.path = "/w/z", .text = "node_modules/p", .place = "/w/node_modules/p"}};
  const auto ways = [&](std::string_view path, const std::vector<PackageLink>& known) {
    return NewWays(now, known).to(path).links;
  };
  // All that lead to "c", and not "c", which may be the package's own.
  EXPECT_EQ(ways("/w/node_modules/q/.envrc", {}), (std::vector{now[0], now[1], now[3]}));
  EXPECT_EQ(ways("/w/node_modules/q/.envrc", {now[0], now[1], now[3]}), std::vector{now[2]});
  EXPECT_EQ(ways("/w/node_modules/q/.envrc", now), std::vector<PackageLink>{});
  EXPECT_EQ(ways("/w/node_modules/q/vendor/.envrc", {}), std::vector<PackageLink>{});
  EXPECT_EQ(ways("/w/node_modules/q", {}), std::vector<PackageLink>{});
  NewWays all(now, {});
  EXPECT_EQ(all.to("/w/node_modules/q/.envrc").links.size(), 3U);
  EXPECT_TRUE(all.to("/w/node_modules/q/other").any);
  EXPECT_EQ(all.to("/w/node_modules/q/other").links, std::vector<PackageLink>{});
}

TEST(PackageLinksTest, ChainsAndCirclesEnd) {
  std::vector<PackageLink> now{{.path = "/w/a", .text = "x", .place = "/w/node_modules/0"}};
  for (int number = 0; number < 50; ++number)
    now.push_back({.path = "/w/node_modules/" + std::to_string(number) + "/l",
                   .text = "x",
                   .place = "/w/node_modules/" + std::to_string((number + 1) % 50),
                   .through = "/w/a"});
  std::ranges::sort(now, {}, &PackageLink::path);
  EXPECT_EQ(NewWays(now, {}).to("/w/node_modules/31/.envrc").links, std::vector{now.front()});
}

}  // namespace
}  // namespace coop::guards
