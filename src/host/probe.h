// Probes what this machine offers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/facts.h"

namespace coop::host {

// quick: cheap reads only, for every start (well under a millisecond); namespaces are assumed to
// work, and clone3 reports if they do not. Under a seccomp filter, as in a container, they are tested: it may refuse any of
// the calls that follow. full: everything, by testing it.
enum class Depth { quick, full };

Result<HostFacts> probe(Depth depth);

// Adds what is at each of `paths` (absolute, normalised) to `facts.paths`.
void inspect(HostFacts& facts, std::span<const Path> paths);

// The names in a directory, sorted; none when it cannot be listed.
std::vector<std::string> names_in(const Path& directory);

// Adds where a control group could be created to `facts.cgroup`. Creates nothing.
void inspect_cgroups(HostFacts& facts);

// Adds the mount table to `facts.mounts`.
Result<void> inspect_mounts(HostFacts& facts);

// Adds listening sockets of the host to `facts.sockets`: those with a path in one of the trees in
// `shown` (canonical).
void inspect_sockets(HostFacts& facts, std::span<const Path> shown);

// Fills `facts.networks`, see host/machine/networks.h.
Result<void> inspect_networks(HostFacts& facts);

// Why user namespaces cannot be made here, after a clone3 or unshare failed with `errno_value`.
Feature explain_user_namespaces(int errno_value);

// Whether a mount covers a part of /proc, as in containers. The kernel refuses a fresh /proc then.
bool covers_proc(const std::vector<MountFact>& mounts);

// Fills proc, by testing it.
void try_proc(HostFacts& facts);

// Parsers of kernel text, fuzzed. Malformed lines are skipped.
std::vector<MountFact> parse_mountinfo(std::string_view text);

// The bound names in /proc/net/unix, unique, as written there.
std::vector<Path> parse_unix_sockets(std::string_view text);

// The isolation a default sandbox gets here: "linux (namespaces + landlock + seccomp)".
std::string isolation_name(const HostFacts& facts);

// Whether the default sandbox can run here at all.
bool can_sandbox(const HostFacts& facts);

}  // namespace coop::host
