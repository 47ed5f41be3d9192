#include "run/start/shared_tmp.h"

#include <linux/mount.h>

#include <cerrno>

#include "child/agent/tmp_holder.h"
#include "plan/view/layout.h"
#include "run/start/freeze.h"
#include "sys/message.h"
#include "sys/process.h"

namespace coop {

namespace {

std::string map_of(std::uint32_t id) {
  return std::to_string(id) + " " + std::to_string(id) + " 1\n";
}

}  // namespace

Result<std::shared_ptr<SharedTmp>> SharedTmp::make(const Limits& limits) {
  std::shared_ptr<SharedTmp> made(new SharedTmp);
  made->size_ = limits.tmp_size;
  made->inodes_ = plan::inodes_for(limits);
  auto [ours, theirs] = TRY(make_socket_pair());
  const std::string uid_map = map_of(::geteuid());
  const std::string gid_map = map_of(::getegid());
  const std::string options = run::tmpfs_options(made->size_, made->inodes_, 01777);
  const child::TmpHolder holder{.socket = theirs.get(),
                                .uid_map = uid_map.c_str(),
                                .gid_map = gid_map.c_str(),
                                .options = options.c_str(),
                                .attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV};
  int pidfd = -1;
  const long pid = child::start_tmp_holder(holder, pidfd);
  if (pid < 0) return system_error_of(static_cast<int>(-pid), "clone3", "for a shared /tmp");
  made->pidfd_.reset(pidfd);
  made->socket_ = std::move(ours);
  theirs.reset();
  [[maybe_unused]] const UniqueFd none = TRY(made->receive("make a shared /tmp"));
  return made;
}

SharedTmp::~SharedTmp() {
  socket_.reset();  // its end
  if (pidfd_.valid() && owner_ == ::getpid()) collect(pidfd_.get());
}

Result<UniqueFd> SharedTmp::receive(const char* what) {
  child::HolderReport report;
  Received received{};
  do received = receive_message(socket_.get(), &report, sizeof report);
  while (received.size < 0 && errno == EINTR);
  if (received.size != sizeof report) return system_error_of(ECHILD, what);
  if (report.error != 0) return system_error_of(report.error, what);
  return std::move(received.descriptor);
}

Result<UniqueFd> SharedTmp::copy() {
  const std::lock_guard lock(mutex_);
  TRY(send_message(socket_.get(), "c", 1));
  return receive("copy the shared /tmp");
}

bool SharedTmp::fits(const Limits& limits) const {
  return size_ == limits.tmp_size && inodes_ == plan::inodes_for(limits);
}

}  // namespace coop
