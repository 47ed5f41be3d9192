// HOME, and home directories in the host view. A list of secrets to hide can never be complete, so the view has an empty home that is
// thrown away, and on it what policies/home.txt lists. What is not listed is not there, also when it appears after the start.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/path.h"
#include "plan/view/layout.h"
#include "policy/builtin.h"

namespace coop::plan {

namespace {

// Programs and settings of everyone: an account of a service may have its home there, which does not make them private.
constexpr std::array<std::string_view, 13> kSystemTrees{
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
    "/etc", "/opt", "/nix",  "/dev", "/proc",  "/sys"};
// A home may lie in these, but is not one of them.
constexpr std::array<std::string_view, 5> kShared{"/tmp", "/var/tmp", "/run", "/mnt", "/media"};

bool is_of_the_system(const Path& path) {
  return std::ranges::any_of(kSystemTrees,
                             [&](std::string_view tree) { return is_within(path, tree); });
}

bool can_be_a_home(const Path& path) {
  const auto holds = [&](std::string_view tree) { return is_within(tree, path); };
  return !path.empty() && !is_of_the_system(path) && std::ranges::none_of(kSystemTrees, holds) &&
         std::ranges::none_of(kShared, holds);
}

Origin home_origin() { return Origin::of_coop(Part::home); }

constexpr const char* kMinimalHome = "/home/user";

// Empty and thrown away, or the kept one.
Entry home_entry(const Policy& policy, const HostFacts& host, const Path& target) {
  Entry entry{.target = target,
              .flags = {.access = Access::read_write},
              .origin = origin_of(policy, "home", "--home", to_text(policy.home))};
  if (policy.home.kind == HomeKind::kept) {
    const Path directory = kept_home(host, policy.home.name);
    const Path& canonical = host.fact(directory).canonical;
    entry.source = canonical.empty() ? directory : canonical;
    entry.kept = true;
    entry.why = "a home of its own, which coop keeps";
    return entry;
  }
  entry.kind = Entry::Kind::tmpfs;
  entry.size = policy.limits.tmp_size;
  entry.inodes = inodes_for(policy.limits);
  entry.mode = 0700;
  entry.origin = home_origin();
  entry.why = policy.view == View::host ? "an empty home; of the host's only what the list names"
                                        : "an empty home, thrown away with the sandbox";
  return entry;
}

struct OwnHome {
  Path written{};
  Path canonical{};
};

// $HOME first; the account's if it is another one.
std::vector<OwnHome> own_homes(const HostFacts& host) {
  std::vector<OwnHome> homes;
  for (const Path& home : {host.home, host.account_home}) {
    const PathFact& fact = host.fact(home);
    if (fact.target_kind != PathKind::directory || !can_be_a_home(fact.canonical)) continue;
    if (std::ranges::find(homes, fact.canonical, &OwnHome::canonical) == homes.end())
      homes.push_back({home, fact.canonical});
  }
  return homes;
}

// Where homes of other people are, as far as it is known: a whole directory of them, or a single one.
std::vector<Path> other_homes(const HostFacts& host) {
  std::vector<Path> paths{"/home", "/root"};
  const Path parent = parent_of(host.account_home);
  if (name_of(parent) == "home") paths.push_back(parent);
  paths.insert(paths.end(), host.other_homes.begin(), host.other_homes.end());
  return paths;
}

// Everything that is private, by its canonical path.
std::vector<const PathFact*> private_trees(const HostFacts& host) {
  std::vector<const PathFact*> trees;
  std::set<Path> seen;
  std::vector<Path> paths = other_homes(host);
  for (const OwnHome& home : own_homes(host)) paths.push_back(home.written);
  for (const Path& path : paths) {
    const PathFact& fact = host.fact(path);
    if (fact.target_kind == PathKind::directory && can_be_a_home(fact.canonical) &&
        seen.insert(fact.canonical).second)
      trees.push_back(&fact);
  }
  return trees;
}

// The workspace or a rule shows it: what the user names is there.
bool is_granted(const Policy& policy, const HostFacts& host, const Path& path) {
  if (is_within(path, policy.workspace)) return true;
  return std::ranges::any_of(policy.rules, [&](const PathRule& rule) {
    const bool shows = rule.kind != RuleKind::hide && rule.kind != RuleKind::protect;
    const Path& canonical = host.fact(rule.path).canonical;
    return shows && !canonical.empty() && is_within(path, canonical);
  });
}

bool is_hidden(const Policy& policy, const HostFacts& host, const std::vector<Path>& names) {
  return std::ranges::any_of(policy.rules, [&](const PathRule& rule) {
    if (rule.kind != RuleKind::hide) return false;
    const Path& canonical = host.fact(rule.path).canonical;
    return !canonical.empty() &&
           std::ranges::any_of(names, [&](const Path& name) { return is_within(name, canonical); });
  });
}

// Each run makes those that are missing; from then on they are the sandbox's own.
void add_files(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
               const Entry& home, std::vector<std::string>& notes) {
  for (const HomeFile& file : policy.home_files) {
    Entry entry{.kind = Entry::Kind::file,
                .target = normalize(file.path, home.target),
                .shape = PathKind::file,
                .flags = {.access = Access::read_write},
                .text = file.contents,
                .origin = file.origin,
                .why = "settings of the agent, unless its home has some"};
    const std::optional<Path> obstacle =
        home.kept ? obstacle_in(home, entry.target, entry.shape, host) : std::nullopt;
    // Whatever is there in the file's place is the sandbox's own.
    const bool in_place = obstacle == join(home.source, relative_to(entry.target, home.target));
    if (obstacle && !in_place)
      notes.push_back(printable(entry.target) + " is not made: the kept home has " +
                      printable(*obstacle));
    if (!obstacle) entries.push_back(std::move(entry));
  }
}

class Homes {
 public:
  Homes(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
        std::vector<std::string>& notes)
      : entries_(entries), policy_(policy), host_(host), notes_(notes), own_(own_homes(host)) {}

  void run() {
    for (const PathFact* tree : private_trees(host_)) close(*tree);
    for (const OwnHome& home : own_) open(home);
    if (policy_.home_view == HomeView::listed)
      for (const OwnHome& home : own_) add_list(home);
  }

 private:
  bool is_own(const Path& path) const {
    return std::ranges::find(own_, path, &OwnHome::canonical) != own_.end();
  }

  // Hides a home under every name: its own, other bind mounts of it, and mounts of what is in it. Not what nix-user-chroot
  // mounts at /nix: programs.
  void close(const PathFact& tree) {
    if (policy_.home_view == HomeView::shown && is_own(tree.canonical)) return;
    for (const Path& name : names_of(tree, host_)) hide(name, PathKind::directory);
    for (const Path& part : parts_of(tree, host_))
      if (!is_within(part, "/nix")) hide(part, host_.fact(part).target_kind);
  }

  void hide(const Path& name, PathKind shape) {
    if (is_own(name) || is_shown_part(name) || is_granted(policy_, host_, name)) return;
    entries_.push_back(Entry{.kind = Entry::Kind::hide,
                             .target = name,
                             .shape = shape,
                             .if_missing = Missing::skip,
                             .origin = home_origin(),
                             .why = "a home directory"});
  }

  // Another mount of a home that is shown, or of what is in it, is also one of the directory of homes around it.
  bool is_shown_part(const Path& name) const {
    if (policy_.home_view != HomeView::shown) return false;
    return std::ranges::any_of(own_, [&](const OwnHome& home) {
      const auto has = [&](const std::vector<Path>& names) {
        return std::ranges::find(names, name) != names.end();
      };
      return has(mount_aliases(home.canonical, host_.mounts)) ||
             has(mounted_parts(home.canonical, host_.mounts));
    });
  }

  // A directory of homes around it is hidden.
  bool is_closed(const Path& home) const {
    return std::ranges::any_of(private_trees(host_), [&](const PathFact* tree) {
      return tree->canonical != home && is_within(home, tree->canonical);
    });
  }

  void open(const OwnHome& home) {
    if (home.written != home.canonical)
      entries_.push_back(Entry{.kind = Entry::Kind::symlink,
                               .target = home.written,
                               .text = home.canonical,
                               .origin = home_origin(),
                               .why = "$HOME is a symlink"});
    if (is_granted(policy_, host_, home.canonical)) return;
    if (policy_.home_view == HomeView::shown && !is_closed(home.canonical)) return;
    if (policy_.home_view == HomeView::shown) {
      entries_.push_back(Entry{.target = home.canonical,
                               .source = home.canonical,
                               .origin = origin_of(policy_, "show_home", "--show-home"),
                               .why = "the home without its secrets"});
      return;
    }
    // The account's, if it is another one, is not kept.
    Policy policy = policy_;
    if (home.written != own_.front().written) policy.home = {};
    const Entry entry = home_entry(policy, host_, home.canonical);
    entries_.push_back(entry);
    if (home.written != own_.front().written) return;
    add_files(entries_, policy, host_, entry, notes_);
    if (has_profile(policy)) add_profile(entry);
  }

  void add_profile(const Entry& home) {
    Entry entry{.kind = Entry::Kind::file,
                .target = join(home.target, ".profile"),
                .shape = PathKind::file,
                .flags = {.access = Access::read_write},
                .text =
                    "# Made by coop: /etc/profile has set PATH to that of the system.\n"
                    "PATH=${COOP_PATH:-$PATH}\n",
                .origin = home_origin(),
                .why = "login shells find the programs of the home"};
    if (!is_granted(policy_, host_, entry.target) && !is_blocked(entry))
      entries_.push_back(std::move(entry));
  }

  void add_list(const OwnHome& home) {
    for (const policy::NamedReason& listed : policy::home_list()) {
      const bool below = listed.name.starts_with("~/");
      if (!below && home.written != own_.front().written) continue;
      const PathFact& fact =
          host_.fact(below ? join(home.written, listed.name.substr(2)) : Path(listed.name));
      if (fact.target_kind != PathKind::directory && fact.target_kind != PathKind::file) continue;
      add_listed(below ? join(home.canonical, listed.name.substr(2)) : fact.canonical, fact,
                 std::string(listed.reason));
    }
    const Path file = join(home.canonical, ".gitconfig");
    if (home.written == own_.front().written && !is_granted(policy_, host_, file))
      add_git_identity(
          entries_, file, host_.git_identity, home_origin(),
          policy_.home.kind == HomeKind::kept ? Access::read_write : Access::read_only);
  }

  void add_listed(const Path& target, const PathFact& fact, std::string why) {
    if (is_granted(policy_, host_, target)) return;
    std::vector<Path> names{target};
    // The list follows a symlink, which may lead to what a rule hides.
    if (!is_granted(policy_, host_, fact.canonical)) {
      names = mount_aliases(fact.canonical, host_.mounts);
      names.insert(names.end(), {target, fact.canonical});
    }
    if (is_hidden(policy_, host_, names)) return;
    Entry entry{.target = target,
                .source = fact.canonical,
                .shape = fact.target_kind,
                .origin = home_origin(),
                .why = std::move(why)};
    // Of a path with a symlink in it: a second mount of a writable tree would be a second name, free of its guards.
    if (target != fact.canonical && is_shown(fact.canonical)) {
      entry.kind = Entry::Kind::symlink;
      entry.text = std::exchange(entry.source, {});
    }
    if (!is_blocked(entry)) entries_.push_back(std::move(entry));
  }

  // What the sandbox has made in its kept home stays as it is.
  bool is_blocked(const Entry& entry) {
    const Entry* home = enclosing_entry(entries_, entry.target);
    if (home == nullptr || !home->kept) return false;
    const bool link = entry.kind == Entry::Kind::symlink;
    const std::optional<Path> obstacle =
        obstacle_in(*home, entry.target, link ? PathKind::symlink : entry.shape, host_);
    if (obstacle && entry.kind != Entry::Kind::file)
      notes_.push_back(printable(entry.target) + " of the host is not shown: the kept home has " +
                       printable(*obstacle));
    return obstacle.has_value();
  }

  bool is_shown(const Path& path) const {
    return is_granted(policy_, host_, path) ||
           std::ranges::none_of(private_trees(host_), [&](const PathFact* tree) {
             return is_within(path, tree->canonical);
           });
  }

  std::vector<Entry>& entries_;
  const Policy& policy_;
  const HostFacts& host_;
  std::vector<std::string>& notes_;
  std::vector<OwnHome> own_;
};

}  // namespace

std::vector<Path> home_paths(const Policy& policy, const HostFacts& host) {
  if (policy.view != View::host) return {};
  std::vector<Path> paths = other_homes(host);
  for (const Path& home : std::set<Path>{host.home, host.account_home}) {
    if (home.empty()) continue;
    paths.push_back(home);
    for (const policy::NamedReason& listed : policy::home_list())
      paths.push_back(policy::expand_home(listed.name, home));
  }
  return paths;
}

std::vector<Path> kept_home_parts(const Policy& policy, const HostFacts& host) {
  if (policy.home.kind != HomeKind::kept) return {};
  const PathFact& kept = host.fact(kept_home(host, policy.home.name));
  const Path home =
      policy.view == View::minimal ? Path(kMinimalHome) : host.fact(host.home).canonical;
  if (kept.kind == PathKind::missing || home.empty()) return {};
  std::vector<Path> paths;
  const auto add = [&](const Path& target) {
    if (!is_within(target, home) || target == home) return;
    for (const Path& part : ancestors_below(target, home))
      paths.push_back(join(kept.canonical, relative_to(part, home)));
    paths.push_back(join(kept.canonical, relative_to(target, home)));
  };
  add(policy.workspace);
  for (const PathRule& rule : policy.rules) add(host.fact(rule.path).canonical);
  for (const HomeFile& file : policy.home_files) add(normalize(file.path, home));
  add(join(home, ".profile"));
  if (policy.view == View::minimal) return paths;
  for (const policy::NamedReason& listed : policy::home_list())
    if (host.has(policy::expand_home(listed.name, host.home)))
      add(policy::expand_home(listed.name, home));
  return paths;
}

std::vector<Path> home_aliases(const Policy& policy, const HostFacts& host) {
  if (policy.view != View::host) return {};
  std::vector<Path> paths;
  for (const PathFact* tree : private_trees(host)) {
    for (auto& more :
         {mount_aliases(tree->canonical, host.mounts), mounted_parts(tree->canonical, host.mounts)})
      paths.insert(paths.end(), more.begin(), more.end());
    paths.push_back(tree->canonical);
  }
  return paths;
}

Path kept_home(const HostFacts& host, std::string_view name) {
  return join(join(join(host.state_directory, "homes"), name), "home");
}

Path home_target(const Policy& policy, const HostFacts& host) {
  if (policy.home.kind == HomeKind::workspace) return workspace_target(policy);
  return policy.view == View::minimal ? Path(kMinimalHome) : host.home;
}

bool has_profile(const Policy& policy) {
  return policy.view == View::host && policy.home_view == HomeView::listed &&
         policy.home.kind != HomeKind::workspace;
}

Result<void> check_home(const Policy& policy, const HostFacts& host) {
  if (policy.home.kind != HomeKind::kept) return {};
  const Origin origin = origin_of(policy, "home", "--home", to_text(policy.home));
  const Path directory = kept_home(host, policy.home.name);
  const PathFact& fact = host.fact(directory);
  if (fact.kind != PathKind::missing && fact.kind != PathKind::directory)
    return invalid(origin, in_quotes(directory) + " is no directory",
                   "remove it, or take another home with --home NAME");
  if (is_within(fact.canonical.empty() ? directory : fact.canonical, policy.workspace))
    return invalid(origin,
                   "coop's state directory " + in_quotes(host.state_directory) +
                       " lies in the workspace: what is there may have come with the repository",
                   "set XDG_STATE_HOME to another directory, or say --home ephemeral");
  if (policy.view != View::host) return {};
  if (policy.home_view == HomeView::shown)
    return invalid(origin, "a kept home replaces the home that show_home shows",
                   "leave one of them out: --home ephemeral, or no --show-home");
  const std::vector<OwnHome> own = own_homes(host);
  if (own.empty() || host.fact(host.home).canonical != own.front().canonical)
    return invalid(
        origin,
        "the home directory " + in_quotes(host.home) +
            " belongs to the system or does not exist: a kept home cannot be shown there",
        "set HOME to a directory of yours, or use --view minimal");
  if (is_granted(policy, host, own.front().canonical))
    return invalid(origin, "the home directory itself is granted, so it cannot be a kept home",
                   "work in a directory below it, or say --home ephemeral");
  return {};
}

void add_home(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
              std::vector<std::string>& notes) {
  if (policy.view != View::host) {
    if (policy.home.kind == HomeKind::workspace) return;
    const Entry home = home_entry(policy, host, kMinimalHome);
    entries.push_back(home);
    add_files(entries, policy, host, home, notes);
    return;
  }
  Homes(entries, policy, host, notes).run();
  const PathFact& home = host.fact(host.home);
  if (policy.home_view == HomeView::listed && home.target_kind == PathKind::directory &&
      !can_be_a_home(home.canonical))
    notes.push_back("the home directory " + printable(host.home) +
                    " belongs to the system: it is shown but for the secrets");
}

}  // namespace coop::plan
