#include "run/start/group.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/path.h"
#include "base/quantity.h"
#include "base/text.h"

namespace coop::run {

namespace {

// On v2 the parent must enable the controller for its children (cgroup.subtree_control). Usually it
// is enabled; at the top of a bare hierarchy root can enable it.
Result<void> offer_controller(const GroupLimit& limit) {
  const Path file = join(limit.parent, "cgroup.subtree_control");
  const std::string offered = TRY(read_file(file));
  std::string words = " " + offered + " ";
  std::ranges::replace(words, '\n', ' ');
  if (words.find(" " + limit.controller + " ") != std::string::npos) return {};
  return write_existing(file, "+" + limit.controller);
}

Result<void> write_limit(const GroupLimit& limit, const Path& directory) {
  std::string name = limit.file;
  const bool optional = name.ends_with('?');
  if (optional) name.pop_back();
  Result<void> written = write_existing(join(directory, name), limit.value);
  // Swap accounting is a build and boot option; without it the file does not exist.
  if (!written && optional && written.error().errno_value == ENOENT) return {};
  return written;
}

// The number after `key` at the start of a line: "KEY VALUE", or with an empty key the first number of the file.
std::optional<std::uint64_t> read_number(const Path& path, const std::string& key) {
  const Result<std::string> text = read_file(path);
  const std::string lines = "\n" + text.value_or("");
  const std::string before = key.empty() ? "\n" : "\n" + key + " ";
  const std::size_t at = lines.find(before);
  if (!text || at == std::string::npos) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(lines.data() + at + before.size(), lines.data() + lines.size(), value);
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

}  // namespace

std::vector<Path> group_directories(const GroupPlan& plan) {
  std::vector<Path> directories;
  if (plan.kind == CgroupKind::scope) return directories;
  for (const GroupLimit& limit : plan.limits) {
    const Path directory = join(limit.parent, plan.name);
    if (std::ranges::find(directories, directory) == directories.end())
      directories.push_back(directory);
  }
  return directories;
}

void remove_group_directories(const std::vector<Path>& directories) {
  for (const Path& directory : directories) {
    for (int attempt = 0; attempt < 1000; ++attempt) {
      if (::rmdir(directory.c_str()) == 0 || errno != EBUSY) break;
      const timespec pause{0, 1000000};
      ::nanosleep(&pause, nullptr);
    }
  }
}

Result<Group> Group::make(const GroupPlan& plan) {
  Group group;
  group.kind_ = plan.kind;
  if (plan.kind == CgroupKind::scope) {
    Scope scope = TRY(Scope::make(plan));
    group.scope_ = std::make_unique<Scope>(std::move(scope));
    if (contains(plan.limits, "memory", &GroupLimit::controller))
      group.memory_ = group.scope_->directory();
    return group;
  }
  for (const Path& directory : group_directories(plan)) {
    if (::mkdir(directory.c_str(), 0755) < 0) return system_error("mkdir", directory);
    group.directories_.push_back(directory);
  }
  for (const GroupLimit& limit : plan.limits) {
    const Path directory = join(limit.parent, plan.name);
    if (plan.kind == CgroupKind::v2) TRY(offer_controller(limit));
    if (limit.controller == "memory") group.memory_ = directory;
    TRY(write_limit(limit, directory));
  }
  if (plan.kind == CgroupKind::v2 && group.exists())
    group.target_ = TRY(open_file(group.directories_.front(), O_PATH | O_DIRECTORY));
  return group;
}

std::vector<Path> Group::to_join() const {
  std::vector<Path> files;
  if (kind_ == CgroupKind::v1)
    for (const Path& directory : directories_) files.push_back(join(directory, "tasks"));
  return files;
}

std::optional<std::uint64_t> Group::peak_memory() const {
  if (memory_.empty()) return std::nullopt;
  const bool v2 = kind_ != CgroupKind::v1;
  return read_number(join(memory_, v2 ? "memory.peak" : "memory.max_usage_in_bytes"), "");
}

std::uint64_t Group::out_of_memory_kills() const {
  if (memory_.empty()) return 0;
  const bool v2 = kind_ != CgroupKind::v1;
  return read_number(join(memory_, v2 ? "memory.events" : "memory.oom_control"), "oom_kill")
      .value_or(0);
}

void Group::remove() {
  remove_group_directories(directories_);
  directories_.clear();
  memory_.clear();
  scope_.reset();
}

Group& Group::operator=(Group&& other) noexcept {
  if (this != &other) {
    remove();
    kind_ = other.kind_;
    directories_ = std::exchange(other.directories_, {});
    memory_ = std::exchange(other.memory_, {});
    target_ = std::move(other.target_);
    scope_ = std::move(other.scope_);
  }
  return *this;
}

Group::~Group() { remove(); }

}  // namespace coop::run
