// A program of the host that works for one sandbox and never outlives its supervisor.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "child/tether/tether.h"
#include "sys/fd.h"

namespace coop::run {

// See child/tether/tether.h for how it ends with us, however we end.
class TetheredProcess {
 public:
  // `pass` stays open in the program, under the same numbers. Its output goes to `output`.
  static Result<TetheredProcess> start(const std::vector<std::string>& arguments,
                                       const std::vector<int>& pass, int output);
  // Without a program: a process that only exists.
  static Result<TetheredProcess> start_empty();
  TetheredProcess(TetheredProcess&&) noexcept = default;
  TetheredProcess& operator=(TetheredProcess&&) noexcept = delete;
  ~TetheredProcess();  // kills the program, and waits for it

  int pidfd() const { return pidfd_.get(); }  // readable when the program has exited
  int pid() const { return pid_; }            // of the process between us and the program

 private:
  TetheredProcess() = default;
  static Result<TetheredProcess> start(child::Tether tether, std::vector<int> keep);

  UniqueFd pidfd_{};
  int pid_ = 0;
  UniqueFd lifeline_{};
};

}  // namespace coop::run
