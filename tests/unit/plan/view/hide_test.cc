// Hiding: under every name a path has, with what is granted below it still there.
#include "plan/view/layout.h"
#include "unit/support/plan_facts.h"

namespace coop::plan {
namespace {

constexpr MountFlags kMaskFlags{.access = Access::read_write, .exec = false};

TmpfsMount mask_with_grants(const Path& target) {
  return {.target = target, .size = 1 << 20, .inodes = 1024, .mode = 0755, .flags = kMaskFlags};
}

Plan hidden_by(View view, std::vector<PathRule> rules, const HostFacts& host) {
  Policy policy = policy_for(view);
  policy.home_view = HomeView::shown;
  policy.rules = std::move(rules);
  return must_compile(policy, host);
}

TEST(PlanHideTest, DirectoriesAndFilesAreHiddenInPlace) {
  HostFacts host = anns_machine();
  add_path(host, "/home/ann/.ssh");
  add_path(host, "/home/ann/.netrc", PathKind::file);
  const Plan plan = hidden_by(
      View::host,
      {rule(RuleKind::hide, "/home/ann/.ssh"), rule(RuleKind::hide, "/home/ann/.netrc")}, host);
  EXPECT_TRUE(same(about(plan, "/home/ann"),
                   {HideMount{"/home/ann/.netrc", PathKind::file}, HideMount{"/home/ann/.ssh"},
                    BindMount{kProject, kProject, kReadWrite}}));
}

TEST(PlanHideTest, NothingIsMountedWhereTheViewDoesNotShowIt) {
  HostFacts host = anns_machine();
  add_path(host, "/home/ann/.ssh");
  EXPECT_EQ(hidden_by(View::minimal, {rule(RuleKind::hide, "/home/ann/.ssh")}, host),
            hidden_by(View::minimal, {}, host));
}

TEST(PlanHideTest, AFileOfTheWorkspaceIsHiddenWhereTheWorkspaceIs) {
  HostFacts host = anns_machine();
  add_path(host, "/home/ann/project/.env", PathKind::file);
  const PathRule hide = rule(RuleKind::hide, "/home/ann/project/.env");
  EXPECT_TRUE(same(about(hidden_by(View::minimal, {hide}, host), "/work"),
                   {MakeDirectory{"/work"}, BindMount{kProject, "/work", kReadWrite},
                    HideMount{"/work/.env", PathKind::file}}));
}

TEST(PlanHideTest, ASecondMountOfTheSameDirectoryIsHiddenToo) {
  // --ro /home/ann shows the workspace a second time, at its own path.
  HostFacts host = anns_machine();
  add_path(host, "/home/ann/project/.env", PathKind::file);
  const Plan plan = hidden_by(
      View::minimal,
      {rule(RuleKind::hide, "/home/ann/project/.env"), rule(RuleKind::read_only, "/home/ann")},
      host);
  EXPECT_EQ(all_of<HideMount>(plan),
            (std::vector{HideMount{"/work/.env", PathKind::file},
                         HideMount{"/home/ann/project/.env", PathKind::file}}));
}

TEST(PlanHideTest, ASymlinkedSecretIsHiddenWhereItReallyIs) {
  HostFacts host = anns_machine();
  add_link(host, "/home/ann/.aws", "dotfiles/aws", "/home/ann/dotfiles/aws");
  const Plan plan = hidden_by(View::host, {rule(RuleKind::hide, "/home/ann/.aws")}, host);
  EXPECT_EQ(all_of<HideMount>(plan), std::vector{HideMount{"/home/ann/dotfiles/aws"}});
}

TEST(PlanHideTest, NamesFromTheHostsOwnBindMountsAreHidden) {
  HostFacts host = anns_machine();
  host.mounts = {MountFact{.device = "8:1", .root = "/", .target = "/"},
                 MountFact{.device = "8:1", .root = "/home", .target = "/srv/homes"},
                 MountFact{.device = "8:1", .root = "/home/ann/.ssh", .target = "/srv/keys"},
                 MountFact{.device = "8:2", .root = "/home", .target = "/srv/other-disk"}};
  for (const char* path :
       {"/home/ann/.ssh", "/srv/homes/ann/.ssh", "/srv/keys", "/srv/other-disk/ann/.ssh"})
    add_path(host, path);
  const PathRule hide = rule(RuleKind::hide, "/home/ann/.ssh");
  EXPECT_EQ(wanted_aliases(Policy{.rules = {hide}}, host),
            (std::vector<Path>{"/srv/homes/ann/.ssh", "/srv/keys"}));
  EXPECT_EQ(all_of<HideMount>(hidden_by(View::host, {hide}, host)),
            (std::vector{HideMount{"/srv/keys"}, HideMount{"/home/ann/.ssh"},
                         HideMount{"/srv/homes/ann/.ssh"}}));
  // In the minimal view the alias shows only through a grant.
  add_path(host, "/srv/homes");
  EXPECT_EQ(all_of<HideMount>(
                hidden_by(View::minimal, {hide, rule(RuleKind::read_only, "/srv/homes")}, host)),
            std::vector{HideMount{"/srv/homes/ann/.ssh"}});
}

// /srv/priv, of which the host shows a part elsewhere and a file in the workspace.
HostFacts machine_with_parts() {
  HostFacts host = anns_machine();
  host.mounts = {
      MountFact{.device = "8:1", .root = "/", .target = "/"},
      MountFact{.device = "8:1", .root = "/srv/priv/sub", .target = "/srv/pub"},
      MountFact{.device = "8:1", .root = "/srv/priv/key", .target = "/home/ann/project/key"},
      MountFact{.device = "8:2", .root = "/srv/priv/sub", .target = "/srv/other-disk"}};
  for (const char* path : {"/srv", "/srv/priv", "/srv/pub", "/srv/other-disk"})
    add_path(host, path);
  add_path(host, "/home/ann/project/key", PathKind::file);
  return host;
}

TEST(PlanHideTest, PartsThatTheHostMountsElsewhereAreHidden) {
  const HostFacts host = machine_with_parts();
  PathRule hide = rule(RuleKind::hide, "/srv/priv");
  EXPECT_EQ(wanted_aliases(Policy{.rules = {hide}}, host),
            (std::vector<Path>{"/srv/pub", "/home/ann/project/key"}));
  for (const Precedence precedence : {Precedence::by_order, Precedence::final}) {
    hide.precedence = precedence;
    EXPECT_EQ(all_of<HideMount>(hidden_by(View::host, {hide}, host)),
              (std::vector{HideMount{"/srv/priv"}, HideMount{"/srv/pub"},
                           HideMount{"/home/ann/project/key", PathKind::file}}));
    EXPECT_EQ(all_of<HideMount>(hidden_by(View::minimal, {hide}, host)),
              (std::vector{HideMount{"/work/key", PathKind::file}}));
  }
}

TEST(PlanHideTest, APartThatIsGrantedByItsOtherNameIsShown) {
  const PathRule hide = rule(RuleKind::hide, "/srv/priv");
  const PathRule grant = rule(RuleKind::read_only, "/srv/pub");
  for (const auto& rules : {std::vector{hide, grant}, std::vector{grant, hide}})
    EXPECT_TRUE(same(about(hidden_by(View::host, rules, machine_with_parts()), "/srv/pub"),
                     {BindMount{"/srv/pub", "/srv/pub"}}));
}

TEST(PlanHideTest, AMountOverTheAliasMeansThereIsNothingToHideThere) {
  HostFacts host = anns_machine();
  host.mounts = {MountFact{.device = "8:1", .root = "/", .target = "/"},
                 MountFact{.device = "8:1", .root = "/home", .target = "/srv/homes"}};
  add_path(host, "/home/ann/.ssh");  // /srv/homes/ann/.ssh is covered: no fact about it
  EXPECT_EQ(
      all_of<HideMount>(hidden_by(View::host, {rule(RuleKind::hide, "/home/ann/.ssh")}, host)),
      std::vector{HideMount{"/home/ann/.ssh"}});
}

TEST(PlanHideTest, MountAliasesUseTheMountThatShowsThePath) {
  const std::vector<MountFact> mounts{
      {.device = "8:1", .root = "/", .target = "/"},
      {.device = "8:2", .root = "/", .target = "/home"},
      {.device = "8:2", .root = "/ann", .target = "/mnt/ann"},
      {.device = "8:3", .root = "/", .target = "/home"}};  // covers the second
  EXPECT_EQ(mount_aliases("/home/ann/x", mounts), std::vector<Path>{});
  EXPECT_EQ(mount_aliases("/mnt/ann/x", mounts), std::vector<Path>{"/home/ann/x"});
  EXPECT_EQ(mount_aliases("/home/ann/x", {}), std::vector<Path>{});
}

TEST(PlanHideTest, AGrantBelowAHiddenDirectoryIsTheOnlyThingThere) {
  HostFacts host = anns_machine();
  add_path(host, "/opt");
  add_path(host, "/opt/vendor/sdk");
  const PathRule hide = rule(RuleKind::hide, "/opt");
  const PathRule grant = rule(RuleKind::read_only, "/opt/vendor/sdk");
  const Actions expected{mask_with_grants("/opt"), MakeDirectory{"/opt/vendor"},
                         MakeDirectory{"/opt/vendor/sdk"},
                         BindMount{"/opt/vendor/sdk", "/opt/vendor/sdk"}, Seal{"/opt"}};
  EXPECT_TRUE(same(about(hidden_by(View::host, {hide, grant}, host), "/opt"), expected));
  EXPECT_TRUE(same(about(hidden_by(View::host, {grant, hide}, host), "/opt"), expected));
}

TEST(PlanHideTest, TheWorkspaceStaysThereInAHiddenHome) {
  HostFacts host = anns_machine();
  const Plan plan = hidden_by(View::host, {rule(RuleKind::hide, "/home/ann")}, host);
  EXPECT_TRUE(
      same(about(plan, "/home"), {mask_with_grants("/home/ann"), MakeDirectory{kProject},
                                  BindMount{kProject, kProject, kReadWrite}, Seal{"/home/ann"}}));
}

TEST(PlanHideTest, ALaterGrantOfAHiddenPathShowsIt) {
  HostFacts host = anns_machine();
  add_path(host, "/home/ann/.kube");
  const PathRule hide = rule(RuleKind::hide, "/home/ann/.kube");
  const PathRule grant = rule(RuleKind::read_only, "/home/ann/.kube");
  EXPECT_TRUE(same(about(hidden_by(View::host, {hide, grant}, host), "/home/ann/.kube"),
                   {BindMount{"/home/ann/.kube", "/home/ann/.kube"}}));
  EXPECT_TRUE(same(about(hidden_by(View::host, {grant, hide}, host), "/home/ann/.kube"),
                   {HideMount{"/home/ann/.kube"}}));
}

TEST(PlanHideTest, HardLinksOfAHiddenFileAreMentioned) {
  HostFacts host = anns_machine();
  add_path(host, "/home/ann/.netrc", PathKind::file);
  host.paths["/home/ann/.netrc"].links = 3;
  const Plan plan = hidden_by(View::host, {rule(RuleKind::hide, "/home/ann/.netrc")}, host);
  EXPECT_EQ(plan.notes,
            std::vector<std::string>{
                "hidden file /home/ann/.netrc has 3 hard links: its other names are not hidden"});
}

TEST(PlanHideTest, OtherNamesOfASocketAreHidden) {
  HostFacts host = anns_machine();
  host.mounts = {MountFact{.device = "8:1", .root = "/", .target = "/"},
                 MountFact{.device = "8:1", .root = "/srv/a", .target = "/srv/alias"},
                 MountFact{.device = "8:1", .root = "/home/ann/project", .target = "/srv/w"}};
  host.sockets = {"/srv/a/s.sock", "/srv/w/dev.sock"};
  EXPECT_EQ(wanted_aliases(policy_for(View::minimal), host),
            (std::vector<Path>{"/srv/alias/s.sock", "/home/ann/project/dev.sock"}));
  for (const char* path : {"/srv/alias/s.sock", "/home/ann/project/dev.sock"})
    add_path(host, path, PathKind::socket);
  const auto hidden = [](const Path& path) {
    return HideMount{path, PathKind::file, Missing::skip};
  };
  EXPECT_EQ(all_of<HideMount>(hidden_by(View::minimal, {}, host)),
            std::vector{hidden("/work/dev.sock")});
  EXPECT_EQ(all_of<HideMount>(hidden_by(View::host, {}, host)),
            (std::vector{hidden("/srv/a/s.sock"), hidden("/srv/alias/s.sock"),
                         hidden("/srv/w/dev.sock"), hidden("/home/ann/project/dev.sock")}));
}

TEST(PlanHideTest, SocketsOfTheHostAreHiddenWhereverTheyShow) {
  HostFacts host = anns_machine();
  host.sockets = {"/home/ann/project/dev.sock", "/srv/agent.sock"};
  EXPECT_EQ(all_of<HideMount>(hidden_by(View::minimal, {}, host)),
            std::vector({HideMount{"/work/dev.sock", PathKind::file, Missing::skip}}));
  EXPECT_EQ(all_of<HideMount>(hidden_by(View::host, {}, host)),
            std::vector({HideMount{"/srv/agent.sock", PathKind::file, Missing::skip},
                         HideMount{"/home/ann/project/dev.sock", PathKind::file, Missing::skip}}));
}

}  // namespace
}  // namespace coop::plan
