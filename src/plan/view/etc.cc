// /etc of the minimal view.
#include <algorithm>
#include <utility>

#include "base/path.h"
#include "base/wildcard.h"
#include "plan/view/layout.h"
#include "policy/builtin.h"

namespace coop::plan {

namespace {

constexpr std::string_view kEtcDirectory = "/etc/";
constexpr std::uint32_t kOverflowId = 65534;  // what the kernel shows for ids that are not mapped

// A listed path: the name right below /etc, and what follows it, with its slash.
struct Listed {
  std::string_view name;
  std::string_view rest;
};

Listed split(std::string_view path) {
  path.remove_prefix(kEtcDirectory.size());
  const std::size_t slash = std::min(path.find('/'), path.size());
  return {path.substr(0, slash), path.substr(slash)};
}

bool is_in_etc(std::string_view path) { return path.starts_with(kEtcDirectory); }

// The line of the list for a path: the name itself before wildcards, or null.
const policy::NamedReason* line_for(const Path& path) {
  const auto list = policy::etc_list();
  for (const policy::NamedReason& line : list)
    if (line.name.size() == path.size() && line.name == path) return &line;
  if (!is_in_etc(path)) return nullptr;
  const Listed found = split(path);
  for (const policy::NamedReason& line : list) {
    if (!is_in_etc(line.name) || !has_wildcard(line.name)) continue;
    const Listed wanted = split(line.name);
    if (wanted.rest == found.rest && matches_wildcard(wanted.name, found.name)) return &line;
  }
  return nullptr;
}

void add_listed(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
                const Origin& origin) {
  for (const auto& [path, fact] : host.paths) {
    const bool directory = fact.target_kind == PathKind::directory;
    if (!directory && fact.target_kind != PathKind::file) continue;
    const policy::NamedReason* const listed = line_for(path);
    if (listed == nullptr || is_hidden(policy, fact, path)) continue;
    // A symlink into /usr is kept: programs read the time zone's name from it. The target of any other may be missing inside.
    const bool link = fact.kind == PathKind::symlink && is_within(fact.canonical, "/usr");
    entries.push_back(Entry{.kind = link ? Entry::Kind::symlink : Entry::Kind::bind,
                            .target = path,
                            .source = link ? Path{} : fact.canonical,
                            .shape = directory ? PathKind::directory : PathKind::file,
                            .text = link ? fact.link : std::string{},
                            .origin = origin,
                            .why = std::string(listed->reason)});
  }
}

// A name for the caller that is valid in a line of passwd: $USER may be anything.
std::string account_name(const HostFacts& host) {
  const bool usable = !host.user.empty() && host.user != "root" && !host.user.starts_with('-') &&
                      std::ranges::all_of(host.user, [](unsigned char letter) {
                        return letter > ' ' && letter != ':' && letter != ',' && letter != 0x7f;
                      });
  return usable ? host.user : "user";
}

// Agents start the shell of the account: in the host view the user's.
std::string shell_of(const Policy& policy, const HostFacts& host) {
  const auto shell = host.environment.find("SHELL");
  const bool usable = policy.view == View::host && shell != host.environment.end() &&
                      shell->second.starts_with('/') &&
                      std::ranges::all_of(shell->second, [](unsigned char letter) {
                        return letter > ' ' && letter != ':' && letter != 0x7f;
                      });
  return usable ? shell->second : "/bin/sh";
}

struct Accounts {
  std::string passwd{};
  std::string group{};
};

// Programs fail without an account for their own id (ssh, initdb, Node's os.userInfo()). The host's other accounts stay unknown.
Accounts accounts_of(const Policy& policy, const HostFacts& host) {
  const bool as_root = policy.identity == Identity::root;
  const std::uint32_t uid = as_root ? 0 : host.uid;
  const std::uint32_t gid = as_root ? 0 : host.gid;
  const std::string home = home_target(policy, host);
  const std::string shell = shell_of(policy, host);
  Accounts accounts{
      .passwd = "root:x:0:0:root:" + (uid == 0 ? home + ":" + shell : "/root:/bin/sh") + "\n",
      .group = "root:x:0:\n"};
  const std::string name = account_name(host);
  if (uid != 0 && uid != kOverflowId)
    accounts.passwd += name + ":x:" + std::to_string(uid) + ":" + std::to_string(gid) +
                       "::" + home + ":" + shell + "\n";
  if (gid != 0 && gid != kOverflowId) accounts.group += name + ":x:" + std::to_string(gid) + ":\n";
  accounts.passwd += "nobody:x:65534:65534:nobody:" + (uid == kOverflowId ? home : "/nonexistent") +
                     ":/usr/sbin/nologin\n";
  accounts.group += "nogroup:x:65534:\n";
  return accounts;
}

Entry account_file(Entry::Kind kind, const char* path, std::string text, const Origin& origin) {
  return Entry{.kind = kind,
               .target = path,
               .text = std::move(text),
               .origin = origin,
               .why = "root, nobody and the caller; no other account of the host"};
}

}  // namespace

void add_etc(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host) {
  const Origin origin = Origin::of_coop(Part::view, to_text(View::minimal));
  add_listed(entries, policy, host, origin);
  Accounts accounts = accounts_of(policy, host);
  using Kind = Entry::Kind;
  entries.push_back(account_file(Kind::file, "/etc/passwd", std::move(accounts.passwd), origin));
  entries.push_back(account_file(Kind::file, "/etc/group", std::move(accounts.group), origin));
  add_git_identity(entries, "/etc/gitconfig", host.git_identity, origin);
  entries.push_back(Entry{.kind = Entry::Kind::symlink,
                          .target = "/etc/mtab",
                          .text = "/proc/self/mounts",
                          .origin = origin,
                          .why = "programs expect it"});
}

void add_host_accounts(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host) {
  const Origin origin = Origin::of_coop(Part::view, to_text(View::host));
  const auto is_granted = [&](const Path& path) {
    return std::ranges::any_of(policy.rules, [&](const PathRule& rule) {
      const bool shows = rule.kind != RuleKind::hide && rule.kind != RuleKind::protect;
      return shows && is_within(path, host.fact(rule.path).canonical);
    });
  };
  // A symlink leads to a list that something else makes, as on NixOS.
  const auto add = [&](const char* path, std::string text) {
    if (host.fact(path).kind == PathKind::file && !is_granted(path))
      entries.push_back(account_file(Entry::Kind::cover, path, std::move(text), origin));
  };
  Accounts accounts = accounts_of(policy, host);
  add("/etc/passwd", std::move(accounts.passwd));
  add("/etc/group", std::move(accounts.group));
}

std::vector<Path> etc_paths(std::span<const std::string> names) {
  std::vector<Path> paths;
  for (const policy::NamedReason& line : policy::etc_list()) {
    if (!is_in_etc(line.name)) {
      paths.emplace_back(line.name);
      continue;
    }
    const Listed listed = split(line.name);
    const auto add = [&](std::string_view name) {
      paths.push_back(Path(kEtcDirectory) + Path(name) + Path(listed.rest));
    };
    if (has_wildcard(listed.name)) {
      for (const std::string& name : names)
        if (matches_wildcard(listed.name, name)) add(name);
    } else if (std::ranges::binary_search(names, listed.name, {},
                                          [](std::string_view name) { return name; })) {
      add(listed.name);
    }
  }
  return paths;
}

}  // namespace coop::plan
