// What a served directory has refused, for the report at the end. Bounded: one entry for each guard.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "coop/path.h"

namespace coop::guards {

struct Refusal {
  Path path{};  // the first, on the host
  std::uint64_t count = 0;
};

// Written by the thread that serves, read by others.
class Refusals {
 public:
  void add(std::string_view guard, const Path& path) {
    const std::lock_guard lock(mutex_);
    Refusal& refusal = by_guard_[std::string(guard)];
    if (refusal.count++ == 0) refusal.path = path;
  }
  std::map<std::string, Refusal> by_guard() const {
    const std::lock_guard lock(mutex_);
    return by_guard_;
  }

 private:
  mutable std::mutex mutex_{};
  std::map<std::string, Refusal> by_guard_{};
};

}  // namespace coop::guards
