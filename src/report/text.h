// Values as text, for what shows it. The rooms that decide cannot include this: they join words (report/words/words.h)
// to their messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coop/result.h"
#include "coop/sandbox.h"

namespace coop::report {

// "organisation", "command line"
std::string_view to_text(Scope scope);

// "/etc/coop/policy.toml:3", "--cache cargo", "built-in secrets", "guard .git/hooks"; printable.
std::string to_text(const Origin& origin);

// The same, for a network rule with its destination: "policy.toml:3 *.example.com"; empty where there is none.
std::string to_text(const Rule& rule);
std::string to_text(const std::optional<Rule>& rule);

// "--rw '/srv/my data'": words of a shell, with nothing in them that a terminal would obey.
std::string to_text(const Grant& grant);

// The same without quoting, for hosts and ports; empty where there is none.
std::string plain_text(const std::optional<Grant>& grant);

// The rule of a denial and why it applies; the grant, or what to do where there is none.
std::string rule_text(const Denial& denial);
std::string grant_text(const Denial& denial);

// Hosts that were allowed and never reached, each with why the last attempt failed; the first twenty.
std::vector<NetworkEvent> unreached_of(const std::vector<NetworkEvent>& events);

// "could not reach example.com:443, which is allowed: ECONNREFUSED (Connection refused)"
std::string unreached_text(const NetworkEvent& event);

}  // namespace coop::report
