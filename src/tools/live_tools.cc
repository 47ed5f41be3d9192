#include "tools/live_tools.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/path.h"
#include "base/text.h"

namespace coop::tools {

namespace {

constexpr std::string_view kReloadSpan = "reload";

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

bool is_gone(const Role& role, const policy::Config& config) {
  return (!role.user.empty() && !contains(config.users, role.user, &policy::User::name)) ||
         (!role.cron.empty() && !contains(config.cron, role.cron, &policy::CronJob::name));
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
  live->project_file_ = std::move(opened.project_file);
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

LiveTools::Identity LiveTools::identity_of(const Path& file) {
  struct stat status{};
  if (::stat(file.c_str(), &status) < 0) status = {};
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .changed = nanoseconds(status.st_ctim),
          .modified = nanoseconds(status.st_mtim),
          .size = status.st_size};
}

// While a command runs, the project's file may be its work: a change of it waits until the end, when a new one has been
// quarantined.
std::vector<LiveTools::Identity> LiveTools::identities() const {
  const bool running = request_.shared->running > 0;
  std::vector<Identity> found;
  for (std::size_t index = 0; index < files_.size(); ++index) {
    const bool waits = running && files_[index] == project_file_ && index < seen_.size();
    found.push_back(waits ? seen_[index] : identity_of(files_[index]));
  }
  return found;
}

bool LiveTools::project_was_touched() const {
  const auto project = std::ranges::find(files_, project_file_);
  if (request_.shared->running == 0 || project == files_.end()) return false;
  return identity_of(project_file_) != seen_[static_cast<std::size_t>(project - files_.begin())];
}

bool LiveTools::has_shrunk(const std::vector<Identity>& found) const {
  for (std::size_t index = 0; index < found.size(); ++index)
    if (found[index].size < seen_[index].size) return true;
  return false;
}

// A program that writes a file in place empties it first, and an editor may remove it for a moment: what is left can allow
// more. So a change counts when it has stayed for a while, longer where a file is shorter or gone. Nothing: they still change.
std::optional<std::vector<LiveTools::Identity>> LiveTools::settled() const {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPause{20};
  constexpr std::chrono::milliseconds kStay{100};
  constexpr std::chrono::milliseconds kStayShorter{500};
  constexpr std::chrono::milliseconds kPatience{2000};
  const Clock::time_point begin = Clock::now();
  Clock::time_point since = begin;
  std::vector<Identity> found = identities();
  while (Clock::now() - since < (has_shrunk(found) ? kStayShorter : kStay)) {
    if (Clock::now() - begin > kPatience) return std::nullopt;
    std::this_thread::sleep_for(kPause);
    std::vector<Identity> again = identities();
    if (again != found) since = Clock::now();
    found = std::move(again);
  }
  return found;
}

// A coop.toml with a mistake is left aside, and the one from before holds with what the policy files say by now.
Result<LiveTools::Reloaded> LiveTools::reload() {
  Reloaded reloaded;
  ToolsRequest request = request_;
  if (config_) {
    reloaded.findings = config_->reload().findings;
    request.wanted.config = config_->current();
    Role& role = request.wanted.role;
    // Whom the file no longer names is a stranger: what held for them must not go on.
    reloaded.revoked = is_gone(role, *request.wanted.config);
    if (reloaded.revoked) {
      role.user.clear();
      role.cron.clear();
      role.sender = "revoked";
    }
  }
  if (project_was_touched()) request.wanted.project_grants = request::ProjectGrants::none;
  reloaded.opened = TRY(open_tools(request));
  return reloaded;
}

LiveTools::Now LiveTools::look() {
  const std::lock_guard lock(mutex_);
  // After a leak nothing is called any more: a change of a file must not undo that.
  if (now_.toolbox->terminated() || identities() == seen_) return now_;
  const std::optional<std::vector<Identity>> before = settled();
  if (!before) return now_;
  const bool touched = project_was_touched();
  Result<Reloaded> reloaded = reload();
  // What was read is what settled, or it is not taken: the next look tries again.
  if (identities() != *before || project_was_touched() != touched) return now_;
  seen_ = *before;
  std::optional<Error> mistake;
  if (!reloaded) mistake = reloaded.error();
  else if (policy::has_errors(reloaded->findings)) mistake = policy::to_error(reloaded->findings);
  if (reloaded) {
    OpenedTools& opened = reloaded->opened;
    opened.toolbox->warm_up();
    now_.toolbox = std::move(opened.toolbox);
    project_file_ = std::move(opened.project_file);
    if (files_ != opened.files) {
      files_ = std::move(opened.files);
      seen_ = identities();
    }
    if (config_) request_.wanted.config = config_->current();
  }
  ++now_.revision;
  now_.broken = mistake.has_value();
  now_.news = mistake ? "the configuration has changed and has a mistake, so what held before "
                        "stays: " +
                            to_text(*mistake)
              : reloaded->revoked
                  ? "the configuration no longer names who this server acts for: public from now on"
                  : "the configuration has changed and holds from now on";
  if (request_.log != nullptr)
    request_.log->write(now_.broken ? LogLevel::error : LogLevel::warn, kReloadSpan, now_.news);
  return now_;
}

}  // namespace coop::tools
