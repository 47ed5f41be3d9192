// Tries every namespace, and the mounts that need them.
#pragma once

#include "host/facts.h"

namespace coop::host {

// Fills namespaces as available: for a start, where clone3 itself reports a failure.
void assume_namespaces(HostFacts& facts);

// Fills namespaces, proc and overlay.
void try_namespaces(HostFacts& facts);

}  // namespace coop::host
