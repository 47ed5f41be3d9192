// Paths as principals write them, and the files of the host that they mean.
#include <gmock/gmock.h>

#include <fcntl.h>

#include "support/harness.h"
#include "tools/file_attack_tree.h"
#include "tools/toolbox.h"

namespace coop::tools {
namespace {

using ::testing::HasSubstr;

KERNEL_TEST(FileViews, AnOpenedFileKnowsItsNames) {
  const test::AttackTree tree;
  Result<FileView> view = FileView::of_sandbox(tree.policy());
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->workspace(), tree.ws());
  EXPECT_EQ(view->workspace_inside(), "/work");
  Result<OpenedFile> file = view->open("/work/sub/../good");
  ASSERT_TRUE(file.has_value()) << to_text(file.error());
  EXPECT_EQ(file->inside, "/work/ordinary");
  EXPECT_EQ(file->shown, "good");
  EXPECT_EQ(view->open("/usr/bin/env")->shown, "/usr/bin/env");
  EXPECT_EQ(view->open(".")->shown, ".");
}

KERNEL_TEST(FileViews, ARefusalNamesTheRuleAndTheGrant) {
  const test::AttackTree tree;
  Result<FileView> view = FileView::of_sandbox(tree.policy());
  ASSERT_TRUE(view.has_value());
  const Result<OpenedFile> hidden = view->open("hidden");
  ASSERT_FALSE(hidden.has_value());
  EXPECT_EQ(hidden.error(),
            (Error{.kind = Error::Kind::refused,
                   .operation = "open",
                   .subject = "\"hidden\" is hidden by policy.toml:3: a test says so",
                   .rule = Rule{{.scope = Scope::user, .file = "policy.toml", .at = {.line = 3}}},
                   .grant = Grant{"--ro", tree.ws() + "/hidden"}}));
  const Result<WritePlace> readonly = view->place("readonly/file");
  ASSERT_FALSE(readonly.has_value());
  EXPECT_EQ(readonly.error().grant, (Grant{"--rw", tree.ws() + "/readonly/file"}));
}

KERNEL_TEST(FileViews, ScratchIsReadAndNotWritten) {
  const test::AttackTree tree;
  Policy policy = tree.policy();
  policy.rules.push_back({.kind = RuleKind::overlay,
                          .path = tree.ws() + "/sub",
                          .origin = Origin::of_flag("--overlay")});
  Result<run::ViewRoot> root = run::ViewRoot::open(run::policy_for_view(policy));
  if (!root.has_value()) GTEST_SKIP() << to_text(root.error());
  const auto shared = std::make_shared<const run::ViewRoot>(std::move(*root));
  Result<FileView> view = FileView::of_root(shared);
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(read_file(*view, {{"path", "sub/inner"}}).text, "ordinary\n");
  // What a command in this sandbox writes goes to the upper layer, and is what tools read.
  const Result<UniqueFd> file =
      open_in_root(shared->view().root, "/work/sub/inner", O_WRONLY | O_TRUNC);
  ASSERT_TRUE(file.has_value()) << to_text(file.error());
  ASSERT_TRUE(write_all(file->get(), "upper\n", "inner"));
  EXPECT_EQ(read_file(*view, {{"path", "sub/inner"}}).text, "upper\n");
  EXPECT_EQ(test::read_text(tree.ws() + "/sub/inner"), "ordinary\n");
  EXPECT_THAT(to_text(view->place("sub/inner").error()),
              HasSubstr("the private layer exists only while a command runs"));
}

KERNEL_TEST(FileViews, InTheHostViewHiddenStaysHiddenAndTheRestReadOnly) {
  const test::AttackTree tree;
  tree.tree().must("ln -s /etc/passwd ws/to-passwd");
  Policy policy = tree.policy();
  policy.view = View::host;
  Result<FileView> view = FileView::of_sandbox(policy);
  ASSERT_TRUE(view.has_value()) << to_text(view.error());
  EXPECT_EQ(view->open("to-passwd")->inside, "/etc/passwd");  // shown in this view
  EXPECT_THAT(to_text(view->open("to-vault/key").error()), HasSubstr("is hidden by policy.toml:3"));
  EXPECT_THAT(to_text(view->place("to-passwd").error()), HasSubstr("is read-only by"));
  EXPECT_FALSE(view->open("../outside/secret").has_value());  // /tmp is the sandbox's own
  EXPECT_FALSE(view->open("/proc/self/root/etc/shadow").has_value());
  EXPECT_FALSE(view->open("to-proc").has_value());
  EXPECT_TRUE(view->place("sub/new").has_value());
}

KERNEL_TEST(FileViews, AReadOnlyWorkspaceIsNotWritten) {
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

KERNEL_TEST(FileViews, ToolsReadWhatCommandsRead) {
  const test::AttackTree tree;
  for (const View shown : {View::minimal, View::host}) {
    Policy policy = tree.policy();
    policy.view = shown;
    const std::unique_ptr<Toolbox> toolbox = Toolbox::open({.policy = policy}).value();
    for (const char* const path :
         {"/etc/passwd", "/etc/group", "/etc/hostname", "/etc/shadow", "/etc/sudoers", "ordinary",
          "good", "absolute", "hidden", "/usr/lib/os-release", "/root/.bashrc"}) {
      const ToolOutput command = toolbox->call("exec", {{"program", "cat"}, {"arguments", {path}}});
      const ToolOutput file = toolbox->call("read_file", {{"path", path}});
      EXPECT_EQ(file.failed, command.failed) << path << ": " << file.text << command.text;
      const bool both = !file.failed && !command.failed;
      EXPECT_EQ(both ? file.text : "", both ? command.text : "") << path;
    }
  }
}

// Root's commands have no capability inside: a file of another user that only its owner may read is closed to root's tools, too.
KERNEL_TEST(FileViews, RootsToolsHaveNoCapabilitiesEither) {
  if (!coop::tests::is_root()) GTEST_SKIP() << "needs root";
  const test::AttackTree tree;
  tree.tree().must("cd ws && echo x > theirs && chmod 600 theirs && chown 4321 theirs");
  tree.tree().must("cd ws && mkdir closed && chown 4321 closed && chmod 755 closed");
  const std::unique_ptr<Toolbox> toolbox = Toolbox::open({.policy = tree.policy()}).value();
  EXPECT_TRUE(toolbox->call("bash", {{"command", "cat theirs"}}).failed);
  EXPECT_TRUE(toolbox->call("bash", {{"command", "echo x > closed/x"}}).failed);
  EXPECT_THAT(toolbox->call("read_file", {{"path", "theirs"}}).text, HasSubstr("EACCES"));
  EXPECT_TRUE(toolbox->call("write_file", {{"path", "closed/x"}, {"content", "x"}}).failed);
  EXPECT_FALSE(toolbox->call("read_file", {{"path", "ordinary"}}).failed);  // control
  // Nor have the threads of a search.
  tree.tree().must(
      "cd ws && for d in 1 2 3 4 5 6 7 8; do mkdir -p t/$d; for n in $(seq 40); do echo needle > "
      "t/$d/$n; done; done; chmod 600 t/*/*; chown 4321 t/*/*; echo needle > t/mine");
  const ToolOutput found = toolbox->call("search_files", {{"pattern", "needle"}, {"path", "t"}});
  EXPECT_EQ(found.structured["matches"], 1);
  EXPECT_EQ(found.structured["passed_over"], 320);
  EXPECT_FALSE(toolbox->call("bash", {{"command", "true"}}).failed);  // they are back
}

// The sandbox behind a view runs nothing: what appears meanwhile is the user's own.
KERNEL_TEST(FileViews, AViewTakesNothingAway) {
  const test::AttackTree tree;
  {
    const std::unique_ptr<Toolbox> toolbox = Toolbox::open({.policy = tree.policy()}).value();
    EXPECT_FALSE(toolbox->call("read_file", {{"path", "ordinary"}}).failed);
    tree.tree().must("echo x > ws/.envrc");
    EXPECT_FALSE(toolbox->call("read_file", {{"path", ".envrc"}}).failed);
  }
  EXPECT_TRUE(test::exists(tree.ws() + "/.envrc"));
}

// A workspace that is a home: what coop would obey there can be made neither by name nor by looking.
KERNEL_TEST(FileViews, ALookChangesNothingAndCoopsOwnDirectoriesAreHidden) {
  const test::TempTree home;
  home.write("file", "hello");
  const std::string before = ::getenv("HOME") == nullptr ? "/" : ::getenv("HOME");
  ::setenv("HOME", home.path().c_str(), 1);
  const std::unique_ptr<Toolbox> toolbox =
      Toolbox::open({.policy = Policy{.workspace = home.path()}}).value();
  EXPECT_EQ(toolbox->call("read_file", {{"path", "file"}}).text, "hello");
  EXPECT_EQ(toolbox->call("list_files", {{"hidden", true}}).text, "file\n");
  for (const char* const path : {".config/coop/policy.toml", ".local/state/coop/approved"}) {
    const ToolOutput output = toolbox->call("write_file", {{"path", path}, {"content", "x"}});
    EXPECT_THAT(output.text, HasSubstr("is hidden by")) << path;
  }
  EXPECT_EQ(home.shell("test \"$(ls -A)\" = file"), 0);
  EXPECT_FALSE(toolbox->call("write_file", {{"path", ".config/x"}, {"content", "x"}}).failed);
  ::setenv("HOME", before.c_str(), 1);
}

KERNEL_TEST(FileViews, AViewIsUsedAgainWhileItShowsTheSame) {
  const test::AttackTree tree;
  Result<FileView> first = FileView::of_sandbox(tree.policy());
  ASSERT_TRUE(first.has_value()) << to_text(first.error());
  Result<FileView> second = FileView::of_sandbox(tree.policy(), &*first);
  ASSERT_TRUE(second.has_value()) << to_text(second.error());
  EXPECT_TRUE(second->shares_sandbox_with(*first));
  tree.tree().must("mkdir ws/.vscode");
  Result<FileView> third = FileView::of_sandbox(tree.policy(), &*second);
  ASSERT_TRUE(third.has_value()) << to_text(third.error());
  EXPECT_FALSE(third->shares_sandbox_with(*first));  // it is read-only there
}

KERNEL_TEST(FileViews, ADirectoryThatTheHostHasReplacedIsShownAsItIsNow) {
  const test::AttackTree tree;
  Result<FileView> first = FileView::of_sandbox(tree.policy());
  ASSERT_TRUE(first.has_value()) << to_text(first.error());
  EXPECT_FALSE(read_file(*first, {{"path", "ordinary"}}).failed);
  tree.tree().must("mv ws old; cp -a old ws; echo new > ws/ordinary");
  Result<FileView> second = FileView::of_sandbox(tree.policy(), &*first);
  ASSERT_TRUE(second.has_value()) << to_text(second.error());
  EXPECT_NE(read_file(*first, {{"path", "ordinary"}}).text, "new\n");  // control
  EXPECT_EQ(read_file(*second, {{"path", "ordinary"}}).text, "new\n");
}

}  // namespace
}  // namespace coop::tools
