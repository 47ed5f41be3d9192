// A small process that outlives a killed supervisor just long enough to clean up after it. While
// the supervisor lives it sleeps; when the supervisor ends well it is dismissed.
#pragma once

#include <functional>

#include "base/result.h"
#include "sys/fd.h"

namespace coop::run {

class Janitor {
 public:
  Janitor() = default;
  Janitor(Janitor&& other) noexcept;
  Janitor& operator=(Janitor&& other) noexcept;
  ~Janitor();

  // Forks. `cleanup` runs there, only after this process has died without dismissing it and the
  // sandbox it watches (if any) is dead too. `pidfd`: that sandbox's init, or -1 when it comes
  // later through watch(). A program with several threads sees a SIGCHLD when the janitor ends.
  static Result<Janitor> start(const std::function<void()>& cleanup, int pidfd = -1);

  // Tells it whose end to wait for.
  void watch(int pidfd) const;
  // The supervisor has cleaned up by itself. The janitor is killed; the destructor collects it.
  void dismiss() const;

 private:
  UniqueFd socket_{};
  UniqueFd pidfd_{};
};

}  // namespace coop::run
