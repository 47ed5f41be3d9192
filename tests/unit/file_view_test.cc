// Paths as principals write them, and the files of the host that they mean.
#include <gmock/gmock.h>

#include "tools/view_check.h"
#include "unit/file_attack_tree.h"

namespace coop::tools {
namespace {

using ::testing::HasSubstr;

Plan small_plan() {
  Plan plan{.workspace = "/work"};
  plan.steps = {
      Step{.action = RootTmpfs{}},
      Step{.action = BindMount{.source = "/usr", .target = "/usr"}},
      Step{.action = MakeSymlink{.target = "/bin", .link = "usr/bin"}},
      Step{.action = TmpfsMount{.target = "/tmp"}, .origin = "view minimal"},
      Step{.action =
               BindMount{.source = "/etc/hosts", .target = "/etc/hosts", .kind = PathKind::file}},
      Step{.action = BindMount{.source = "/srv/p", .target = "/work"}},
      Step{.action = BindMount{.source = "/data", .target = "/work/data"}},
  };
  return plan;
}

TEST(FileViewTest, TheDeepestTreeThatShowsAPathIsItsRoot) {
  const Plan plan = small_plan();
  const auto at = [&](std::string_view path) {
    const Result<Location> found = locate(plan, "/srv/p", "open", path);
    return found ? *found : Location{.inside = to_text(found.error())};
  };
  EXPECT_EQ(at("a/b"), (Location{"/srv/p", "a/b", "/work/a/b"}));
  EXPECT_EQ(at("."), (Location{"/srv/p", ".", "/work"}));
  EXPECT_EQ(at("/srv/p/a"), (Location{"/srv/p", "a", "/work/a"}));
  EXPECT_EQ(at("data/x"), (Location{"/data", "x", "/work/data/x"}));
  EXPECT_EQ(at("database"), (Location{"/srv/p", "database", "/work/database"}));
  EXPECT_EQ(at("/bin/ls"), (Location{"/usr", "bin/ls", "/usr/bin/ls"}));
  EXPECT_EQ(at("../usr/x"), (Location{"/usr", "x", "/usr/x"}));
  EXPECT_EQ(at("/etc/hosts"), (Location{"/etc", "hosts", "/etc/hosts"}));
  EXPECT_EQ(at("/etc/passwd").inside, "open: \"/etc/passwd\" is not in the sandbox's view");
  EXPECT_EQ(at("../x").inside,
            "open: \"../x\" leads out of the workspace, to what is not in the sandbox's view");
  EXPECT_THAT(at("/tmp/x").inside, HasSubstr("exists only while one runs"));
}

TEST(FileViewTest, AnOpenedFileKnowsItsNames) {
  const test::AttackTree tree;
  Result<FileView> view = FileView::of_sandbox(tree.policy());
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->workspace(), tree.ws());
  EXPECT_EQ(view->workspace_inside(), "/work");
  Result<OpenedFile> file = view->open("/work/sub/../good");
  ASSERT_TRUE(file.has_value()) << to_text(file.error());
  EXPECT_EQ(file->host, tree.ws() + "/ordinary");
  EXPECT_EQ(file->shown, "good");
  EXPECT_EQ(view->open("/usr/bin/env")->shown, "/usr/bin/env");
  EXPECT_EQ(view->open(".")->shown, ".");
}

TEST(FileViewTest, ARefusalNamesTheRuleAndTheGrant) {
  const test::AttackTree tree;
  Result<FileView> view = FileView::of_sandbox(tree.policy());
  ASSERT_TRUE(view.has_value());
  const Result<OpenedFile> hidden = view->open("hidden");
  ASSERT_FALSE(hidden.has_value());
  EXPECT_EQ(hidden.error(),
            (Error{.kind = Error::Kind::invalid,
                   .operation = "open",
                   .subject = "\"hidden\" is hidden by policy.toml:3: a test says so",
                   .hint = "--ro " + tree.ws() + "/hidden",
                   .rule = "policy.toml:3"}));
  const Result<WritePlace> readonly = view->place("readonly/file");
  ASSERT_FALSE(readonly.has_value());
  EXPECT_EQ(readonly.error().hint, "--rw " + tree.ws() + "/readonly/file");
}

TEST(FileViewTest, ScratchIsReadAndNotWritten) {
  const test::AttackTree tree;
  Policy policy = tree.policy();
  policy.rules.push_back(
      {.kind = RuleKind::overlay, .path = tree.ws() + "/sub", .origin = "--overlay"});
  Result<FileView> view = FileView::of_sandbox(policy);
  if (!view.has_value()) GTEST_SKIP() << to_text(view.error());
  EXPECT_TRUE(view->open("sub/inner").has_value());
  EXPECT_THAT(to_text(view->place("sub/inner").error()),
              HasSubstr("the private layer exists only while a command runs"));
}

TEST(FileViewTest, InTheHostViewHiddenStaysHiddenAndTheRestReadOnly) {
  const test::AttackTree tree;
  tree.tree().must("ln -s /etc/passwd ws/to-passwd");
  Policy policy = tree.policy();
  policy.view = View::host;
  Result<FileView> view = FileView::of_sandbox(policy);
  ASSERT_TRUE(view.has_value()) << to_text(view.error());
  EXPECT_EQ(view->open("to-passwd")->host, "/etc/passwd");  // shown in this view
  EXPECT_THAT(to_text(view->open("to-vault/key").error()), HasSubstr("is hidden by policy.toml:3"));
  EXPECT_THAT(to_text(view->place("to-passwd").error()), HasSubstr("is read-only by"));
  EXPECT_FALSE(view->open("../outside/secret").has_value());  // /tmp is the sandbox's own
  EXPECT_FALSE(view->open("/proc/self/root/etc/shadow").has_value());
  EXPECT_FALSE(view->open("to-proc").has_value());
  EXPECT_TRUE(view->place("sub/new").has_value());
}

TEST(FileViewTest, AReadOnlyWorkspaceIsNotWritten) {
  const test::AttackTree tree;
  Policy policy = tree.policy();
  policy.workspace_access = Access::read_only;
  Result<FileView> view = FileView::of_sandbox(policy);
  ASSERT_TRUE(view.has_value()) << to_text(view.error());
  EXPECT_TRUE(view->open("ordinary").has_value());
  EXPECT_THAT(to_text(view->place("ordinary").error()), HasSubstr("is read-only by"));
  EXPECT_THAT(to_text(view->place("a/b/c").error()), HasSubstr("is read-only by"));
  EXPECT_FALSE(test::exists(tree.ws() + "/a"));
}

}  // namespace
}  // namespace coop::tools
