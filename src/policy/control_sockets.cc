#include "base/path.h"
#include "base/wildcard.h"
#include "policy/builtin.h"

namespace coop::policy {

namespace {

constexpr std::string_view kBelow = "/**";

// "/a/b" → "b", and `path` is "/a".
std::string_view take_last(std::string_view& path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view last = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
  path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  return last;
}

bool ends_with_names(std::string_view path, std::string_view names) {
  while (!names.empty()) {
    const std::string_view wanted = take_last(names);
    const std::string_view found = take_last(path);
    if (found.empty() || !matches_wildcard(wanted, found)) return false;
  }
  return true;
}

bool matches(std::string_view path, std::string_view pattern) {
  if (!pattern.starts_with('/')) return ends_with_names(path, pattern);
  if (pattern.ends_with(kBelow)) pattern.remove_suffix(kBelow.size());
  return is_within(path, pattern);
}

}  // namespace

std::optional<std::string> control_socket_reason(std::string_view path) {
  // "~" and relative paths keep their last components, which most entries of the list match.
  Path normal = normalize(path);
  if (is_within(normal, "/var/run")) normal.erase(0, std::string_view("/var").size());
  for (const NamedReason& socket : control_sockets())
    if (matches(normal, socket.name)) return std::string(socket.reason);
  return std::nullopt;
}

}  // namespace coop::policy
