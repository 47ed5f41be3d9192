#include "guards/records/run_record.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>

#include "base/path.h"
#include "guards/quarantine_store.h"
#include "guards/records/told.h"
#include "sys/tree/entries.h"

namespace coop::guards {

namespace {

template <typename Number>
bool parse(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// The only content of one byte: the run looks, and no command of it runs yet. Any other content that cannot be read, none
// at all included, is that of a run whose sandbox may have made anything.
constexpr std::string_view kLooking = "L";

constexpr char kEnded = '~';  // between the name of a record and when its run ended

std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

struct Other {
  std::string name{};
  UniqueFd file{};
  bool live = false;
  bool looking = false;

  // A run that ended before this one began has judged all that it made.
  bool ended_before(std::int64_t time) const {
    const std::size_t mark = name.rfind(kEnded);
    std::int64_t ended = 0;
    return mark != std::string::npos && parse(name.substr(mark + 1), ended) && ended < time;
  }
};

// The other records. A lock of a live one is held by its process, or by the janitor.
std::vector<Other> others_in(int directory, std::string_view own) {
  std::vector<Other> others;
  const auto buffer = make_entry_buffer();
  [[maybe_unused]] const Result<void> unreadable_is_empty =
      for_each_entry(directory, *buffer, [&](std::string_view name, unsigned char) {
        if (name == own) return Next::go_on;
        Result<UniqueFd> file =
            open_at(directory, std::string(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
        struct stat status{};
        if (!file || ::fstat(file->get(), &status) < 0 || !S_ISREG(status.st_mode))
          return Next::go_on;
        char mark = 0;
        const bool looking = status.st_size == static_cast<off_t>(kLooking.size()) &&
                             ::pread(file->get(), &mark, 1, 0) == 1 && mark == kLooking.front();
        // The janitor lets go of the lock a moment after the run has ended.
        const bool live = !name.contains(kEnded) && ::flock(file->get(), LOCK_SH | LOCK_NB) < 0;
        others.push_back({std::string(name), std::move(*file), live, looking});
        return Next::go_on;
      });
  return others;
}

// While a run looks, the records of those that have ended stay: it may have seen what they made. False then.
bool remove_ended(int directory, const std::vector<Other>& others) {
  if (std::ranges::any_of(others, [](const Other& other) { return other.live && other.looking; }))
    return false;
  for (const Other& other : others)
    if (!other.live) ::unlinkat(directory, other.name.c_str(), 0);
  return true;
}

// Directories that are about to be made, the innermost first.
void note_missing(const Path& directory, std::vector<Path>& missing) {
  struct stat status{};
  for (Path path = directory; path.size() > 1 && ::lstat(path.c_str(), &status) < 0;
       path = parent_of(path))
    if (std::ranges::find(missing, path) == missing.end()) missing.push_back(path);
}

// What the other run's sandbox made in the trees of this one.
std::vector<Path> made_by(const OtherRun& other, std::span<const Path> roots,
                          std::span<const WorkspaceFacts> looks) {
  std::vector<Path> made;
  for (std::size_t index = 0; index < std::min(roots.size(), looks.size()); ++index)
    for (const GuardedPath& found : looks[index].guarded) {
      if (!is_within(found.path, roots[index])) continue;
      const std::optional<Path> path = other.as_told(found.path);
      if (path && other.has_made(found, *path, roots[index])) made.push_back(found.path);
    }
  return made;
}

void add_doubtful(const OtherRun& other, std::span<const WorkspaceFacts> looks,
                  std::span<const Version> versions, std::vector<Path>& doubtful) {
  for (const WorkspaceFacts& look : looks)
    for (const GuardedPath& found : look.guarded) {
      const std::optional<Path> path = other.as_told(found.path);
      if (path && other.may_have_made(found, *path)) doubtful.push_back(found.path);
    }
  for (const Version& version : versions) {
    const std::optional<Path> path = other.as_told(version.path);
    if (path && other.may_have_made(version.changed, *path)) doubtful.push_back(version.path);
  }
}

std::string read_begin(int record) {
  std::string bytes(std::size_t{1} << 20, '\0');
  const ssize_t size = ::pread(record, bytes.data(), bytes.size(), 0);
  bytes.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return bytes;
}

// What a live run did cannot be judged without its record. Nothing is known of a dead one either, but it changes nothing
// more: all is in doubt.
Result<void> doubt_unreadable(const Path& record, std::string_view bytes, bool live,
                              std::span<const Path> roots, Identities& identities,
                              std::span<const WorkspaceFacts> looks, std::vector<Path>& doubtful) {
  if (std::optional<std::vector<ToldRoot>> told = parse_roots(bytes)) {
    const OtherRun other({.roots = std::move(*told)}, identities);
    const bool apart = std::ranges::none_of(roots, [&](const Path& root) {
      return other.as_told(root).has_value() || other.is_below(root);
    });
    if (apart) return {};
  }
  if (live)
    return std::unexpected(
        Error{.kind = Error::Kind::unavailable,
              .operation = "read the record of another run",
              .subject = record,
              .hint = "a run of another version of coop may use this workspace: wait for its end"});
  const std::vector<Path> all = all_guarded(looks);
  doubtful.insert(doubtful.end(), all.begin(), all.end());
  return {};
}

// A lock belongs to an open file: this one must not be that of `others`, which is closed soon.
UniqueFd open_again(int record) {
  return UniqueFd(
      ::open(("/proc/self/fd/" + std::to_string(record)).c_str(), O_RDONLY | O_CLOEXEC));
}

// The mode of a record whose run has begun its last look.
constexpr mode_t kEnding = 0400;

// Whether the run of a record is live, and has not begun its last look.
bool will_judge(int record) {
  struct stat status{};
  if (record < 0 || ::fstat(record, &status) < 0 || (status.st_mode & S_IWUSR) == 0) return false;
  if (::flock(record, LOCK_SH | LOCK_NB) < 0) return true;
  ::flock(record, LOCK_UN);
  return false;
}

void sort_and_unite(std::vector<Path>& paths) {
  std::ranges::sort(paths);
  const auto repeated = std::ranges::unique(paths);
  paths.erase(repeated.begin(), repeated.end());
}

Told told_by(std::span<const Path> roots, std::span<const WorkspaceFacts> looks,
             std::span<const std::string> names, const std::vector<Path>& doubtful) {
  Told told{.guards = {names.begin(), names.end()}};
  std::ranges::sort(told.guards);
  for (const Path& root : roots) told.roots.push_back({root, object_at(root)});
  if (!looks.empty()) told.started = std::ranges::min(looks, {}, &WorkspaceFacts::started).started;
  for (const WorkspaceFacts& look : looks) {
    told.complete = told.complete && look.complete;
    for (const GuardedPath& found : look.guarded)
      if (!std::ranges::binary_search(doubtful, found.path))
        told.known.push_back(
            {found.path, found.guard, {found.device, found.inode, found.born}, found.link});
  }
  std::ranges::sort(told.known, {}, &ToldPath::path);
  return told;
}

}  // namespace

RunRecord& RunRecord::operator=(RunRecord&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  std::swap(entered_, other.entered_);
  std::swap(made_, other.made_);
  std::swap(makers_, other.makers_);
  return *this;
}

Result<RunRecord> RunRecord::enter(const Path& directory, const std::string& id) {
  constexpr int kTries = 100;
  RunRecord record;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    note_missing(directory, record.made_);
    const UniqueFd all = TRY(open_private(directory));
    TRY(lock_file(all.get(), LOCK_EX, directory));
    const std::string name = attempt == 0 ? id : id + "." + std::to_string(attempt);
    Result<UniqueFd> file = open_at(all.get(), name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    // An id may be used again at once, and another run may just have removed the directory.
    if (!file && (file.error().errno_value == EEXIST || file.error().errno_value == ENOENT))
      continue;
    record.file_ = TRY(std::move(file));
    record.path_ = join(directory, name);
    record.entered_ = now();
    if (::flock(record.file_.get(), LOCK_EX | LOCK_NB) < 0)
      return system_error("flock", record.path_);
    TRY(write_all(record.file_.get(), kLooking, record.path_));
    return record;
  }
  return system_error_of(EEXIST, "open", join(directory, id));
}

Result<std::vector<Path>> RunRecord::tell(std::span<const Path> roots,
                                          std::span<const WorkspaceFacts> looks,
                                          std::span<const Version> versions,
                                          std::span<const std::string> names) {
  const Path directory = parent_of(path_);
  const UniqueFd all = TRY(open_private(directory));
  TRY(lock_file(all.get(), LOCK_EX, directory));
  std::vector<Other> others = others_in(all.get(), name_of(path_));
  std::vector<Path> doubtful;
  makers_.clear();
  Identities identities;
  for (Other& other : others) {
    if (other.looking || other.ended_before(entered_)) continue;
    Result<std::string> bytes = read_all(other.file.get(), other.name);
    if (!bytes) bytes = read_begin(other.file.get());  // too long: its roots are at the front
    std::optional<Told> told = parse_told(bytes ? *bytes : std::string());
    if (!told) {
      TRY(doubt_unreadable(join(directory, other.name), bytes ? *bytes : std::string(), other.live,
                           roots, identities, looks, doubtful));
      continue;
    }
    const OtherRun run(std::move(*told), identities);
    add_doubtful(run, looks, versions, doubtful);
    std::vector<Path> made = made_by(run, roots, looks);
    if (!made.empty()) makers_.push_back({open_again(other.file.get()), std::move(made)});
  }
  sort_and_unite(doubtful);
  remove_ended(all.get(), others);
  const Told told = told_by(roots, looks, names, doubtful);
  if (::lseek(file_.get(), 0, SEEK_SET) < 0) return system_error("lseek", path_);
  TRY(write_all(file_.get(), to_bytes(told), path_));
  return doubtful;
}

void RunRecord::end() const {
  if (file_.valid()) ::fchmod(file_.get(), kEnding);
}

std::vector<Path> RunRecord::made_by_others() const {
  std::vector<Path> paths;
  for (const Maker& maker : makers_)
    paths.insert(paths.end(), maker.paths.begin(), maker.paths.end());
  sort_and_unite(paths);
  return paths;
}

std::vector<Path> RunRecord::left_to_judge() const {
  std::vector<Path> judged;
  for (const Maker& maker : makers_)
    if (will_judge(maker.record.get()))
      judged.insert(judged.end(), maker.paths.begin(), maker.paths.end());
  sort_and_unite(judged);
  std::vector<Path> left;
  std::ranges::set_difference(made_by_others(), judged, std::back_inserter(left));
  return left;
}

void RunRecord::leave() {
  if (!file_.valid()) return;
  remove_record(path_);
  file_.reset();
  // Only with the rest of coop's state: on ext4 a directory that each run makes and removes takes 0.3 ms.
  const std::vector<Path> all_made = std::exchange(made_, {});
  if (all_made.size() > 1)
    for (const Path& made : all_made) ::rmdir(made.c_str());  // if it is empty
}

void end_record(const Path& record) { ::chmod(record.c_str(), kEnding); }

void remove_record(const Path& record) {
  const Path directory = parent_of(record);
  const Result<UniqueFd> all = open_private(directory);
  if (!all || !lock_file(all->get(), LOCK_EX, directory)) return;
  const std::string name(name_of(record));
  if (remove_ended(all->get(), others_in(all->get(), name)))
    ::unlinkat(all->get(), name.c_str(), 0);
  else
    ::renameat(all->get(), name.c_str(), all->get(),
               (name + kEnded + std::to_string(now())).c_str());
}

std::vector<Path> all_guarded(std::span<const WorkspaceFacts> looks) {
  std::vector<Path> paths;
  for (const WorkspaceFacts& look : looks)
    for (const GuardedPath& found : look.guarded) paths.push_back(found.path);
  sort_and_unite(paths);
  return paths;
}

}  // namespace coop::guards
