#include "tools/live_tools.h"

#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "base/path.h"

namespace coop::tools {

namespace {

constexpr std::string_view kReloadSpan = "reload";

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

LiveTools::LiveTools(std::shared_ptr<Toolbox> toolbox) : now_{.toolbox = std::move(toolbox)} {}

Result<std::unique_ptr<LiveTools>> LiveTools::open(ToolsRequest request) {
  std::unique_ptr<LiveTools> live(new LiveTools);
  live->request_ = std::move(request);
  TRY(live->open_config());
  OpenedTools opened = TRY(open_tools(live->request_));
  live->now_.toolbox = std::move(opened.toolbox);
  live->files_ = std::move(opened.files);
  live->seen_ = live->identities();
  return live;
}

Result<void> LiveTools::open_config() {
  const Role& role = request_.wanted.role;
  if (!role.any() || role.config == "-") return {};  // standard input is read once
  const HostFacts facts = TRY(request::surroundings());
  const Path file = TRY(request::find_config(facts, role.config));
  config_ = TRY(policy::ConfigStore::open(file, request::surroundings_of(facts, parent_of(file)),
                                          [file] { return request::read_config_text(file); }));
  request_.wanted.config = config_->current();
  return {};
}

std::vector<LiveTools::Identity> LiveTools::identities() const {
  std::vector<Identity> found;
  for (const Path& file : files_) {
    struct stat status{};
    if (::stat(file.c_str(), &status) < 0) status = {};
    found.push_back({.device = status.st_dev,
                     .inode = status.st_ino,
                     .changed = nanoseconds(status.st_ctim),
                     .modified = nanoseconds(status.st_mtim),
                     .size = status.st_size});
  }
  return found;
}

// A file may be gone or empty for a moment while an editor replaces it: without it the tools could do more. So two looks
// must agree, and one that has gone must stay away for half a second.
std::vector<LiveTools::Identity> LiveTools::settled(const std::vector<Identity>& first) const {
  constexpr int kMostLooks = 25;
  constexpr std::chrono::milliseconds kPause{20};
  std::vector<Identity> found = first;
  for (int look = 0; look < kMostLooks; ++look) {
    std::this_thread::sleep_for(kPause);
    std::vector<Identity> again = identities();
    bool gone = false;
    for (std::size_t index = 0; index < again.size(); ++index)
      gone = gone || (again[index] == Identity{} && seen_[index] != Identity{});
    if (again == found && !gone) return found;
    found = std::move(again);
  }
  return found;
}

// A coop.toml with a mistake is left aside, and the one from before holds with what the policy files say by now.
Result<void> LiveTools::reload() {
  policy::Findings findings;
  if (config_) {
    findings = config_->reload().findings;
    request_.wanted.config = config_->current();
  }
  OpenedTools opened = TRY(open_tools(request_));
  opened.toolbox->warm_up();
  now_.toolbox = std::move(opened.toolbox);
  files_ = std::move(opened.files);
  if (policy::has_errors(findings)) return std::unexpected(policy::to_error(findings));
  return {};
}

LiveTools::Now LiveTools::look() {
  const std::lock_guard lock(mutex_);
  // After a leak nothing is called any more: a change of a file must not undo that.
  if (now_.toolbox->terminated()) return now_;
  const std::vector<Identity> found = identities();
  if (found == seen_) return now_;
  // Taken before the files are read: a change in between is seen at the next look.
  const std::vector<Identity> before = settled(found);
  const std::vector<Path> followed = files_;
  const Result<void> reloaded = reload();
  seen_ = files_ == followed ? before : identities();
  ++now_.revision;
  now_.broken = !reloaded.has_value();
  now_.news = reloaded
                  ? "the configuration has changed and holds from now on"
                  : "the configuration has changed and has a mistake, so what held before stays: " +
                        to_text(reloaded.error());
  if (request_.log != nullptr)
    request_.log->write(now_.broken ? LogLevel::error : LogLevel::warn, kReloadSpan, now_.news);
  return now_;
}

}  // namespace coop::tools
