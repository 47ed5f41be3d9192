// Explains why user namespaces are refused, from collected clues.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "host/facts.h"

namespace coop::host {

struct UserNamespaceClues {
  std::uint32_t uid = 0;
  std::optional<std::uint64_t> clone_allowed{};  // kernel.unprivileged_userns_clone (Debian)
  std::optional<std::uint64_t> limit{};          // user.max_user_namespaces
  std::optional<std::uint64_t>
      apparmor_restricts{};      // …apparmor_restrict_unprivileged_userns (Ubuntu)
  std::string apparmor_label{};  // "unconfined", "docker-default (enforce)"; empty: no AppArmor
  bool seccomp_filter = false;   // a seccomp filter is active
  bool changed_root = false;     // "/" is not the root of a mount: a chroot
  bool uid_mapped = true;        // our uid exists in the user namespace we are in
  bool supported = true;         // /proc/self/ns/user exists
  std::string nested_in{};
  Path program{};  // of coop itself
  bool operator==(const UserNamespaceClues&) const = default;
};

UserNamespaceClues gather_user_namespace_clues();

// Never available; reason and fix are chosen by the clues and the errno.
Feature judge_user_namespaces(const UserNamespaceClues& clues, int errno_value);

}  // namespace coop::host
