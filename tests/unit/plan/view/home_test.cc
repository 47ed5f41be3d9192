// The homes of the host view.
#include "policy/builtin.h"
#include "unit/support/plan_facts.h"

namespace coop::plan {
namespace {

TmpfsMount home_at(const Path& target) { return tmpfs_at(target, 0700); }

HostFacts shared_machine() {
  HostFacts host = anns_machine();
  for (const char* path : {"/home", "/root", "/home/ann/.local/bin", "/home/ann/.rustup",
                           "/home/ann/Documents", "/srv/backup"})
    add_path(host, path);
  host.mounts = {MountFact{.device = "8:1", .root = "/", .target = "/"}};
  return host;
}

MakeFile profile_at(const Path& home) {
  return {.target = home + "/.profile",
          .contents =
              "# Made by coop: /etc/profile has set PATH to that of the system.\n"
              "PATH=${COOP_PATH:-$PATH}\n",
          .mode = 0644};
}

const Actions kListed{TmpfsMount{.target = "/home",
                                 .size = 1 << 20,
                                 .inodes = 1024,
                                 .flags = {.access = Access::read_write, .exec = false}},
                      MakeDirectory{"/home/ann"},
                      home_at("/home/ann"),
                      profile_at("/home/ann"),
                      MakeDirectory{"/home/ann/.rustup"},
                      BindMount{"/home/ann/.rustup", "/home/ann/.rustup"},
                      MakeDirectory{kProject},
                      BindMount{kProject, kProject, kReadWrite},
                      MakeDirectory{"/home/ann/.local"},
                      MakeDirectory{"/home/ann/.local/bin"},
                      BindMount{"/home/ann/.local/bin", "/home/ann/.local/bin"},
                      Seal{"/home"}};

TEST(HomeTest, OnlyWhatIsListedIsBoundOnAnEmptyHome) {
  const Plan plan = must_compile(policy_for(View::host), shared_machine());
  EXPECT_TRUE(same(about(plan, "/home"), kListed));
  EXPECT_TRUE(same(about(plan, "/root"), {HideMount{"/root", PathKind::directory, Missing::skip}}));
}

TEST(HomeTest, TheMinimalViewHasAnEmptyOneOfItsOwn) {
  EXPECT_TRUE(same(
      about(must_compile(policy_for(View::minimal), shared_machine()), "/home"),
      {MakeDirectory{"/home"}, MakeDirectory{"/home/user"},
       TmpfsMount{
           .target = "/home/user", .size = Limits{}.tmp_size, .inodes = 65536, .mode = 0700}}));
}

TEST(HomeTest, TheWorkspaceCanBeTheHome) {
  for (const View view : {View::minimal, View::host}) {
    Policy policy = policy_for(view);
    policy.home = {.kind = HomeKind::workspace};
    const Plan plan = must_compile(policy, shared_machine());
    EXPECT_EQ(plan.environment.at("HOME"), plan.workspace);
    if (view == View::minimal) EXPECT_TRUE(same(about(plan, "/home"), {}));
  }
}

TEST(HomeTest, ShownItIsOneBindAndOthersStayHidden) {
  Policy policy = policy_for(View::host);
  policy.home_view = HomeView::shown;
  const Plan plan = must_compile(policy, shared_machine());
  EXPECT_EQ(all_of<BindMount>(plan).front().source, "/dev/null");
  EXPECT_EQ(std::ranges::count(all_of<BindMount>(plan), BindMount{"/home/ann", "/home/ann"}), 1);
  EXPECT_TRUE(same(about(plan, "/root"), {HideMount{"/root", PathKind::directory, Missing::skip}}));
}

TEST(HomeTest, SecretsAreNotMountedTwice) {
  HostFacts host = shared_machine();
  add_path(host, "/home/ann/.ssh");
  Policy policy = policy_for(View::host);
  policy.rules = policy::secret_rules("/home/ann");
  EXPECT_TRUE(same(about(must_compile(policy, host), "/home"), kListed));
  // And a grant in one makes its mount point.
  add_path(host, "/home/ann/.ssh/config", PathKind::file);
  policy.rules.push_back(rule(RuleKind::read_only, "/home/ann/.ssh/config"));
  EXPECT_TRUE(
      same(about(must_compile(policy, host), "/home/ann/.ssh"),
           {MakeDirectory{"/home/ann/.ssh"}, MakeFile{.target = "/home/ann/.ssh/config"},
            BindMount{"/home/ann/.ssh/config", "/home/ann/.ssh/config", {}, PathKind::file}}));
}

TEST(HomeTest, OtherNamesAreHidden) {
  HostFacts host = shared_machine();
  host.mounts.push_back({.device = "8:1", .root = "/home/ann", .target = "/srv/backup"});
  host.mounts.push_back({.device = "8:1", .root = "/home/ann/Documents", .target = "/srv/letters"});
  host.mounts.push_back({.device = "8:2", .root = "/home/ann/Documents", .target = "/srv/other"});
  host.mounts.push_back({.device = "8:1", .root = "/home/ann/store", .target = "/nix"});
  host.mounts.push_back({.device = "8:1", .root = "/home/ann/tools", .target = "/opt/tools"});
  for (const char* path : {"/srv/letters", "/srv/other", "/nix", "/opt/tools"})
    add_path(host, path);
  const Plan plan = must_compile(policy_for(View::host), host);
  EXPECT_TRUE(
      same(about(plan, "/srv"), {HideMount{"/srv/backup", PathKind::directory, Missing::skip},
                                 HideMount{"/srv/letters", PathKind::directory, Missing::skip}}));
  EXPECT_TRUE(
      same(about(plan, "/opt"), {HideMount{"/opt/tools", PathKind::directory, Missing::skip}}));
  EXPECT_TRUE(same(about(plan, "/nix"), {})) << "programs of nix-user-chroot";
}

TEST(HomeTest, AGrantOrTheWorkspaceAboveShowsIt) {
  for (const Path& tree : {Path("/home/ann"), Path("/home")}) {
    Policy policy = policy_for(View::host);
    policy.rules = {rule(RuleKind::read_write, tree)};
    const Plan plan = must_compile(policy, shared_machine());
    EXPECT_EQ(std::ranges::count(all_of<TmpfsMount>(plan), home_at("/home/ann")), 0);
    EXPECT_EQ(all_of<BindMount>(plan).size(), 3U) << "the grant, the workspace and /dev/null";
  }
}

TEST(HomeTest, ARuleThatHidesTheHomeHidesTheListToo) {
  Policy policy = policy_for(View::host);
  policy.rules = {rule(RuleKind::hide, "/home/ann/.rustup"),
                  rule(RuleKind::hide, "/home/ann/.local")};
  HostFacts host = shared_machine();
  add_path(host, "/home/ann/.local");
  EXPECT_EQ(all_of<BindMount>(must_compile(policy, host)).size(), 2U);
}

TEST(HomeTest, AListedSymlinkToWhatARuleHidesIsNotFollowed) {
  HostFacts host = shared_machine();
  add_path(host, "/home/ann/private");
  add_path(host, "/home/ann/private/bin");
  add_link(host, "/home/ann/bin", "private/bin", "/home/ann/private/bin");
  Policy policy = policy_for(View::host);
  EXPECT_FALSE(about(must_compile(policy, host), "/home/ann/bin").empty());
  policy.rules = {rule(RuleKind::hide, "/home/ann/private")};
  EXPECT_TRUE(same(about(must_compile(policy, host), "/home/ann/bin"), {}));
  policy.rules.push_back(rule(RuleKind::read_only, "/home/ann/private/bin"));
  EXPECT_TRUE(same(about(must_compile(policy, host), "/home/ann/bin"),
                   {MakeSymlink{"/home/ann/bin", "/home/ann/private/bin"}}));
}

TEST(HomeTest, AListedSymlinkIsFollowedOrKept) {
  HostFacts host = shared_machine();
  add_link(host, "/home/ann/bin", "Documents", "/home/ann/Documents");
  add_link(host, "/home/ann/.nvm", "project/nvm", "/home/ann/project/nvm");
  add_link(host, "/home/ann/.pyenv", "/opt/pyenv", "/opt/pyenv");
  const Plan plan = must_compile(policy_for(View::host), host);
  EXPECT_EQ(all_of<MakeSymlink>(plan).back(), (MakeSymlink{"/home/ann/.pyenv", "/opt/pyenv"}));
  EXPECT_TRUE(same(about(plan, "/home/ann/.nvm"),
                   {MakeSymlink{"/home/ann/.nvm", "/home/ann/project/nvm"}}));
  EXPECT_TRUE(
      same(about(plan, "/home/ann/bin"),
           {MakeDirectory{"/home/ann/bin"}, BindMount{"/home/ann/Documents", "/home/ann/bin"}}));
}

TEST(HomeTest, AHomeThatIsASymlinkIsReplacedWhereItIs) {
  HostFacts host = shared_machine();
  host.home = "/home/link";
  add_link(host, "/home/link", "/data/ann", "/data/ann");
  add_path(host, "/data/ann");
  const Plan plan = must_compile(policy_for(View::host), host);
  EXPECT_TRUE(same(about(plan, "/data"), {home_at("/data/ann"), profile_at("/data/ann")}));
  EXPECT_TRUE(same(about(plan, "/home/link"), {MakeSymlink{"/home/link", "/data/ann"}}));
}

TEST(HomeTest, TheRootDirectoryIsNoHome) {
  HostFacts host = shared_machine();
  host.home = "/";
  add_path(host, "/");
  const Plan plan = must_compile(policy_for(View::host), host);
  EXPECT_EQ(plan.notes.size(), 1U);
  EXPECT_TRUE(same(about(plan, "/usr"), {}));
}

TEST(HomeTest, GitKnowsWhoCommits) {
  HostFacts host = shared_machine();
  host.git_identity = {.name = "Ann \"A\" \\ B\n[core]",
                       .email = "ann@example.com",
                       .aliases = {{"lg", "log --format=\"%h\""}}};
  const std::vector<MakeFile> files = all_of<MakeFile>(must_compile(policy_for(View::host), host));
  EXPECT_EQ(
      std::ranges::count(
          files, MakeFile{.target = "/home/ann/.gitconfig",
                          .contents = "[user]\n\tname = \"Ann \\\"A\\\" \\\\ B[core]\"\n\temail "
                                      "= \"ann@example.com\"\n[alias]\n\tlg = \"log "
                                      "--format=\\\"%h\\\"\"\n"}),
      1);
}

Policy with_cache(View view, std::string_view name, policy::Sharing sharing) {
  Policy policy = policy_for(view);
  policy.rules = *policy::cache_rules(name, "/home/ann", {}, sharing);
  return policy;
}

TEST(CacheTest, ACopyOverTheHostsAndAVariable) {
  HostFacts host = shared_machine();
  add_path(host, "/home/ann/.cargo/registry/cache");
  add_path(host, "/home/ann/.cargo/registry/src");
  const OverlayMount copy{"/home/ann/.cargo/registry/cache", "/home/ann/.cargo/registry/cache",
                          kTmpSize};
  for (const View view : {View::minimal, View::host}) {
    const Plan plan = must_compile(with_cache(view, "cargo", policy::Sharing::private_copy), host);
    EXPECT_EQ(std::ranges::count(all_of<OverlayMount>(plan), copy), 1);
    EXPECT_EQ(all_of<OverlayMount>(plan).size(), 2U);
    EXPECT_EQ(plan.environment.at("CARGO_HOME"), "/home/ann/.cargo");
    const Plan shared = must_compile(with_cache(view, "cargo", policy::Sharing::with_host), host);
    EXPECT_EQ(all_of<OverlayMount>(shared).size(), 1U);
    EXPECT_EQ(std::ranges::count(all_of<BindMount>(shared),
                                 BindMount{copy.lower, copy.target, kReadWrite}),
              1);
  }
  const Plan minimal =
      must_compile(with_cache(View::minimal, "cargo", policy::Sharing::private_copy), host);
  EXPECT_EQ(std::ranges::count(all_of<TmpfsMount>(minimal), tmpfs_at("/home/ann/.cargo")), 1);
}

TEST(CacheTest, ACacheWithoutEffectIsAnError) {
  EXPECT_EQ(
      must_fail(with_cache(View::minimal, "bazel", policy::Sharing::private_copy), shared_machine())
          .hint,
      "add --view host");
  Policy shown = with_cache(View::host, "pip", policy::Sharing::private_copy);
  must_compile(shown, shared_machine());
  shown.home_view = HomeView::shown;
  EXPECT_EQ(to_text(must_fail(shown, shared_machine())),
            "--cache pip: there is no cache of pip on this machine");
}

}  // namespace
}  // namespace coop::plan
