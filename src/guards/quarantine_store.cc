#include "guards/quarantine_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/path.h"
#include "base/sha256.h"
#include "sys/tree/directory_stack.h"
#include "sys/tree/entries.h"
#include "sys/tree/move_tree.h"

namespace coop::guards {

namespace {

constexpr int kTries = 10'000;
constexpr std::string_view kPutBack = "put-back";  // copies, named after the path
constexpr std::string_view kBefore = "before";     // the same for versions that were not put back
constexpr std::string_view kAside = ".coop-quarantined-";

std::string_view parent_part(std::string_view relative) {
  const std::size_t slash = relative.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : relative.substr(0, slash);
}

Result<void> make_directory(const Path& path) {
  std::vector<Path> all = ancestors_below(path, "/");
  all.push_back(path);
  for (const Path& each : all)
    if (::mkdir(each.c_str(), 0700) < 0 && errno != EEXIST) return system_error("mkdir", each);
  return {};
}

Result<DirectoryStack> open_parent(const Path& base, std::string_view relative) {
  if (relative.empty()) return invalid("quarantine", printable(base), "it is a whole tree");
  DirectoryStack directory = TRY(DirectoryStack::open(base));
  TRY(directory.enter_all(parent_part(relative)));
  directory.make_writable();
  return directory;
}

// Creates the directories of a relative path and enters the last.
Result<void> make_and_enter(DirectoryStack& directory, std::string_view relative) {
  return directory.enter_all(relative, [&](const std::string& name) -> Result<void> {
    if (::mkdirat(directory.fd(), name.c_str(), 0700) < 0 && errno != EEXIST)
      return system_error("mkdir", name);
    return {};
  });
}

// Copies in the store are named after the path, which may be long and has slashes.
std::string copy_name(const Path& path) { return sha256_hex(path); }

Result<void> copy_into(const Path& directory, const Version& version) {
  const UniqueFd copies = TRY(open_private(directory));
  return guards::put_back(version, copies.get(), copy_name(version.path));
}

}  // namespace

// The bytes may be secrets, and another user must not be able to swap what we report.
Result<UniqueFd> open_private(const Path& path) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
  Result<UniqueFd> fd = open_file(path, kFlags);
  if (!fd && fd.error().errno_value == ENOENT) {
    TRY(make_directory(path));
    fd = open_file(path, kFlags);
  }
  if (!fd) return fd;
  struct stat status{};
  if (::fstat(fd->get(), &status) < 0) return system_error("fstat", path);
  if (status.st_uid != ::geteuid()) return system_error_of(EPERM, "open", path);
  if ((status.st_mode & kPermissions) != 0700 && ::fchmod(fd->get(), 0700) < 0)
    return system_error("chmod", path);
  return fd;
}

Result<Path> QuarantineStore::shelf_of(const Path& base) {
  if (const auto found = shelves_.find(base); found != shelves_.end()) return found->second;
  UniqueFd store = TRY(open_private(directory_));
  constexpr std::size_t kNameKept = 100;  // with the number it must fit into 255 bytes
  const std::string name =
      std::to_string(shelves_.size()) + "-" + std::string(name_of(base).substr(0, kNameKept));
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const std::string label = attempt == 0 ? name : name + "." + std::to_string(attempt);
    if (::mkdirat(store.get(), label.c_str(), 0700) == 0)
      return shelves_.emplace(base, join(directory_, label)).first->second;
    if (errno != EEXIST) return system_error("mkdir", join(directory_, label));
  }
  return system_error_of(EEXIST, "mkdir", join(directory_, name));
}

Result<Path> QuarantineStore::take(const Path& base, std::string_view relative) {
  const DirectoryStack source = TRY(open_parent(base, relative));
  const Path shelf = TRY(shelf_of(base));
  DirectoryStack target = TRY(DirectoryStack::open(shelf));
  TRY(make_and_enter(target, parent_part(relative)));
  const std::string name(name_of(relative));
  TRY(move_tree(EntryName{source.fd(), name}, EntryName{target.fd(), name}, &links_));
  return join(shelf, relative);
}

std::optional<Version> QuarantineStore::version(const Path& base, std::string_view relative,
                                                const Path& path) {
  const Result<DirectoryStack> parent = open_parent(base, relative);
  if (!parent) return std::nullopt;
  return read_version(parent->fd(), std::string(name_of(relative)), path);
}

Result<void> QuarantineStore::put_back(const Path& base, std::string_view relative,
                                       const Version& version) const {
  const DirectoryStack parent = TRY(open_parent(base, relative));
  // The copy first: where it is missing, another run would take this version away again.
  TRY(copy_into(join(directory_, kPutBack), version));
  return guards::put_back(version, parent.fd(), std::string(name_of(relative)));
}

Result<Path> QuarantineStore::keep(const Version& version) const {
  const Path directory = join(directory_, kBefore);
  TRY(copy_into(directory, version));
  return join(directory, copy_name(version.path));
}

std::optional<Version> QuarantineStore::last_put_back(const Path& path, std::int64_t since) const {
  std::optional<Version> last;
  const std::string name = copy_name(path);
  const Result<DirectoryStack> all = DirectoryStack::open(parent_of(directory_));
  if (!all) return last;
  const auto buffer = make_entry_buffer();
  [[maybe_unused]] const Result<void> unreadable_is_empty =
      for_each_entry(all->fd(), *buffer, [&](std::string_view store, unsigned char) {
        const Result<UniqueFd> copies =
            open_beneath(all->fd(), join(store, kPutBack), O_RDONLY | O_DIRECTORY);
        std::optional<Version> copy =
            copies ? read_version(copies->get(), name, path) : std::nullopt;
        if (copy && copy->changed >= since && (!last || copy->changed >= last->changed))
          last = std::move(copy);
        return Next::go_on;
      });
  return last;
}

Result<Path> QuarantineStore::set_aside(const Path& base, std::string_view relative) {
  const DirectoryStack parent = TRY(open_parent(base, relative));
  const EntryName from{parent.fd(), std::string(name_of(relative))};
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const std::string name = std::string(kAside) + std::to_string(attempt);
    const Result<void> renamed = rename_entry(from, EntryName{parent.fd(), name});
    if (renamed) return join(join(base, parent_part(relative)), name);
    if (renamed.error().errno_value != EEXIST) return std::unexpected(renamed.error());
  }
  return system_error_of(EEXIST, "rename", from.name);
}

bool QuarantineStore::is_gone(const Path& base, std::string_view relative) {
  const auto absent = [](int error) { return error == ENOENT || error == ENOTDIR; };
  const Result<DirectoryStack> parent = open_parent(base, relative);
  if (!parent) return absent(parent.error().errno_value);
  struct stat status{};
  const std::string name(name_of(relative));
  return ::fstatat(parent->fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0 && absent(errno);
}

Result<void> QuarantineStore::make_link(const Path& base, std::string_view relative,
                                        const std::string& text) {
  const DirectoryStack parent = TRY(open_parent(base, relative));
  const std::string name(name_of(relative));
  if (::symlinkat(text.c_str(), parent.fd(), name.c_str()) < 0)
    return system_error("symlink", name);
  return {};
}

Result<Path> Heap::add(const Path& base, const EntryName& entry) {
  Place& place = places_[base];
  for (int attempt = 0; !place.directory.valid(); ++attempt) {
    DirectoryStack top = TRY(DirectoryStack::open(base));
    top.make_writable();
    const std::string name = std::string(kAside) + std::to_string(attempt);
    if (::mkdirat(top.fd(), name.c_str(), 0700) == 0) {
      place.directory = TRY(open_at(top.fd(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
      place.path = join(base, name);
    } else if (errno != EEXIST || attempt == kTries) {
      return system_error("mkdir", join(base, name));
    }
  }
  const std::string name = std::to_string(place.count++);
  TRY(move_tree(entry, EntryName{place.directory.get(), name}));
  return join(place.path, name);
}

std::vector<Path> Heap::take() {
  std::vector<Path> paths;
  for (const auto& [base, place] : std::exchange(places_, {}))
    if (place.directory.valid()) paths.push_back(place.path);
  return paths;
}

}  // namespace coop::guards
