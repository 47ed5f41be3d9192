// The groups of hosts: `policy hosts`.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/policy/policy_command.h"
#include "cli/usage/usage.h"
#include "policy/builtin.h"
#include "policy/destinations/host_groups.h"

namespace coop::cli {

namespace {

using Json = nlohmann::ordered_json;
using policy::HostEntry;

// All groups, or the one that is named, with or without "@".
Result<std::vector<std::string_view>> groups_named(const std::vector<std::string>& arguments) {
  std::vector<std::string_view> known = policy::group_names();
  if (arguments.empty()) return known;
  std::string name = lower(arguments.front());
  if (policy::is_group(name)) name.erase(0, 1);
  const auto found = std::ranges::find(known, name);
  if (found == known.end()) return policy::unknown_group(arguments.front());
  return std::vector{*found};
}

std::vector<HostEntry> entries_of(std::string_view group) {
  std::vector<HostEntry> entries;
  for (const HostEntry& entry : policy::host_list())
    if (entry.group == group) entries.push_back(entry);
  return entries;
}

std::string as_text(std::string_view group) {
  constexpr std::size_t kReasonColumn = 28;
  std::string text = "@" + std::string(group) + "\n";
  for (const HostEntry& entry : entries_of(group)) {
    std::string line = "  " + std::string(entry.host);
    line.resize(std::max(line.size() + 2, kReasonColumn), ' ');
    text += line + std::string(entry.reason) + "\n";
  }
  return text;
}

Json as_json(std::string_view group) {
  Json hosts = Json::array();
  for (const HostEntry& entry : entries_of(group))
    hosts.push_back({{"host", entry.host}, {"reason", entry.reason}});
  return {{"group", "@" + std::string(group)}, {"hosts", std::move(hosts)}};
}

}  // namespace

Result<int> policy_hosts(const Parsed& flags) {
  const std::vector<std::string_view> groups = TRY(groups_named(flags.arguments));
  std::string text;
  Json json = Json::array();
  for (const std::string_view group : groups) {
    text += as_text(group);
    json.push_back(as_json(group));
  }
  TRY(print_all(flags.has("--json") ? json.dump(2) + "\n" : text));
  return 0;
}

}  // namespace coop::cli
