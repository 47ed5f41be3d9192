// Groups of hosts: "@github" in place of a host. What each stands for is in policies/hosts.txt.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "coop/rule.h"
#include "policy/destinations/cover.h"

namespace coop::policy {

struct HostGroup {
  std::string text{};                // "@github:22", in lower case
  std::vector<Destination> hosts{};  // in the order of the list, each once
  bool operator==(const HostGroup&) const = default;
};

constexpr bool is_group(std::string_view text) { return text.starts_with('@'); }

// "@github", "@github:22". With a port: what the whole group covers of it, so that a port never opens more.
Result<HostGroup> parse_group(std::string_view text, Portless portless);

// Without the "@", in the order of the list.
std::vector<std::string_view> group_names();
// The error for a text that is none: it names the nearest one.
std::unexpected<Error> unknown_group(std::string_view text);

// A rule for a host that a group stands for says so in its origin. The group as it was written; empty for other rules.
std::string_view group_of(const Origin& origin);
Origin in_group(Origin origin, std::string_view group);

}  // namespace coop::policy
