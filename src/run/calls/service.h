// The thread that answers a sandbox's calls while no caller waits for its end.
#pragma once

#include <memory>
#include <thread>

#include "base/result.h"
#include "sys/fd.h"

namespace coop::run {

class CallService {
 public:
  // `socket` receives the listener from the child.
  static Result<std::unique_ptr<CallService>> start(UniqueFd socket);
  CallService(const CallService&) = delete;
  CallService& operator=(const CallService&) = delete;
  // Calls that wait then fail with ENOSYS.
  ~CallService();

 private:
  CallService() = default;

  UniqueFd socket_{};
  UniqueFd stop_{};
  std::thread thread_{};
};

}  // namespace coop::run
