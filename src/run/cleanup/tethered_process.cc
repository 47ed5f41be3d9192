#include "run/cleanup/tethered_process.h"

#include <fcntl.h>

#include <algorithm>

#include "child/tether/tether.h"
#include "sys/process.h"

namespace coop::run {

Result<TetheredProcess> TetheredProcess::start(const std::vector<std::string>& arguments,
                                               const std::vector<int>& pass, int output) {
  Pipe pipe = TRY(make_pipe());
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  std::vector<int> keep = pass;
  keep.push_back(pipe.read.get());
  keep.push_back(output);
  std::ranges::sort(keep);
  // Our descriptors are close-on-exec; the passed ones must not be.
  for (const int fd : pass) ::fcntl(fd, F_SETFD, 0);
  const child::Tether tether{.program = arguments.front().c_str(),
                             .arguments = words.data(),
                             .keep = keep.data(),
                             .keep_count = static_cast<std::uint32_t>(keep.size()),
                             .lifeline = pipe.read.get(),
                             .output = output};
  int pidfd = -1;
  const long pid = child::start_tethered(tether, pidfd);
  if (pid < 0) return system_error_of(static_cast<int>(-pid), "clone3");
  TetheredProcess process;
  process.pidfd_.reset(pidfd);
  process.lifeline_ = std::move(pipe.write);
  return process;
}

TetheredProcess::~TetheredProcess() {
  lifeline_.reset();
  if (pidfd_.valid()) collect(pidfd_.get());
}

}  // namespace coop::run
