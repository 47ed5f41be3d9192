// Protected paths, patterns and the organisation's rules in real sandboxes, through the library.
#include "coop/sandbox.h"
#include "kernel/support.h"
#include "support/destination_rule.h"

namespace coop::tests {
namespace {

using testing::HasSubstr;

PathRule rule(RuleKind kind, const std::string& path) {
  return {.kind = kind,
          .path = path,
          .origin = {Scope::user, "policy.toml", {1, 0}},
          .reason = "the test says so"};
}

PathRule pattern(const std::string& path) {
  PathRule hide = rule(RuleKind::hide, path);
  hide.pattern = true;
  return hide;
}

// A workspace with var/data/file in it, which the rules protect.
struct Project {
  Workspace workspace{visible_place()};
  Project() {
    make_directories(workspace / "var/data/deep");
    write_file(workspace / "var/data/file", "kept\n");
    write_file(workspace / "var/other", "free\n");
  }

  Policy policy(View view, std::vector<PathRule> rules) const {
    return Policy{.view = view, .workspace = workspace.path(), .rules = std::move(rules)};
  }
  PathRule protect() const { return rule(RuleKind::protect, workspace / "var/data"); }

  // Output and exit code of a script that starts in the workspace.
  std::string run(const Policy& policy, const std::string& script) const {
    const Result<ExecOutput> done = exec(policy, script);
    if (!done) return to_text(done.error());
    return done->standard_output.text + done->standard_error.text + std::to_string(done->exit_code);
  }
};

constexpr View kBothViews[] = {View::minimal, View::host};

KERNEL_TEST(KernelProtect, AProtectedDirectoryInTheWorkspaceCannotBeWritten) {
  for (const View view : kBothViews) {
    const Project project;
    const Policy open = project.policy(view, {});
    const Policy closed = project.policy(view, {project.protect()});
    const std::string attempts[] = {"echo x >> var/data/file", "touch var/data/new",
                                    "mkdir var/data/deep/new", "rm var/data/file",
                                    "chmod 777 var/data/file", "ln var/data/file var/data/link"};
    for (const std::string& attempt : attempts)
      EXPECT_THAT(project.run(closed, "LC_ALL=C; export LC_ALL; " + attempt),
                  HasSubstr("Read-only file system"))
          << attempt;
    EXPECT_EQ(project.run(closed, "cat var/data/file"), "kept\n0");  // reading works
    EXPECT_EQ(project.run(closed, "touch var/new && ls var"),
              "data\nnew\nother\n0");  // beside it too
    EXPECT_EQ(read_file(project.workspace / "var/data/file"), "kept\n");
    // Control: without the rule all attempts work, ordered so that the file is removed last.
    for (const char* attempt :
         {"echo x >> var/data/file", "touch var/data/new", "mkdir var/data/deep/new",
          "chmod 777 var/data/file", "ln var/data/file var/data/link", "rm var/data/file"})
      EXPECT_EQ(project.run(open, attempt), "0") << attempt;
  }
}

KERNEL_TEST(KernelProtect, NeitherItNorItsParentCanBeMovedOrReplaced) {
  for (const View view : kBothViews) {
    const Project project;
    const Policy closed = project.policy(view, {project.protect()});
    for (const char* attempt :
         {"mv var/data var/gone", "mv var gone", "mkdir empty && mv -T empty var/data",
          "rm -rf var", "mv -T var/data/deep var/deep", "ln var/data/file var/link"})
      EXPECT_NE(project.run(closed, attempt).back(), '0') << attempt;
    EXPECT_EQ(read_file(project.workspace / "var/data/file"), "kept\n");
    EXPECT_TRUE(exists(project.workspace / "var/data/deep"));
    EXPECT_FALSE(exists(project.workspace / "var/link"));
    // Control: without the rule the parent directory can be moved, with its contents.
    EXPECT_EQ(project.run(project.policy(view, {}), "mv var gone && cat gone/data/file"),
              "kept\n0");
  }
}

KERNEL_TEST(KernelProtect, AProtectedFileInAGrantedTreeCannotBeWritten) {
  for (const View view : kBothViews) {
    const Project project;
    const TempDir place{visible_place()};
    write_file(place / "settings", "kept\n");
    const std::string script = "echo x >> " + (place / "settings") + "; mv " +
                               (place / "settings") + " " + (place / "gone") + "; touch " +
                               (place / "new") + " && cat " + (place / "settings");
    const PathRule grant = rule(RuleKind::read_write, place.path());
    EXPECT_THAT(
        project.run(project.policy(view, {grant, rule(RuleKind::protect, place / "settings")}),
                    script + " 2>/dev/null"),
        HasSubstr("kept\n"));
    EXPECT_EQ(read_file(place / "settings"), "kept\n");
    EXPECT_TRUE(exists(place / "new"));  // the rest of it is writable
    project.run(project.policy(view, {grant}), script);
    EXPECT_EQ(read_file(place / "gone"), "kept\nx\n");  // control
  }
}

KERNEL_TEST(KernelProtect, APrivateLayerInItIsAllowedAndOpensNothingElse) {
  for (const View view : kBothViews) {
    const Project project;
    make_directories(project.workspace / "var/data/deep/er");
    const Policy policy = project.policy(
        view, {project.protect(), rule(RuleKind::tmpfs, project.workspace / "var/data/deep/er")});
    EXPECT_EQ(project.run(policy, "echo x > var/data/deep/er/x && cat var/data/deep/er/x"), "x\n0");
    EXPECT_FALSE(exists(project.workspace / "var/data/deep/er/x"));
    // Its parent is pinned by a mount of its own, which must not be writable.
    EXPECT_NE(project.run(policy, "touch var/data/deep/x").back(), '0');
    EXPECT_FALSE(exists(project.workspace / "var/data/deep/x"));
  }
}

KERNEL_TEST(KernelProtect, GrantsAndWorkspacesInsideAreRefused) {
  const Project project;
  const auto refusal = [&](std::vector<PathRule> rules) {
    return project.run(project.policy(View::minimal, std::move(rules)), "true");
  };
  EXPECT_EQ(refusal({project.protect()}), "0");  // control
  EXPECT_THAT(
      refusal({project.protect(), rule(RuleKind::read_write, project.workspace / "var/data/deep")}),
      HasSubstr("is protected by policy.toml:1"));
  EXPECT_THAT(refusal({rule(RuleKind::protect, project.workspace.around().path())}),
              HasSubstr("which is protected by policy.toml:1"));
}

KERNEL_TEST(KernelPatterns, WhatMatchesIsHidden) {
  for (const View view : kBothViews) {
    const Project project;
    for (const char* name : {"a.env", "b.env", ".env", "plain"})
      write_file(project.workspace / name, "s3cret\n");
    make_directories(project.workspace / "deep/er");
    write_file(project.workspace / "deep/er/c.env", "s3cret\n");
    const std::string script =
        "for f in a.env b.env .env plain deep/er/c.env; do cat $f; done "
        "2>/dev/null | grep -c s3cret";
    EXPECT_EQ(project.run(project.policy(view, {}), script), "5\n0");  // control
    // A pattern matches exactly what it names: no dot files, no deeper directories.
    EXPECT_EQ(project.run(project.policy(view, {pattern(project.workspace / "*.env")}), script),
              "3\n0");
    std::vector<PathRule> many;
    for (const char* text : {"*.env", ".e*", "[p]lain", "deep/*/*.env", "?.env"})
      many.push_back(pattern(project.workspace / text));
    for (int number = 0; number < 10; ++number) {
      many.push_back(pattern(project.workspace / ("none-" + std::to_string(number) + "*/*.key")));
      many.back().if_missing = Missing::skip;
    }
    EXPECT_EQ(project.run(project.policy(view, many), script), "0\n1");
  }
}

KERNEL_TEST(KernelPatterns, NoMatchIsAnError) {
  const Project project;
  EXPECT_THAT(
      project.run(project.policy(View::minimal, {pattern(project.workspace / "*.none")}), "true"),
      HasSubstr("policy.toml:1: nothing matches"));
}

KERNEL_TEST(KernelPatterns, WhatMatchesCanBeProtected) {
  const Project project;
  PathRule protect = rule(RuleKind::protect, project.workspace / "var/d*");
  protect.pattern = true;
  const Policy policy = project.policy(View::minimal, {protect});
  EXPECT_NE(project.run(policy, "touch var/data/new").back(), '0');
  EXPECT_EQ(project.run(policy, "touch var/new"), "0");
}

KERNEL_TEST(KernelFinal, NoLaterGrantShowsWhatIsHiddenForGood) {
  const Project project;
  const TempDir place{visible_place()};
  make_directories(place / "keys");
  write_file(place / "keys/file", "s3cret\n");
  const std::string script = "cat " + (place / "keys/file") + " 2>/dev/null";
  const PathRule grant = rule(RuleKind::read_only, place / "keys");
  PathRule hide = rule(RuleKind::hide, place / "keys");
  hide.origin = {Scope::organisation, "/etc/coop/policy.toml", {2, 0}};
  for (const View view : kBothViews) {
    hide.precedence = Precedence::by_order;
    EXPECT_EQ(project.run(project.policy(view, {hide, grant}), script), "s3cret\n0");  // control
    hide.precedence = Precedence::final;
    EXPECT_THAT(project.run(project.policy(view, {hide, grant}), script),
                HasSubstr("is hidden by /etc/coop/policy.toml:2"));
    EXPECT_EQ(
        project.run(project.policy(view, {hide, rule(RuleKind::read_only, place.path())}), script),
        "1");
  }
}

KERNEL_TEST(KernelFinal, NothingIsGrantedOutOfBounds) {
  const Project project;
  const TempDir inside{visible_place()};
  const TempDir outside{visible_place()};
  write_file(inside / "file", "in\n");
  write_file(outside / "file", "out\n");
  make_symlink(outside.path(), inside / "link");
  const auto read = [&](const std::string& path) {
    Policy policy = project.policy(View::minimal, {rule(RuleKind::read_only, path)});
    policy.bounds = {.readable = std::vector<Path>{inside.path()},
                     .origin = {Scope::organisation, "/etc/coop/policy.toml", {}}};
    return project.run(policy, "cat " + path + "/file");
  };
  EXPECT_EQ(read(inside.path()), "in\n0");  // control
  EXPECT_THAT(read(outside.path()), HasSubstr("is outside what /etc/coop/policy.toml allows"));
  EXPECT_THAT(read(inside / "link"), HasSubstr("is outside what /etc/coop/policy.toml allows"));
}

KERNEL_TEST(KernelFinal, ADenialThatCannotBeKeptStartsNothing) {
  const Project project;
  Policy policy = project.policy(View::minimal, {});
  policy.network = NetworkMode::full;
  policy.deny_net = {{tests::destination("bad.example"),
                      Origin{Scope::organisation, "/etc/coop/policy.toml", {1, 0}}}};
  EXPECT_THAT(project.run(policy, "touch started"),
              testing::AnyOf(HasSubstr("cannot keep a name out"), HasSubstr("neither pasta"),
                             HasSubstr("/dev/net/tun")));
  EXPECT_FALSE(exists(project.workspace / "started"));
}

}  // namespace
}  // namespace coop::tests
