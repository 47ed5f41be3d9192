#include "run/cleanup/tethered_process.h"

#include <fcntl.h>

#include <algorithm>

#include "sys/process.h"

namespace coop::run {

Result<TetheredProcess> TetheredProcess::start(child::Tether tether, std::vector<int> keep) {
  Pipe pipe = TRY(make_pipe());
  keep.push_back(pipe.read.get());
  std::ranges::sort(keep);
  tether.keep = keep.data();
  tether.keep_count = static_cast<std::uint32_t>(keep.size());
  tether.lifeline = pipe.read.get();
  int pidfd = -1;
  const long pid = child::start_tethered(tether, pidfd);
  if (pid < 0) return system_error_of(static_cast<int>(-pid), "clone3");
  TetheredProcess process;
  process.pidfd_.reset(pidfd);
  process.pid_ = static_cast<int>(pid);
  process.lifeline_ = std::move(pipe.write);
  return process;
}

Result<TetheredProcess> TetheredProcess::start(const std::vector<std::string>& arguments,
                                               const std::vector<int>& pass, int output) {
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  std::vector<int> keep = pass;
  keep.push_back(output);
  // Our descriptors are close-on-exec; the passed ones must not be.
  for (const int fd : pass) ::fcntl(fd, F_SETFD, 0);
  return start({.program = arguments.front().c_str(), .arguments = words.data(), .output = output},
               std::move(keep));
}

Result<TetheredProcess> TetheredProcess::start_empty() { return start(child::Tether{}, {}); }

TetheredProcess::~TetheredProcess() {
  lifeline_.reset();
  if (pidfd_.valid()) collect(pidfd_.get());
}

}  // namespace coop::run
