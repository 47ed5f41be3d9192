// Whether a program gave up a change of git's settings because their file is guarded by a mount.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "coop/host_facts.h"
#include "coop/path.h"
#include "coop/sandbox.h"
#include "sys/fd.h"

namespace coop::run {

// git writes new settings to "config.lock" and renames it over "config". Over a mount the rename fails with EBUSY, which the
// kernel tells only to git; git then removes what it has written. That is seen here. A lock without contents tells nothing:
// `git config --unset` of a name that is not set makes and removes one, too.
class LockWatch {
 public:
  // Null when no mount guards git's settings, or the user has no inotify instance left: only an explanation is lost.
  static std::unique_ptr<LockWatch> make(const std::vector<GuardedPath>& settings);

  int fd() const { return events_.get(); }
  // Takes what has happened since.
  void read_events();
  // The first path of each guard.
  const std::map<std::string, Path>& given_up() const { return given_up_; }

 private:
  struct Lock {
    GuardedPath settings{};
    bool written = false;
  };
  explicit LockWatch(UniqueFd events) : events_(std::move(events)) {}
  void take(int directory, std::string_view name, std::uint32_t mask);

  UniqueFd events_;
  std::map<std::pair<int, std::string>, Lock> locks_{};  // by watch and name
  std::map<std::string, Path> given_up_{};
};

// Those of the guarded paths found before a run that are settings of git and guarded by mounts.
std::vector<GuardedPath> mounted_settings(const std::vector<WorkspaceFacts>& before,
                                          const std::vector<Path>& mounted);

// Whether the command may be one that runs git. Closing an inotify instance takes the kernel 8 to 20 ms, more than most
// commands: other ones are watched only when they run longer.
bool mentions_git(const Command& command);

}  // namespace coop::run
