#include "sys/real_path.h"

#include <gmock/gmock.h>

#include "unit/support/temp_tree.h"

namespace coop {
namespace {

using test::TempTree;

// Without the directories that the tree itself is in.
std::vector<std::string> names_below(const TempTree& tree, const std::string& path) {
  std::vector<std::string> names;
  const std::vector<Path> all = names_on_the_way(tree / path).value();
  for (const Path& name : all)
    if (is_within(name, tree.path()) && name != tree.path())
      names.emplace_back(relative_to(name, tree.path()));
  return names;
}

TEST(NamesOnTheWayTest, AreEachDirectoryAndSymlinkByItsRealPlace) {
  const TempTree tree;
  tree.must(
      "mkdir -p a/b c && touch a/b/file && ln -s ../a/b c/link && ln -s c/link/file short && "
      "ln -s $PWD/short absolute");
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_below(tree, "a/b/file"), (Names{"a", "a/b", "a/b/file"}));
  EXPECT_EQ(names_below(tree, "c/link/file"), (Names{"c", "c/link", "a", "a/b", "a/b/file"}));
  EXPECT_EQ(names_below(tree, "short"), (Names{"short", "c", "c/link", "a", "a/b", "a/b/file"}));
  EXPECT_EQ(names_below(tree, "absolute"),
            (Names{"absolute", "short", "c", "c/link", "a", "a/b", "a/b/file"}));
  EXPECT_EQ(names_below(tree, "a/./b//../b/file"), (Names{"a", "a/b", "a/b", "a/b/file"}));
  EXPECT_EQ(names_on_the_way(tree / "absolute")->back(), real_path(tree / "absolute").value());
}

TEST(NamesOnTheWayTest, EndWithAnErrorWhereTheKernelWould) {
  const TempTree tree;
  tree.must("touch file && ln -s round round && ln -s nowhere broken");
  EXPECT_EQ(names_on_the_way(tree / "round").error().errno_value, ELOOP);
  EXPECT_EQ(names_on_the_way(tree / "broken").error().errno_value, ENOENT);
  EXPECT_EQ(names_on_the_way(tree / "file/below").error().errno_value, ENOTDIR);
  EXPECT_EQ(names_on_the_way("/").value(), std::vector<Path>{"/"});
}

}  // namespace
}  // namespace coop
