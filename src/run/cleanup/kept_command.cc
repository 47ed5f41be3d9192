#include "run/cleanup/kept_command.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "child/tether/keeper.h"
#include "sys/process.h"

namespace coop::run {

namespace {

constexpr int kGraceMilliseconds = 2000;

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

Result<KeptCommand> KeptCommand::start(KeptArguments arguments) {
  Pipe lifeline = TRY(make_pipe());
  Pipe report = TRY(make_pipe());
  std::vector<int> keep{lifeline.read.get(), report.write.get(), arguments.directory,
                        arguments.output, arguments.error};
  std::ranges::sort(keep);
  const std::vector<char*> words = pointers(arguments.arguments);
  const std::vector<char*> environment = pointers(arguments.environment);
  const child::Keeper keeper{.program = arguments.program.c_str(),
                             .arguments = words.data(),
                             .environment = environment.data(),
                             .keep = keep.data(),
                             .keep_count = static_cast<std::uint32_t>(keep.size()),
                             .lifeline = lifeline.read.get(),
                             .report = report.write.get(),
                             .directory = arguments.directory,
                             .output = arguments.output,
                             .error = arguments.error,
                             .grace_milliseconds = kGraceMilliseconds};
  int pidfd = -1;
  const long pid = child::start_keeper(keeper, pidfd);
  if (pid < 0) return system_error_of(static_cast<int>(-pid), "clone3");
  KeptCommand command;
  command.program_ = std::move(arguments.program);
  command.pidfd_.reset(pidfd);
  command.lifeline_ = std::move(lifeline.write);
  command.report_ = std::move(report.read);
  return command;
}

KeptCommand::~KeptCommand() {
  lifeline_.reset();
  if (pidfd_.valid()) collect(pidfd_.get());
}

Result<KeptCommand::End> KeptCommand::wait() {
  child::KeeperReport report;
  ssize_t size = 0;
  while ((size = ::read(report_.get(), &report, sizeof report)) < 0 && errno == EINTR) {
  }
  if (size != sizeof report) return system_error_of(EIO, "wait", program_);
  if (report.error != 0) return system_error_of(report.error, "execve", program_);
  return End{report.status, report.others == 1};
}

}  // namespace coop::run
