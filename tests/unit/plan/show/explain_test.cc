// Why a path can or cannot be read or written inside, and what would allow it.
#include "plan/show/explain.h"

#include "policy/builtin.h"
#include "report/text.h"
#include "unit/support/plan_facts.h"

namespace coop::plan {
namespace {

HostFacts machine() {
  HostFacts host = anns_machine();
  for (const char* path :
       {"/opt/sdk", "/srv/data", "/srv/data/keep", "/home/ann/.ssh", "/home/ann/.local/state/coop",
        "/home/ann/project/.git", "/home/ann/project/.git/hooks", "/home/ann/project/cache"})
    add_path(host, path);
  host.workspace.guarded = {
      GuardedPath{.path = "/home/ann/project/.git/hooks", .guard = ".git/hooks"}};
  return host;
}

Policy with(View view, std::vector<PathRule> rules) {
  Policy policy = policy_for(view);
  policy.rules = policy::secret_rules("/home/ann");
  policy.rules.insert(policy.rules.end(), rules.begin(), rules.end());
  return policy;
}

Explanation explained(const Policy& policy, const Path& path, const HostFacts& host = machine()) {
  return explain(must_compile(policy, host), policy, path);
}

TEST(PlanExplainTest, NothingOfTheHostIsInTheMinimalViewByItself) {
  EXPECT_EQ(explained(with(View::minimal, {}), "/opt/sdk/file"),
            (Explanation{.path = "/opt/sdk/file",
                         .reach = Reach::absent,
                         .origin = Origin::of_coop(Part::view, "minimal"),
                         .reason = "nothing of the host is visible unless it is listed",
                         .grant = Grant{"--ro", "/opt/sdk/file"}}));
}

TEST(PlanExplainTest, ASecretIsNamedAsOneInBothViews) {
  const Explanation hidden = explained(with(View::host, {}), "/home/ann/.ssh/id_rsa");
  EXPECT_EQ(hidden, (Explanation{.path = "/home/ann/.ssh/id_rsa",
                                 .reach = Reach::hidden,
                                 .inside = "/home/ann/.ssh/id_rsa",
                                 .origin = Origin::of_coop(Part::secrets),
                                 .reason = "private keys and known hosts",
                                 .grant = Grant{"--ro", "/home/ann/.ssh/id_rsa"}}));
  Explanation absent = hidden;
  absent.reach = Reach::absent;
  absent.inside = "";
  EXPECT_EQ(explained(with(View::minimal, {}), "/home/ann/.ssh/id_rsa"), absent);
}

TEST(PlanExplainTest, TheWorkspaceIsWritableWhereItIs) {
  const Explanation expected{.path = "/home/ann/project/new",
                             .reach = Reach::writable,
                             .inside = "/work/new",
                             .origin = Origin::of_flag("--workspace", {}, Part::workspace),
                             .reason = "the directory to work in"};
  EXPECT_EQ(explained(with(View::minimal, {}), "/home/ann/project/new"), expected);
}

TEST(PlanExplainTest, AGuardIsLiftedByItsName) {
  const Explanation guarded =
      explained(with(View::minimal, {}), "/home/ann/project/.git/hooks/pre-commit");
  EXPECT_EQ(guarded.reach, Reach::readable);
  EXPECT_EQ(guarded.inside, "/work/.git/hooks/pre-commit");
  EXPECT_EQ(guarded.origin, Origin::of_coop(Part::guard, ".git/hooks"));
  EXPECT_EQ(guarded.grant, (Grant{"--allow-guarded", ".git/hooks"}));
  // A pin changes nothing.
  EXPECT_EQ(explained(with(View::minimal, {}), "/home/ann/project/.git/index").reach,
            Reach::writable);
}

TEST(PlanExplainTest, EachKindOfRuleIsWhatItSays) {
  for (const View view : {View::minimal, View::host}) {
    const auto by = [&](RuleKind kind) {
      return explained(with(view, {rule(kind, "/srv/data")}), "/srv/data/file");
    };
    const auto expected = [](Reach reach, const char* flag, std::optional<Grant> grant) {
      return Explanation{.path = "/srv/data/file",
                         .reach = reach,
                         .inside = "/srv/data/file",
                         .origin = Origin::of_flag(flag),
                         .reason = "asked for",
                         .grant = std::move(grant)};
    };
    EXPECT_EQ(by(RuleKind::read_only),
              expected(Reach::readable, "--ro", Grant{"--rw", "/srv/data/file"}));
    EXPECT_EQ(by(RuleKind::read_write), expected(Reach::writable, "--rw", std::nullopt));
    EXPECT_EQ(by(RuleKind::overlay),
              expected(Reach::scratch, "--overlay", Grant{"--rw", "/srv/data/file"}));
  }
  EXPECT_EQ(explained(with(View::host, {}), "/srv/data/file").grant,
            (Grant{"--rw", "/srv/data/file"}));
  for (const RuleKind kind : {RuleKind::hide, RuleKind::tmpfs}) {
    const Explanation hidden =
        explained(with(View::host, {rule(kind, "/srv/data")}), "/srv/data/file");
    EXPECT_EQ(hidden.reach, Reach::hidden);
    EXPECT_EQ(hidden.origin, rule(kind, "/").origin);
    EXPECT_EQ(hidden.grant, (Grant{"--ro", "/srv/data/file"}));
  }
}

TEST(PlanExplainTest, WhatItGrantsReallyAllowsMore) {
  // Take every hint at its word.
  for (const View view : {View::minimal, View::host})
    for (const char* path : {"/opt/sdk", "/srv/data", "/home/ann/.ssh"}) {
      Policy policy = with(view, {});
      Explanation found = explained(policy, path);
      for (int step = 0; found.grant; ++step) {
        ASSERT_LT(step, 3);
        const bool write = found.grant == Grant{"--rw", path};
        ASSERT_TRUE(write || found.grant == (Grant{"--ro", path}));
        policy.rules.push_back(rule(write ? RuleKind::read_write : RuleKind::read_only, path));
        found = explained(policy, path);
      }
      EXPECT_EQ(found.reach, Reach::writable) << path;
    }
}

TEST(PlanExplainTest, OfSeveralPlacesTheMostPermissiveCounts) {
  const Policy policy = with(View::minimal, {rule(RuleKind::read_only, "/home/ann")});
  const Explanation found = explained(policy, "/home/ann/project/cache");
  EXPECT_EQ(found.reach, Reach::writable);
  EXPECT_EQ(found.inside, "/work/cache");
}

TEST(PlanExplainTest, AGrantBelowAHiddenDirectoryIsSeen) {
  const Policy policy = with(
      View::host, {rule(RuleKind::hide, "/srv/data"), rule(RuleKind::read_only, "/srv/data/keep")});
  EXPECT_EQ(explained(policy, "/srv/data/keep/x").reach, Reach::readable);
  const Explanation beside = explained(policy, "/srv/data/other");
  EXPECT_EQ(beside.reach, Reach::hidden);
  EXPECT_EQ(beside.origin, Origin::of_flag("--hide"));
}

TEST(PlanExplainTest, WhatIsProtectedCannotBeGrantedByAFlag) {
  for (const Precedence precedence : {Precedence::by_order, Precedence::final}) {
    PathRule protect = rule(RuleKind::protect, "/home/ann/project/cache");
    protect.origin = in_file("/etc/coop/policy.toml", 3);
    protect.precedence = precedence;
    EXPECT_EQ(explained(with(View::minimal, {protect}), "/home/ann/project/cache/x"),
              (Explanation{.path = "/home/ann/project/cache/x",
                           .reach = Reach::readable,
                           .inside = "/work/cache/x",
                           .origin = in_file("/etc/coop/policy.toml", 3),
                           .reason = "asked for"}));
  }
}

TEST(PlanExplainTest, NothingAllowsWhatTheOrganisationHides) {
  for (const View view : {View::minimal, View::host}) {
    PathRule hide = rule(RuleKind::hide, "/srv/data");
    hide.precedence = Precedence::final;
    EXPECT_EQ(explained(with(view, {hide}), "/srv/data/x").grant, std::nullopt);
    HostFacts host = machine();
    add_link(host, "/opt/link", "/srv/data", "/srv/data");
    hide.path = "/opt/link";
    if (view == View::host) {
      EXPECT_EQ(explained(with(view, {hide}), "/srv/data/x", host).grant, std::nullopt);
    }
  }
}

TEST(PlanExplainTest, NothingAllowsWhatIsOutOfBounds) {
  Policy policy = with(View::host, {});
  policy.bounds.writable = {"/opt"};
  EXPECT_EQ(explained(policy, "/srv/data").grant, std::nullopt);
  EXPECT_EQ(explained(policy, "/opt/sdk").grant, (Grant{"--rw", "/opt/sdk"}));
  policy.view = View::minimal;
  EXPECT_EQ(explained(policy, "/srv/data").grant, (Grant{"--ro", "/srv/data"}));
  policy.bounds.readable = {"/opt"};
  EXPECT_EQ(explained(policy, "/srv/data").grant, std::nullopt);
}

TEST(PlanExplainTest, WhatIsNeverGrantedHasNoHint) {
  HostFacts host = machine();
  host.sockets = {"/srv/data/server.sock"};
  for (const View view : {View::minimal, View::host})
    for (const char* path : {"/", "/proc/1/mem", "/dev/sda", "/etc/coop/policy.toml",
                             "/home/ann/.local/state/coop/x", "/home/ann/.config/coop"})
      EXPECT_EQ(explained(with(view, {}), path, host).grant, std::nullopt) << path;
  EXPECT_EQ(explained(with(View::host, {}), "/srv/data/server.sock", host).grant, std::nullopt);
}

TEST(PlanExplainTest, TheSandboxsOwnFileSystemsHideTheHosts) {
  const Explanation process = explained(with(View::host, {}), "/proc/1");
  EXPECT_EQ(process.reach, Reach::hidden);
  EXPECT_EQ(process.origin, Origin::of_coop(Part::namespaces));
  EXPECT_EQ(explained(with(View::host, {}), "/tmp/x").reach, Reach::hidden);
  EXPECT_EQ(explained(with(View::host, {}), "/tmp/x").grant, (Grant{"--ro", "/tmp/x"}));
}

TEST(PlanExplainTest, WhatIsReadOnlyInAPrivateLayerIsNotScratch) {
  const Plan plan{
      .steps = {Step{RootTmpfs{}, Origin::of_coop(Part::view, "minimal"), "empty"},
                Step{OverlayMount{"/srv", "/srv"}, Origin::of_flag("--overlay"), "asked for"},
                Step{Remount{"/srv/data"}, in_file("policy.toml", 1), "kept"},
                Step{Remount{"/srv/data/x", kReadWrite}, in_file("policy.toml", 2), "pinned"}}};
  EXPECT_EQ(explain(plan, {}, "/srv/other").reach, Reach::scratch);
  const Explanation kept = explain(plan, {}, "/srv/data/x");
  EXPECT_EQ(kept.reach, Reach::readable);
  EXPECT_EQ(kept.origin, in_file("policy.toml", 1));
}

TEST(PlanExplainTest, TheGrantIsOneWordOfAShellAndHarmless) {
  const auto grant = [](const Path& path) {
    return report::to_text(explained(with(View::minimal, {}), path).grant.value_or(Grant{}));
  };
  EXPECT_EQ(grant("/srv/a b"), "--ro '/srv/a b'");
  EXPECT_EQ(grant("/srv/$(id)'\\x"), "--ro '/srv/$(id)'\\''\\x'");
  EXPECT_EQ(grant("/srv/caf\xc3\xa9"), "--ro '/srv/caf\xc3\xa9'");
  EXPECT_EQ(grant("/srv/\x1b[2J'\\\xff"), "--ro $'/srv/\\x1b[2J\\x27\\x5c\\xff'");
}

std::string word(Reach reach) {
  constexpr std::array kWords{"absent", "hidden", "readable", "scratch", "writable"};
  return kWords.at(static_cast<std::size_t>(reach));
}

TEST(PlanExplainTest, APathInsideIsExplainedByTheDeepestMountThatShowsIt) {
  Plan plan{.workspace = "/work"};
  plan.steps = {
      Step{.action = RootTmpfs{}},
      Step{.action = BindMount{.source = "/usr", .target = "/usr"}},
      Step{.action = TmpfsMount{.target = "/tmp"}},
      Step{.action =
               BindMount{
                   .source = "/srv/p", .target = "/work", .flags = {.access = Access::read_write}}},
      Step{.action = BindMount{.source = "/data", .target = "/work/data"}},
      Step{.action = OverlayMount{.lower = "/srv/p/o", .target = "/work/o"}},
      Step{.action = HideMount{.target = "/work/hidden"}},
      Step{.action = ProcFilesystem{}},
  };
  const auto at = [&](const Path& inside) {
    const Explanation found = explain_inside(plan, Policy{}, inside);
    return word(found.reach) + " " + found.path;
  };
  EXPECT_EQ(at("/work/a/b"), "writable /srv/p/a/b");
  EXPECT_EQ(at("/work"), "writable /srv/p");
  EXPECT_EQ(at("/work/data/x"), "readable /data/x");
  EXPECT_EQ(at("/work/database"), "writable /srv/p/database");
  EXPECT_EQ(at("/work/o/x"), "scratch /srv/p/o/x");
  EXPECT_EQ(at("/work/hidden/x"), "hidden /srv/p/hidden/x");
  EXPECT_EQ(at("/usr/bin/ls"), "readable /usr/bin/ls");
  EXPECT_EQ(at("/tmp/x"), "scratch ");
  EXPECT_EQ(at("/proc/1/root"), "readable ");
  EXPECT_EQ(at("/etc/passwd"), "absent ");
}

TEST(PlanExplainTest, WhatIsMadeForTheSandboxIsExplainedByItsName) {
  const Origin home = Origin::of_coop(Part::home);
  Plan plan;
  plan.steps = {
      Step{.action = RootTmpfs{}},
      Step{.action = MakeSymlink{.target = "/bin", .link = "usr/bin"}},
      Step{.action = BindMount{.source = "/usr", .target = "/usr"}},
      Step{.action = MakeDirectory{.target = "/etc/ssl"}},
      Step{.action = MakeFile{.target = "/etc/hosts", .contents = "x"}},
      Step{.action = TmpfsMount{.target = "/tmp"}},
      Step{.action = TmpfsMount{.target = "/dev"}},
      Step{.action = MakeSymlink{.target = "/dev/shm", .link = "/tmp"}},
      Step{.action = DevptsMount{}},
      Step{.action = ProcFilesystem{}},
      Step{.action = HideMount{.target = "/proc/keys"}},
      Step{.action = TmpfsMount{.target = "/home/ann"}, .origin = home},
      Step{.action = MakeFile{.target = "/home/ann/.gitconfig"}, .origin = home},
      Step{.action = MakeDirectory{.target = "/home/ann/.cargo"}, .origin = home},
      Step{.action = BindMount{.source = "/home/ann/.cargo/bin", .target = "/home/ann/.cargo/bin"}},
      Step{.action = Seal{"/dev"}},
      Step{.action = Seal{"/"}},
  };
  const auto at = [&](const Path& inside) {
    const Explanation found = explain_inside(plan, Policy{}, inside);
    return word(found.reach) + " " + found.inside + (found.own ? " own" : "");
  };
  EXPECT_EQ(at("/"), "readable / own");
  EXPECT_EQ(at("/etc"), "readable /etc own");
  EXPECT_EQ(at("/etc/hosts"), "readable /etc/hosts own");
  EXPECT_EQ(at("/etc/passwd"), "absent ");
  EXPECT_EQ(at("/bin/sh"), "readable /usr/bin/sh");
  EXPECT_EQ(at("/tmp"), "scratch /tmp own");
  EXPECT_EQ(at("/tmp/x"), "scratch /tmp/x");
  EXPECT_EQ(at("/dev"), "readable /dev own");
  EXPECT_EQ(at("/dev/sda"), "absent ");
  EXPECT_EQ(at("/dev/shm"), "scratch /tmp own");
  EXPECT_EQ(at("/dev/pts"), "readable /dev/pts own");
  EXPECT_EQ(at("/proc"), "readable /proc own");
  EXPECT_EQ(at("/proc/keys"), "hidden /proc/keys");
  EXPECT_EQ(at("/home"), "readable /home own");
  EXPECT_EQ(at("/home/ann"), "scratch /home/ann own");
  EXPECT_EQ(at("/home/ann/notes"), "hidden /home/ann/notes");
  EXPECT_EQ(at("/home/ann/.gitconfig"), "readable /home/ann/.gitconfig own");
  EXPECT_EQ(at("/home/ann/.cargo"), "scratch /home/ann/.cargo own");
  EXPECT_EQ(at("/home/ann/.cargo/bin/tool"), "readable /home/ann/.cargo/bin/tool");
}

}  // namespace
}  // namespace coop::plan
