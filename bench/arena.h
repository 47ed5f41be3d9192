// A network namespace with a server at a public address: a sandbox refuses the loopback and private
// addresses that a server on this machine would have.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "coop/path.h"

namespace coop::bench {

inline const std::string kServerAddress = "93.184.216.34";
inline const std::string kServerPort = "8000";

// Calls `work` in a thread in that namespace; its children inherit it. `load` is network_load.
// Needs root.
Result<void> within_arena(const Path& load, const std::function<void()>& work);

}  // namespace coop::bench
