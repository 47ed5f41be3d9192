#include "policy/destinations/host_groups.h"

#include <algorithm>
#include <optional>

#include "base/nearest.h"
#include "base/text.h"
#include "coop/destination.h"
#include "policy/builtin.h"
#include "policy/destinations/port_rule.h"
#include "policy/quoted.h"

namespace coop::policy {

namespace {

constexpr std::string_view kList = "`coop policy hosts` lists all groups";

// What is left of a host when only this port counts.
std::optional<Destination> at_port(const Destination& host, std::uint16_t port, Portless portless) {
  Destination asked = host;
  asked.port = port;
  if (!covers(host, asked, portless)) return std::nullopt;
  return asked;
}

Result<std::vector<Destination>> hosts_of(std::string_view name) {
  std::vector<Destination> hosts;
  for (const HostEntry& entry : host_list()) {
    if (entry.group != name) continue;
    Destination host = TRY(parse_destination(entry.host));
    hosts.push_back(std::move(host));
  }
  return hosts;
}

}  // namespace

std::unexpected<Error> unknown_group(std::string_view text) {
  std::string_view name = text;
  if (is_group(name)) name.remove_prefix(1);
  constexpr std::size_t kLongest = 64;  // comparing takes the square of it
  // For a short name three edits match anything.
  const std::size_t most = std::clamp<std::size_t>(name.size() / 3, 1, 3);
  const std::string_view near =
      name.size() > kLongest ? std::string_view() : nearest(name, group_names(), most);
  const std::string meant =
      near.empty() ? std::string() : "did you mean \"@" + std::string(near) + "\"? ";
  return invalid("host", quote(text) + " is not a group of hosts", meant + std::string(kList));
}

Result<HostGroup> parse_group(std::string_view text, Portless portless) {
  if (!is_group(text)) return unknown_group(text);
  const std::string whole = lower(text);
  const std::size_t colon = std::min(whole.find(':'), whole.size());
  HostGroup group{.text = whole};
  group.hosts = TRY(hosts_of(std::string_view(whole).substr(1, colon - 1)));
  if (group.hosts.empty()) return unknown_group(text.substr(0, colon));
  if (colon == whole.size()) return group;
  const Result<std::uint16_t> port = parse_port(std::string_view(whole).substr(colon + 1));
  if (!port)
    return invalid("host", quote(text) + " needs a port from 1 to 65535 after the colon",
                   "write @NAME or @NAME:PORT");
  std::vector<Destination> reached;
  for (const Destination& host : group.hosts)
    if (const std::optional<Destination> one = at_port(host, *port, portless);
        one && !contains(reached, *one))
      reached.push_back(*one);
  if (reached.empty())
    return invalid(
        "host",
        quote(text) + " stands for nothing: the group has no host at port " + std::to_string(*port),
        "`coop policy hosts " + whole.substr(0, colon) + "` lists its hosts");
  group.hosts = std::move(reached);
  return group;
}

std::vector<std::string_view> group_names() {
  std::vector<std::string_view> names;
  for (const HostEntry& entry : host_list())
    if (!contains(names, entry.group)) names.push_back(entry.group);
  return names;
}

std::string_view group_of(const Origin& origin) {
  return origin.part == Part::host_group ? std::string_view(origin.name) : std::string_view();
}

Origin in_group(Origin origin, std::string_view group) {
  if (group.empty()) return origin;
  origin.part = Part::host_group;
  origin.name = group;
  return origin;
}

}  // namespace coop::policy
