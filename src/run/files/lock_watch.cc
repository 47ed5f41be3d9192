#include "run/files/lock_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/path.h"
#include "base/text.h"

namespace coop::run {

namespace {

constexpr std::size_t kMostWatched = 64;
constexpr std::uint32_t kEvents =
    IN_CREATE | IN_MODIFY | IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR | IN_MASK_ADD;

bool is_settings(std::string_view guard) {
  return guard == ".git/config" || guard == ".git/config.worktree";
}

}  // namespace

std::unique_ptr<LockWatch> LockWatch::make(const std::vector<GuardedPath>& settings) {
  if (settings.empty()) return nullptr;
  UniqueFd events(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!events.valid()) return nullptr;
  std::unique_ptr<LockWatch> watch(new LockWatch(std::move(events)));
  for (const GuardedPath& file : settings) {
    if (watch->locks_.size() >= kMostWatched) break;
    const int directory = ::inotify_add_watch(watch->fd(), parent_of(file.path).c_str(), kEvents);
    if (directory < 0) continue;
    watch->locks_[{directory, std::string(name_of(file.path)) + ".lock"}] = {.settings = file};
  }
  return watch;
}

void LockWatch::read_events() {
  alignas(inotify_event) std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t size = ::read(events_.get(), buffer.data(), buffer.size());
    if (size <= 0) return;
    for (ssize_t at = 0; at < size;) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      if (event.len > 0) take(event.wd, buffer.data() + at + sizeof event, event.mask);
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  }
}

void LockWatch::take(int directory, std::string_view name, std::uint32_t mask) {
  const auto found = locks_.find({directory, std::string(name)});
  if (found == locks_.end()) return;
  Lock& lock = found->second;
  if ((mask & IN_MODIFY) != 0) {
    lock.written = true;
    return;
  }
  if ((mask & IN_DELETE) != 0 && lock.written)
    given_up_.emplace(lock.settings.guard, lock.settings.path);
  // Created, or renamed by a program of the host, which no mount hinders.
  lock.written = false;
}

std::vector<GuardedPath> mounted_settings(const std::vector<WorkspaceFacts>& before,
                                          const std::vector<Path>& mounted) {
  std::vector<GuardedPath> settings;
  for (const WorkspaceFacts& facts : before)
    for (const GuardedPath& found : facts.guarded)
      if (is_settings(found.guard) && !found.directory && contains(mounted, found.path))
        settings.push_back(found);
  return settings;
}

bool mentions_git(const Command& command) {
  return std::ranges::any_of(command.arguments, [](const std::string& argument) {
    return argument.find("git") != std::string::npos;
  });
}

}  // namespace coop::run
