// Which files of served git directories the sandbox could write. A host program may give such a file a guarded name: an
// editor writes a temporary file beside .git/config, under a name of its own, and renames it.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <tuple>

namespace coop::guards {

// Device, inode, and birth in nanoseconds; 0 where the file system does not say.
using BornFile = std::tuple<std::uint64_t, std::uint64_t, std::int64_t>;

struct Touched {
  std::set<BornFile> files{};
  bool complete = false;  // false: any file may have been written

  bool may_have(const BornFile& file) const {
    const auto& [device, inode, born] = file;
    if (!complete || files.contains(file) || files.contains({device, inode, 0})) return true;
    const auto next = files.lower_bound({device, inode, 0});
    return born == 0 && next != files.end() && std::get<0>(*next) == device &&
           std::get<1>(*next) == inode;
  }
  bool operator==(const Touched&) const = default;
};

// Written by the thread that serves, read by others.
class TouchedFiles {
 public:
  void add(const BornFile& file) {
    constexpr std::size_t kMost = 200'000;
    const std::lock_guard lock(mutex_);
    if (touched_.files.size() < kMost) touched_.files.insert(file);
    else touched_.complete = touched_.complete && touched_.files.contains(file);
  }
  Touched all() const {
    const std::lock_guard lock(mutex_);
    return touched_;
  }

 private:
  mutable std::mutex mutex_{};
  Touched touched_{.complete = true};
};

}  // namespace coop::guards
