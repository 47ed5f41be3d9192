#include "run/files/service.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "base/path.h"
#include "child/program.h"
#include "guards/served/git_files.h"
#include "policy/builtin.h"
#include "sys/fuse/session.h"
#include "sys/message.h"
#include "sys/own_descriptors.h"
#include "sys/signals_blocked.h"

namespace coop::run {

namespace {

struct Task {
  std::vector<Path> directories{};  // in the order of their numbers
  std::vector<std::string> names{};
  std::vector<NamedPath> named{};
  guards::ServedIds ids{};
  std::vector<GitDirectory> git{};  // every known one
  std::set<guards::Inode> linked{};
  std::set<guards::BornDirectory> made{};                    // by earlier sandboxes
  std::set<std::pair<guards::Inode, std::string>> hidden{};  // directory and name
  guards::Refusals* refusals = nullptr;
  guards::TouchedFiles* touched = nullptr;
  int socket = -1;
  int stop = -1;
};

struct Mounted {
  std::unique_ptr<guards::GitFiles> files{};
  std::unique_ptr<fuse::Session> session{};
  UniqueFd device{};
};

std::set<guards::Inode> linked_files(const std::vector<WorkspaceFacts>& before) {
  std::set<guards::Inode> found;
  for (const WorkspaceFacts& facts : before)
    for (const GuardedPath& path : facts.guarded)
      if (path.links > 1 && !path.directory) found.emplace(path.device, path.inode);
  return found;
}

// What rules hide in git directories that are served.
std::set<std::pair<guards::Inode, std::string>> hidden_names(const Plan& plan) {
  std::set<std::pair<guards::Inode, std::string>> hidden;
  for (const Step& step : plan.steps) {
    const auto* hide = std::get_if<HideMount>(&step.action);
    if (hide == nullptr) continue;
    for (const Step& other : plan.steps) {
      const auto* bind = std::get_if<BindMount>(&other.action);
      if (bind == nullptr || bind->through != Through::supervisor ||
          !is_within(hide->target, bind->target) || hide->target == bind->target)
        continue;
      const Path path = join(bind->source, relative_to(hide->target, bind->target));
      struct stat status{};
      if (::lstat(parent_of(path).c_str(), &status) == 0)
        hidden.emplace(guards::Inode(status.st_dev, status.st_ino), name_of(path));
    }
  }
  return hidden;
}

Task task_of(const Plan& plan, const std::vector<WorkspaceFacts>& before) {
  // Others may be made, and are judged by their contents at the end.
  const auto by_name = [](const std::string& name) {
    return policy::guard_kind(name) != policy::GuardKind::contents;
  };
  Task task{.git = plan.guards.served, .linked = linked_files(before)};
  for (const WorkspaceFacts& facts : before)
    for (const GitDirectory& git : facts.made_inside)
      task.made.emplace(git.device, git.inode, git.born);
  std::ranges::copy_if(plan.guards.names, std::back_inserter(task.names), by_name);
  for (const WorkspaceFacts& facts : before)
    task.named.insert(task.named.end(), facts.named.begin(), facts.named.end());
  for (const WorkspaceFacts& facts : before)
    for (const GuardedPath& guarded : facts.guarded)
      if (!guarded.through.empty()) task.named.push_back({guarded.path, guarded.guard});
  for (const Step& step : plan.steps) {
    if (const auto* ids = std::get_if<MapIds>(&step.action))
      task.ids = {ids->host_uid, ids->host_gid, ids->inside_uid, ids->inside_gid};
    const auto* bind = std::get_if<BindMount>(&step.action);
    if (bind != nullptr && bind->through == Through::supervisor)
      task.directories.push_back(bind->source);
  }
  task.hidden = hidden_names(plan);
  return task;
}

std::set<guards::Inode> inodes_of(const std::vector<GitDirectory>& git) {
  std::set<guards::Inode> inodes;
  for (const GitDirectory& one : git) inodes.emplace(one.device, one.inode);
  return inodes;
}

// What git's settings and guarded symlinks lead to may lie in the git directory itself, under any name.
std::vector<NamedPath> named_in(const Path& directory, const std::vector<NamedPath>& all) {
  std::vector<NamedPath> named;
  for (const NamedPath& one : all) {
    const Path path = normalize(one.path);
    if (!path.starts_with('/')) named.push_back(one);
    else if (path != directory && is_within(path, directory))
      named.push_back({.path = Path(relative_to(path, directory)), .guard = one.guard});
  }
  return named;
}

// False when the child has closed its end.
bool receive_device(const Task& task, std::vector<Mounted>& mounted) {
  child::ServedFiles served{};
  Received received = receive_message(task.socket, &served, sizeof served);
  if (received.size < 0) return errno == EINTR || errno == EAGAIN;
  if (received.size != sizeof served) return false;
  const int flags = ::fcntl(received.descriptor.get(), F_GETFL);
  if (served.number >= mounted.size() || flags < 0) return true;
  ::fcntl(received.descriptor.get(), F_SETFL, flags | O_NONBLOCK);
  mounted[served.number].device = std::move(received.descriptor);
  return true;
}

Result<void> serve_all(const Task& task) {
  TRY(leave_program({task.socket, task.stop}));
  // A umask of its own: the kernel has applied that of the calling process already.
  if (::unshare(CLONE_FS) < 0) return system_error("unshare", "CLONE_FS");
  ::umask(0);
  std::vector<Mounted> mounted(task.directories.size());
  for (std::size_t index = 0; index < mounted.size(); ++index) {
    mounted[index].files = TRY(guards::GitFiles::open(
        task.directories[index],
        guards::GuardNames(task.names, named_in(task.directories[index], task.named)), task.ids,
        {.git = inodes_of(task.git),
         .linked = task.linked,
         .made = task.made,
         .hidden = task.hidden},
        *task.refusals, *task.touched));
    mounted[index].session = std::make_unique<fuse::Session>(*mounted[index].files);
  }
  std::vector<std::byte> buffer(fuse::kMessageSize);
  int socket = task.socket;
  // Not an EventLoop: every request inside waits for this thread, which watches two or three descriptors, and with epoll
  // each round polls the device once more. stat() and read() of .git/HEAD were slower by 3 to 15 percent.
  for (;;) {
    std::vector<pollfd> watched{{task.stop, POLLIN, 0}, {socket, POLLIN, 0}};
    for (const Mounted& one : mounted) watched.push_back({one.device.get(), POLLIN, 0});
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR)
      return system_error("poll");
    if (watched[0].revents != 0) return {};
    if (watched[1].revents != 0 && !receive_device(task, mounted)) socket = -1;
    for (std::size_t index = 0; index < mounted.size(); ++index)
      if (watched[index + 2].revents != 0 &&
          !fuse::serve(mounted[index].device.get(), *mounted[index].session, buffer))
        mounted[index].device.reset();
  }
}

// The child must not wait for answers that never come. Its next send fails with EPIPE; what it has sent already is
// closed, so that the kernel ends the connection. The program's copy of the socket would keep both alive.
void refuse_all(int socket) {
  ::shutdown(socket, SHUT_RDWR);
  while (receive_message(socket).size > 0) {
  }
}

}  // namespace

Result<std::unique_ptr<FileService>> FileService::start(const Plan& plan,
                                                        const std::vector<WorkspaceFacts>& before,
                                                        UniqueFd socket) {
  Task task = task_of(plan, before);
  if (task.directories.empty()) return nullptr;
  std::unique_ptr<FileService> service(new FileService);
  service->socket_ = std::move(socket);
  service->stop_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!service->stop_.valid()) return system_error("eventfd");
  task.socket = service->socket_.get();
  task.stop = service->stop_.get();
  task.refusals = &service->refusals_;
  task.touched = &service->touched_;
  const SignalsBlocked blocked;
  try {
    service->thread_ = std::thread([task = std::move(task)] {
      if (!serve_all(task)) refuse_all(task.socket);
    });
  } catch (const std::system_error& error) {
    return system_error_of(error.code().value(), "start a thread");
  }
  return service;
}

FileService::~FileService() {
  if (!thread_.joinable()) return;
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

}  // namespace coop::run
