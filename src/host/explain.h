// Explains why user namespaces, or calls in them, are refused, from collected clues.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

// What a start needs a call for.
enum class Needed : std::uint8_t { namespaces, mounts, hostname };

UserNamespaceClues gather_user_namespace_clues();

// Never available; reason and fix are chosen by the clues and the errno.
Feature judge_user_namespaces(const UserNamespaceClues& clues, int errno_value);

// The same for a system call that a start makes in its new namespaces, such as "open_tree".
Feature judge_refused_call(const UserNamespaceClues& clues, Needed needed, std::string_view call,
                           int errno_value);

// Why a fresh /proc cannot be mounted although namespaces and mounts work.
Feature judge_refused_proc(std::string_view nested_in);

// judge_refused_call() with the clues of this process.
Feature explain_refused_call(Needed needed, std::string_view call, int errno_value);

}  // namespace coop::host
