#include "run/built_in_secrets.h"

#include <fcntl.h>

#include <cerrno>

#include "base/path.h"
#include "host/files/glob.h"
#include "host/files/home_listing.h"
#include "policy/builtin.h"
#include "policy/credentials.h"
#include "sys/fd.h"

namespace coop::run {

namespace {

// What cannot be read to the end counts as holding some.
bool file_holds_credentials(const Path& path) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  const Result<UniqueFd> fd = open_file(path, O_RDONLY | O_NONBLOCK);
  if (!fd) return fd.error().errno_value != ENOENT;
  const Result<std::string> text = read_all(fd->get(), path, kMost);
  return !text || policy::holds_credentials(*text);
}

}  // namespace

Result<void> add_matches(std::vector<PathRule>& rules, const PathRule& rule) {
  if (!rule.path.starts_with('/'))
    return invalid(rule.origin, "the pattern \"" + printable(rule.path) + "\" is not absolute",
                   "write it from / on");
  // Only the kernel can resolve "..", and it does not resolve patterns.
  if ((rule.path + "/").contains("/../"))
    return invalid(rule.origin, "the pattern \"" + printable(rule.path) + "\" has \"..\" in it",
                   "write the directory it means");
  const std::vector<Path> matches = TRY(with_context(rule.origin, host::glob(rule.path)));
  if (matches.empty() && rule.if_missing == Missing::fail)
    return invalid(rule.origin, "nothing matches \"" + printable(rule.path) + "\"",
                   "write \"" + printable(rule.path) + "?\" if there may be nothing");
  for (const Path& match : matches) {
    PathRule one = rule;
    one.path = match;
    one.if_missing = Missing::skip;
    one.reason += " (matched " + printable(rule.path) + ")";
    one.pattern = false;
    rules.push_back(std::move(one));
  }
  return {};
}

Result<std::vector<PathRule>> built_in_secrets(const HostFacts& host) {
  std::vector<Path> homes{host.home};
  if (host.account_home != host.home) homes.push_back(host.account_home);
  std::vector<host::HomeListing> listings(homes.begin(), homes.end());
  std::vector<PathRule> rules;
  for (const policy::SecretKind kind :
       {policy::SecretKind::always, policy::SecretKind::with_credentials}) {
    std::vector<PathRule> found;
    for (PathRule& rule : policy::secret_rules(
             homes, host.environment,
             [&](const Path& home, std::size_t directory) {
               const host::HomeNames* names =
                   listings[home == homes.front() ? 0 : 1].names_in(directory);
               return names != nullptr ? &names->all() : nullptr;
             },
             kind)) {
      if (!rule.pattern) {
        found.push_back(std::move(rule));
        continue;
      }
      // What this user may not list, the sandbox may not either. And without openat2, as inside another sandbox of
      // coop, none can be started: that error says more.
      if (const Result<void> matched = add_matches(found, rule);
          !matched && matched.error().errno_value != EACCES &&
          matched.error().errno_value != ENOSYS)
        return std::unexpected(matched.error());
    }
    for (PathRule& rule : found)
      if (kind == policy::SecretKind::always || file_holds_credentials(rule.path))
        rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace coop::run
