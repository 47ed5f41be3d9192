// A program of the host that works for one sandbox, and never outlives its supervisor.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"

namespace coop::run {

// Between the program and us there is a process that waits for either end: however we end, the program does too. (The
// kernel's own signal for that is gone once a program has entered a user namespace.)
class Keeper {
 public:
  // `pass` stays open in the program, under the same numbers. Its output goes to `output`.
  static Result<Keeper> start(const std::vector<std::string>& arguments,
                              const std::vector<int>& pass, int output);
  Keeper(Keeper&&) noexcept = default;
  Keeper& operator=(Keeper&&) noexcept = delete;
  ~Keeper();  // ends the program, and waits for that

  int pidfd() const { return pidfd_.get(); }  // readable when the program has ended

 private:
  Keeper() = default;
  UniqueFd lifeline_{};
  UniqueFd pidfd_{};
};

}  // namespace coop::run
