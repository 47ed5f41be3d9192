// A command on the host that ends with everything it has started.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"

namespace coop::run {

struct KeptArguments {
  std::string program{};  // a path
  std::vector<std::string> arguments{};
  std::vector<std::string> environment{};  // NAME=VALUE
  int directory = -1;
  int output = -1;
  int error = -1;
};

// See child/tether/keeper.h.
class KeptCommand {
 public:
  static Result<KeptCommand> start(KeptArguments arguments);
  KeptCommand(KeptCommand&&) noexcept = default;
  KeptCommand& operator=(KeptCommand&&) noexcept = delete;
  ~KeptCommand();  // ends it, and waits

  int pidfd() const { return pidfd_.get(); }  // readable when nothing of it is left
  // SIGTERM, and SIGKILL two seconds later; what called setsid(2) gets SIGKILL only.
  void end() { lifeline_.reset(); }
  struct End {
    int status = 0;       // of wait(2)
    bool others = false;  // processes that it had started still ran, and were killed
  };
  // Once the pidfd is readable; an error if it could not be started.
  Result<End> wait();

 private:
  KeptCommand() = default;

  std::string program_{};
  UniqueFd pidfd_{};
  UniqueFd lifeline_{};
  UniqueFd report_{};
};

}  // namespace coop::run
