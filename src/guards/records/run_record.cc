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
#include "base/sha256.h"
#include "guards/quarantine_store.h"
#include "policy/builtin.h"
#include "sys/tree/entries.h"

namespace coop::guards {

namespace {

// Fields end with a zero byte: the version of the format, the time, the number of roots, for each its path and which
// directory it is, the known paths.
constexpr std::string_view kFormat = "3";

struct Told {
  std::int64_t started = 0;
  std::vector<Path> roots{};
  std::vector<Path> known{};  // sorted
  bool read = false;          // else nothing is known of that run
  std::string names{};        // a digest of the names that it guards
};

std::string identity_of(const Path& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) < 0) return {};
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

std::string to_bytes(const Told& told) {
  std::string bytes;
  const auto add = [&](std::string_view field) { bytes.append(field).push_back('\0'); };
  add(kFormat);
  add(std::to_string(told.started));
  add(told.names);
  add(std::to_string(told.roots.size()));
  for (const Path& root : told.roots) {
    add(root);
    add(identity_of(root));
  }
  for (const Path& path : told.known) add(path);
  return bytes;
}

template <typename Number>
bool parse(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// What cannot be read is told as knowing nothing anywhere, so that all is doubtful. So is a tree that the host has moved
// since: its paths are others now.
Told from_bytes(std::string_view bytes) {
  std::vector<std::string_view> fields;
  for (std::size_t end = 0; (end = bytes.find('\0')) != std::string_view::npos;
       bytes.remove_prefix(end + 1))
    fields.push_back(bytes.substr(0, end));
  Told told;
  std::size_t roots = 0;
  if (!bytes.empty() || fields.size() < 4 || fields[0] != kFormat ||
      !parse(fields[1], told.started) || !parse(fields[3], roots) ||
      roots > (fields.size() - 4) / 2)
    return {.roots = {"/"}};
  for (std::size_t index = 0; index < roots; ++index) {
    told.roots.emplace_back(fields[4 + 2 * index]);
    if (identity_of(told.roots.back()) != fields[5 + 2 * index]) return {.roots = {"/"}};
  }
  told.read = true;
  told.names = fields[2];
  told.known.assign(fields.begin() + 4 + 2 * static_cast<std::ptrdiff_t>(roots), fields.end());
  return told;
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
    return !live && mark != std::string::npos && parse(name.substr(mark + 1), ended) &&
           ended < time;
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
        const bool looking = status.st_size == kLooking.size() &&
                             ::pread(file->get(), &mark, 1, 0) == 1 && mark == kLooking.front();
        const bool live = ::flock(file->get(), LOCK_SH | LOCK_NB) < 0;
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

bool reaches(const Told& told, const Path& path) {
  return std::ranges::any_of(told.roots, [&](const Path& root) { return is_within(path, root); });
}

// A bind mount of the host may show a tree under another path.
bool knows_elsewhere(const Told& told, std::span<const Path> roots) {
  return std::ranges::any_of(roots, [&](const Path& root) {
    const std::string identity = identity_of(root);
    return !identity.empty() && std::ranges::any_of(told.roots, [&](const Path& other) {
      return other != root && identity_of(other) == identity;
    });
  });
}

bool is_doubtful(const Told& told, const Path& path, std::int64_t changed) {
  return reaches(told, path) &&
         (changed >= told.started || !std::ranges::binary_search(told.known, path));
}

// What the other run's sandbox made, as far as its record tells. A run that guards other names, or another tree, does not
// list files that were there before it.
std::vector<Path> made_by(const Told& told, std::span<const Path> roots,
                          std::span<const WorkspaceFacts> looks, std::string_view names) {
  std::vector<Path> made;
  if (!told.read || told.names != names) return made;
  for (std::size_t index = 0; index < std::min(roots.size(), looks.size()); ++index) {
    if (std::ranges::find(told.roots, roots[index]) == told.roots.end()) continue;
    for (const GuardedPath& found : looks[index].guarded) {
      if (!is_within(found.path, roots[index])) continue;
      const bool known = std::ranges::binary_search(told.known, found.path);
      const bool rewritten = policy::guard_kind(found.guard) == policy::GuardKind::contents &&
                             found.changed >= told.started;
      if (!known || rewritten) made.push_back(found.path);
    }
  }
  return made;
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
  std::string all_names;
  for (const std::string& name : names) all_names.append(name) += '\0';
  const std::string digest = sha256_hex(all_names);
  const Path directory = parent_of(path_);
  const UniqueFd all = TRY(open_private(directory));
  TRY(lock_file(all.get(), LOCK_EX, directory));
  std::vector<Other> others = others_in(all.get(), name_of(path_));
  std::vector<Path> doubtful;
  makers_.clear();
  for (Other& other : others) {
    if (other.looking || other.ended_before(entered_)) continue;
    const Result<std::string> bytes = read_all(other.file.get(), other.name);
    Told told = from_bytes(bytes ? *bytes : std::string());
    if (knows_elsewhere(told, roots)) told = {.roots = {"/"}};
    for (const WorkspaceFacts& look : looks)
      for (const GuardedPath& found : look.guarded)
        if (is_doubtful(told, found.path, found.changed)) doubtful.push_back(found.path);
    std::vector<Path> made = made_by(told, roots, looks, digest);
    if (!made.empty()) makers_.push_back({open_again(other.file.get()), std::move(made)});
    for (const Version& version : versions)
      if (is_doubtful(told, version.path, version.changed)) doubtful.push_back(version.path);
  }
  sort_and_unite(doubtful);
  remove_ended(all.get(), others);
  Told told{.roots = std::vector<Path>(roots.begin(), roots.end()), .names = digest};
  if (!looks.empty()) told.started = std::ranges::min(looks, {}, &WorkspaceFacts::started).started;
  std::ranges::set_difference(all_guarded(looks), doubtful, std::back_inserter(told.known));
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
