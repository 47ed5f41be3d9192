// The account files, read by hand: a static program must not call getpwnam, which loads libraries.
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

struct IdRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool operator==(const IdRange&) const = default;
};

// The ranges that /etc/subuid or /etc/subgid gives to this user, by name or by number.
// A range that is empty or leaves 32 bits is skipped, as newuidmap would refuse it.
std::vector<IdRange> parse_subid(std::string_view text, std::string_view user, std::uint32_t uid);

// How many ids of the world outside are visible here: the sum over /proc/self/uid_map.
std::uint64_t parse_mapped_ids(std::string_view text);

}  // namespace coop::host
