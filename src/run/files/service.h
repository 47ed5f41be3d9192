// The thread that serves a sandbox's git directories, from before the child mounts them until the sandbox has ended.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "base/result.h"
#include "guards/git/touched_files.h"
#include "guards/served/refusals.h"
#include "host/facts.h"
#include "plan/plan.h"
#include "sys/fd.h"

namespace coop::run {

class FileService {
 public:
  // Null when the plan serves nothing. `socket` receives the descriptors of /dev/fuse from the child.
  static Result<std::unique_ptr<FileService>> start(const Plan& plan,
                                                    const std::vector<WorkspaceFacts>& before,
                                                    UniqueFd socket);
  FileService(const FileService&) = delete;
  FileService& operator=(const FileService&) = delete;
  // Unmounts: what is still open inside fails with ENOTCONN.
  ~FileService();

  // Writes to guarded names so far, by guard.
  std::map<std::string, guards::Refusal> refusals() const { return refusals_.by_guard(); }
  // What the sandbox could write so far.
  guards::Touched touched() const { return touched_.all(); }

 private:
  FileService() = default;

  guards::Refusals refusals_{};
  guards::TouchedFiles touched_{};

  UniqueFd socket_{};
  UniqueFd stop_{};
  std::thread thread_{};
};

}  // namespace coop::run
