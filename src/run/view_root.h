// Root descriptor of an idle sandbox: paths that are opened below it resolve through the sandbox's mounts.
#pragma once

#include <unistd.h>

#include <memory>

#include "base/result.h"
#include "guards/quarantine.h"
#include "run/files/service.h"
#include "run/prepare.h"
#include "run/start/launch.h"
#include "sys/fd.h"

namespace coop::run {

// What decides about files, without what only a command needs: no network, and always the same id, so that two
// plans are equal when they show the same.
Policy policy_for_view(Policy policy);

class ViewRoot {
 public:
  // Changes nothing on the host.
  static Result<ViewRoot> open(const Policy& policy);
  ViewRoot(ViewRoot&&) noexcept = default;
  ViewRoot& operator=(ViewRoot&&) = delete;
  ~ViewRoot();

  // Trees below a kept home, which other sandboxes rename: they are not reached from the root.
  guards::InsideView view() const { return {root_.get(), trees_}; }
  // What holds for names: coop's own directories are hidden, also those that do not exist yet and so have no mount.
  const Prepared& prepared() const { return prepared_; }
  // The mounts go with the sandbox's last process: then nothing is found below the root any more.
  bool is_alive() const;
  // False when the host has put another file or directory in the place of one that is mounted.
  bool is_current() const;

 private:
  ViewRoot() = default;
  Result<void> receive_root(const Plan& plan);

  Prepared prepared_{};
  std::unique_ptr<FileService> files_{};
  Launched launched_{};
  UniqueFd root_{};
  std::vector<UniqueFd> directories_{};
  std::vector<guards::InsideTree> trees_{};
  pid_t owner_ = ::getpid();
};

}  // namespace coop::run
