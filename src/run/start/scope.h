// A control group that systemd's user manager makes for a sandbox: a transient scope.
#pragma once

#include "base/result.h"
#include "plan/plan.h"
#include "run/cleanup/tethered_process.h"
#include "sys/dbus/user_manager.h"

namespace coop::run {

// It ends with its last process, however we end: systemd removes the group then.
class Scope {
 public:
  // With the limits in force, checked in the file system. `plan.limits` are those of v2.
  static Result<Scope> make(const GroupPlan& plan);

  Result<void> move(int pid);
  const Path& directory() const { return directory_; }

 private:
  Scope(dbus::UserManager manager, TetheredProcess holder)
      : manager_(std::move(manager)), holder_(std::move(holder)) {}

  dbus::UserManager manager_;
  // Keeps the group until its counters have been read: a scope without processes is gone at once.
  TetheredProcess holder_;
  std::string name_{};
  Path directory_{};
};

}  // namespace coop::run
