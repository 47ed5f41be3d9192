// Parses the account files directly: a static program must not call getpwnam, which loads
// libraries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coop/path.h"

namespace coop::host {

struct Account {
  std::string name{};
  Path home{};
  bool operator==(const Account&) const = default;
};

// The first line of /etc/passwd for `uid`.
std::optional<Account> parse_passwd(std::string_view text, std::uint32_t uid);

// The home directory of `name`; empty for one that is not there.
Path parse_home_of(std::string_view text, std::string_view name);

// Homes of the people in /etc/passwd (root, and ids from 1000 on) that are not below /home, each once; at most 256.
std::vector<Path> parse_homes(std::string_view text);

struct IdRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool operator==(const IdRange&) const = default;
};

// The ranges of this user in /etc/subuid or /etc/subgid, by name or by number. Empty ranges and
// those beyond 32 bits are skipped, as newuidmap would refuse them.
std::vector<IdRange> parse_subid(std::string_view text, std::string_view user, std::uint32_t uid);

// How many outer ids are mapped here: the sum over /proc/self/uid_map.
std::uint64_t parse_mapped_ids(std::string_view text);

}  // namespace coop::host
