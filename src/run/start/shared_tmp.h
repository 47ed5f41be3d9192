// A /tmp that outlives single sandboxes. It is a tmpfs without a name on the host, in the mount namespace of a process
// that ends with this one, kill -9 included: nothing has to be removed, and no other sandbox can find it.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <memory>
#include <mutex>

#include "base/result.h"
#include "coop/policy.h"
#include "sys/fd.h"

namespace coop {

class SharedTmp {
 public:
  // With the size and the number of files that these limits give a sandbox's own /tmp.
  static Result<std::shared_ptr<SharedTmp>> make(const Limits& limits);
  SharedTmp(const SharedTmp&) = delete;
  SharedTmp& operator=(const SharedTmp&) = delete;
  ~SharedTmp();

  // A detached mount of it, for one sandbox. Thread-safe.
  Result<UniqueFd> copy();
  // Whether it is what make() would give.
  bool fits(const Limits& limits) const;

 private:
  SharedTmp() = default;
  Result<UniqueFd> receive(const char* what);

  std::mutex mutex_{};
  UniqueFd socket_{};
  UniqueFd pidfd_{};
  std::uint64_t size_ = 0;
  std::uint64_t inodes_ = 0;
  pid_t owner_ = ::getpid();
};

}  // namespace coop
