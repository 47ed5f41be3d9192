// The lists coop ships, and the words of a policy.
#include "policy/policy.h"

#include <gmock/gmock.h>

#include <set>

#include "base/path.h"
#include "policy/builtin.h"
#include "policy/variables.h"

namespace coop::policy {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

const PathRule* find(const std::vector<PathRule>& rules, const Path& path) {
  const auto found = std::ranges::find(rules, path, &PathRule::path);
  return found == rules.end() ? nullptr : &*found;
}

TEST(SecretsTest, AreHiddenOptionalAndReasoned) {
  const std::vector<PathRule> rules = secret_rules("/home/ann");
  const PathRule expected{.kind = RuleKind::hide,
                          .path = "/home/ann/.ssh",
                          .if_missing = Missing::skip,
                          .origin = Origin::of_coop(Part::secrets),
                          .reason = "private keys and known hosts"};
  ASSERT_NE(find(rules, "/home/ann/.ssh"), nullptr);
  EXPECT_EQ(*find(rules, "/home/ann/.ssh"), expected);
  for (const PathRule& rule : rules) {
    EXPECT_EQ(rule.kind, RuleKind::hide) << rule.path;
    EXPECT_EQ(rule.if_missing, Missing::skip) << rule.path;
    EXPECT_FALSE(rule.reason.empty()) << rule.path;
    EXPECT_EQ(normalize(rule.path), rule.path);
  }
}

TEST(SecretsTest, HaveWhatEveryoneKeepsSecret) {
  const std::vector<PathRule> rules = secret_rules("/home/ann");
  for (const char* path :
       {"/home/ann/.gnupg", "/home/ann/.aws", "/home/ann/.netrc", "/home/ann/.kube",
        "/home/ann/.config/gh", "/home/ann/.git-credentials", "/home/ann/.bash_history",
        "/home/ann/.local/state/coop", "/etc/shadow", "/root"})
    EXPECT_NE(find(rules, path), nullptr) << path;
}

TEST(SecretsTest, NeverHideTheHomeTheyAreFor) {
  // The administrator's home is in the list; for the administrator it is the place to work in.
  EXPECT_EQ(find(secret_rules("/root"), "/root"), nullptr);
  EXPECT_NE(find(secret_rules("/root"), "/root/.ssh"), nullptr);
  EXPECT_EQ(find(secret_rules("/root/deeper"), "/root"), nullptr);
}

TEST(SecretsTest, AreHiddenInEveryHomeAndWhereTheVariablesSay) {
  const std::vector<Path> homes{"/tmp/x", "/home/ann", ""};
  const std::vector<PathRule> rules =
      secret_rules(homes, {{"XDG_CONFIG_HOME", "/home/ann/xc"}, {"XDG_DATA_HOME", "relative"}});
  for (const char* path :
       {"/tmp/x/.ssh", "/home/ann/.ssh", "/home/ann/.config/gh", "/home/ann/xc/gh"})
    EXPECT_NE(find(rules, path), nullptr) << path;
  for (const PathRule& rule : rules)
    EXPECT_EQ(std::ranges::count(rules, rule.path, &PathRule::path), 1) << rule.path;
}

TEST(SecretsTest, WithoutAHomeOnlyTheMachinesOwnAreListed) {
  for (const PathRule& rule : secret_rules(Path()))
    EXPECT_TRUE(rule.path.starts_with("/")) << rule.path;
  EXPECT_NE(find(secret_rules(Path()), "/etc/shadow"), nullptr);
}

TEST(SecretsTest, PatternsMatchBelowTheHomeOnly) {
  const Path home = "/home/a[b]*";
  const std::vector<PathRule> rules = secret_rules({&home, 1});
  const PathRule* pattern = find(rules, "/home/a[[]b][*]/.nvm/versions/node/*/etc/npmrc");
  ASSERT_NE(pattern, nullptr);
  EXPECT_TRUE(pattern->pattern);
  EXPECT_FALSE(find(rules, "/home/a[b]*/.ssh")->pattern);
}

TEST(SecretsTest, FilesThatProgramsNeedAreListedApart) {
  const Path home = "/home/ann";
  const Path file = "/home/ann/.pyenv/.git/config";
  EXPECT_EQ(find(secret_rules(home), file), nullptr);
  EXPECT_NE(find(secret_rules({&home, 1}, {}, {}, SecretKind::with_credentials), file), nullptr);
}

TEST(SecretsTest, ASpaceInAPathIsOne) {
  EXPECT_NE(find(secret_rules("/home/ann"), "/home/ann/.config/Bitwarden CLI"), nullptr);
}

TEST(SecretsTest, WhatCannotExistIsLeftOut) {
  const Path home = "/home/ann";
  const std::vector<std::string> names{".ssh", "gh", "unheard-of"};
  const std::vector<std::string> none;
  const std::vector<PathRule> rules =
      secret_rules({&home, 1}, {}, [&](const Path&, std::size_t directory) {
        return kSettingsDirectories[directory] == ".cache" ? nullptr
               : directory <= 1                            ? &names
                                                           : &none;
      });
  EXPECT_NE(find(rules, "/home/ann/.ssh"), nullptr);
  EXPECT_EQ(find(rules, "/home/ann/.aws"), nullptr);
  EXPECT_NE(find(rules, "/home/ann/.config/gh"), nullptr);
  EXPECT_EQ(find(rules, "/home/ann/.config/gcloud"), nullptr);
  EXPECT_NE(find(rules, "/home/ann/.local/state/coop"), nullptr) << "coop makes it";
  EXPECT_NE(find(rules, "/etc/shadow"), nullptr);
  EXPECT_TRUE(std::ranges::any_of(rules, [](const PathRule& rule) {
    return rule.path.starts_with("/home/ann/.cache/");
  })) << "what is not known may be there";
}

// Of two homes each has its own names.
TEST(SecretsTest, AllThatMayExistIsFound) {
  const std::vector<Path> homes{"/home/ann", "/srv/ann"};
  const std::vector<std::string> all = [] {
    std::vector<std::string> names;
    for (const PathRule& rule : secret_rules(Path("/h")))
      if (rule.path.starts_with("/h/"))
        for (std::string_view rest = std::string_view(rule.path).substr(3); !rest.empty();
             rest = rest.substr(std::min(rest.size(), rest.find('/') + 1)))
          if (names.emplace_back(rest.substr(0, rest.find('/'))); !rest.contains('/')) break;
    return names;
  }();
  const std::vector<std::string> none;
  const auto of_first = [&](const Path& home, std::size_t) {
    return home == homes.front() ? &all : &none;
  };
  std::vector<PathRule> expected = secret_rules({homes.data(), 1});
  std::erase_if(expected, [](const PathRule& rule) { return rule.pattern; });
  for (const PathRule& rule : expected)
    EXPECT_NE(find(secret_rules(homes, {}, of_first), rule.path), nullptr) << rule.path;
}

TEST(HomeListTest, NothingOnItIsASecret) {
  const std::vector<PathRule> secrets = secret_rules("/home/ann");
  for (const NamedReason& listed : home_list())
    for (const PathRule& secret : secrets) {
      const Path path = expand_home(listed.name, "/home/ann");
      EXPECT_FALSE(is_within(path, secret.path)) << path;
    }
}

TEST(CachesTest, ArePrivateCopiesOptionalAndBelowTheHome) {
  const auto rules = cache_rules("cargo", "/home/ann", {});
  ASSERT_TRUE(rules.has_value());
  std::vector<Path> paths;
  for (const PathRule& rule : *rules) {
    paths.push_back(rule.path);
    EXPECT_EQ(rule.kind, RuleKind::overlay);
    EXPECT_EQ(rule.if_missing, Missing::skip);
    EXPECT_EQ(rule.origin, Origin::of_flag("--cache", "cargo", Part::cache));
  }
  EXPECT_EQ(paths,
            (std::vector<Path>{"/home/ann/.cargo/registry/cache", "/home/ann/.cargo/registry/index",
                               "/home/ann/.cargo/registry/src", "/home/ann/.cargo/git"}));
}

TEST(CachesTest, SharedIsOnlyWhatTheToolchainChecks) {
  std::set<Path> writable;
  for (const std::string_view name : cache_names())
    if (const auto rules = cache_rules(name, "/home/ann", {}, Sharing::with_host))
      for (const PathRule& rule : *rules)
        if (rule.kind == RuleKind::read_write) writable.insert(rule.path);
  EXPECT_EQ(writable, (std::set<Path>{"/home/ann/.cargo/registry/cache", "/home/ann/.npm/_cacache",
                                      "/home/ann/.cache/pypoetry/artifacts"}));
  const auto refused = cache_rules("pip", "/home/ann", {}, Sharing::with_host);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(to_text(refused.error()),
            "--share-cache: the host would run what is in the cache of pip without checking it");
  EXPECT_EQ(refused.error().hint,
            "take a private copy: --cache pip, or cache_volumes in a file; what can be shared: "
            "cargo, npm, "
            "poetry");
}

TEST(CachesTest, FollowTheVariableWhenItIsAbsolute) {
  const auto path_with = [](const char* value) {
    const auto rules = cache_rules("pip", "/home/ann", {{"PIP_CACHE_DIR", value}});
    return rules && rules->size() == 1 ? rules->front().path : Path("?");
  };
  EXPECT_EQ(path_with("/big/../big/pip"), "/big/pip");
  EXPECT_EQ(path_with("relative"), "/home/ann/.cache/pip");
  EXPECT_EQ(path_with(""), "/home/ann/.cache/pip");
}

TEST(CachesTest, NeverAGrantOfWhatIsSecret) {
  const std::vector<PathRule> secrets = secret_rules("/home/ann");
  std::set<std::string_view> names;
  for (const CacheEntry& cache : caches()) names.insert(cache.name);
  for (const std::string_view name : names) {
    const auto rules = cache_rules(name, "/home/ann", {});
    ASSERT_TRUE(rules.has_value()) << name;
    for (const PathRule& rule : *rules)
      for (const PathRule& secret : secrets)  // an empty directory in its place shows nothing of it
        EXPECT_FALSE(rule.kind != RuleKind::tmpfs && is_within(rule.path, secret.path))
            << rule.path;
  }
}

TEST(CachesTest, AnUnknownNameIsAnErrorThatListsTheKnown) {
  const auto rules = cache_rules("carg\x1bo", "/home/ann", {});
  ASSERT_FALSE(rules.has_value());
  EXPECT_EQ(to_text(rules.error()), "--cache: \"carg\\x1bo\" is not a known cache");
  EXPECT_THAT(rules.error().hint, HasSubstr("cargo, "));
}

TEST(GuardsTest, AllAreInForceButTheAllowed) {
  const auto all = guard_names({});
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->size(), guards().size());
  for (const char* name : {".git", ".git/hooks", ".git/config", ".coop", ".mcp.json", ".vscode",
                           ".envrc", ".github/workflows"})
    EXPECT_THAT(*all, Contains(name));
  const std::vector<std::string> allowed{".envrc", ".git/config"};
  const auto some = guard_names(allowed);
  ASSERT_TRUE(some.has_value());
  EXPECT_EQ(some->size(), all->size() - 2);
  EXPECT_THAT(*some, Not(Contains(".envrc")));
  EXPECT_THAT(*some, Not(Contains(".git/config")));
}

TEST(GuardsTest, AnUnknownNameIsAnErrorAndNotIgnored) {
  for (const char* name : {".git/hook", "", "hooks", ".GIT/HOOKS", ".git/hooks/"}) {
    const std::vector<std::string> allowed{name};
    EXPECT_FALSE(guard_names(allowed).has_value()) << name;
  }
}

TEST(HomeTest, OnlyALeadingTildeIsTheHome) {
  EXPECT_EQ(expand_home("~", "/home/ann"), "/home/ann");
  EXPECT_EQ(expand_home("~/x/../y", "/home/ann"), "/home/ann/y");
  EXPECT_EQ(expand_home("~bob/x", "/home/ann"), "~bob/x");
  EXPECT_EQ(expand_home("/a/~/b", "/home/ann"), "/a/~/b");
}

TEST(PolicyTest, DefaultsAreTheSafeOnes) {
  const Policy policy;
  EXPECT_EQ(policy.view, View::minimal);
  EXPECT_EQ(policy.network, NetworkMode::none);
  EXPECT_EQ(policy.identity, Identity::self);
  EXPECT_EQ(policy.limits.pids, 4096u);
  EXPECT_EQ(policy.need(Mechanism::proc), Need::required);
  EXPECT_EQ(policy.need(Mechanism::landlock), Need::best_effort);
  EXPECT_EQ(policy.need(Mechanism::limits), Need::best_effort);
  EXPECT_EQ(PathRule{}.kind, RuleKind::hide);
}

TEST(PolicyTest, MechanismsHaveNames) {
  for (const Mechanism mechanism : {Mechanism::landlock, Mechanism::proc, Mechanism::limits})
    EXPECT_EQ(parse_mechanism(to_text(mechanism)), mechanism);
  for (const char* bad : {"", "Landlock", "seccomp", "landlock "})
    EXPECT_FALSE(parse_mechanism(bad).has_value()) << bad;
}

TEST(VariablesTest, WhatInjectsCodeIsRefusedUnlessNamed) {
  for (const char* name :
       {"LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH",
        "BASH_ENV", "ENV", "PYTHONPATH", "PYTHONSTARTUP", "NODE_OPTIONS", "RUBYOPT", "PERL5OPT",
        "PERL5LIB", "GCONV_PATH", "JAVA_TOOL_OPTIONS"}) {
    const Result<void> checked = check_variable(name, "--env", {});
    ASSERT_FALSE(checked.has_value()) << name;
    EXPECT_EQ(checked.error().hint, std::string("if you intend this, add --unsafe-env ") + name);
    EXPECT_TRUE(check_variable(name, "--env", std::vector<std::string>{name}).has_value()) << name;
  }
  for (const char* name : {"PATH", "LANG", "ENVIRONMENT", "MY_LD_PRELOAD", "PYTHON", "ld_preload"})
    EXPECT_TRUE(check_variable(name, "--env", {}).has_value()) << name;
}

}  // namespace
}  // namespace coop::policy
