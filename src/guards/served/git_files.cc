#include "guards/served/git_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <optional>

#include "base/path.h"

namespace coop::guards {

using fuse::Answer;
using fuse::Found;
using fuse::NewName;
using fuse::Opened;

namespace {

constexpr std::uint32_t kPermissions =
    0777 | S_ISVTX;  // never S_ISUID; S_ISGID for directories only
constexpr std::uint32_t kUnmapped = 65534;
constexpr std::size_t kMostMade = 100'000;
constexpr std::string_view kLinked = ".git/config";     // which guard it was is not known
constexpr std::string_view kElsewhere = ".git/config";  // the host moved it out of the directory

std::unexpected<int> failure() { return std::unexpected(errno); }
std::unexpected<int> refused() { return std::unexpected(EROFS); }
Answer<void> done(int result) { return result < 0 ? Answer<void>(failure()) : Answer<void>(); }

// The thread has its own descriptors, so that /proc/self, which is the process, does not have them.
std::string path_of(int fd) { return "/proc/thread-self/fd/" + std::to_string(fd); }

bool writes(std::uint32_t flags) {
  return (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0;
}

timespec time_of(std::uint64_t seconds, std::uint32_t nanoseconds, bool now, bool set) {
  if (!set) return {.tv_sec = 0, .tv_nsec = UTIME_OMIT};
  if (now) return {.tv_sec = 0, .tv_nsec = UTIME_NOW};
  return {.tv_sec = static_cast<time_t>(seconds), .tv_nsec = nanoseconds};
}

std::optional<std::int64_t> birth_of(int directory, const char* name) {
  struct statx status{};
  if (::statx(directory, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_BTIME, &status) < 0 ||
      (status.stx_mask & STATX_BTIME) == 0)
    return std::nullopt;
  return status.stx_btime.tv_sec * 1'000'000'000 + status.stx_btime.tv_nsec;
}

// git makes a symlink only for an old form of HEAD. The host's git writes through others: one to ~/.bashrc in the place of
// COMMIT_EDITMSG or logs/HEAD, or one to another symlink in what is mounted, would be obeyed by the next commit.
bool is_link_of_git(const std::string& text, std::string_view name) {
  return name == "HEAD" && text.starts_with("refs/heads/") && !("/" + text + "/").contains("/../");
}

Path text_of_link(int fd) {
  std::array<char, PATH_MAX> text{};
  const ssize_t size = ::readlink(path_of(fd).c_str(), text.data(), text.size());
  return Path(text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
}

}  // namespace

Result<std::unique_ptr<GitFiles>> GitFiles::open(const Path& directory, GuardNames names,
                                                 ServedIds ids, KnownFiles known,
                                                 Refusals& refusals, TouchedFiles& touched) {
  const UniqueFd root = TRY(open_file("/", O_PATH | O_DIRECTORY));
  UniqueFd fd = TRY(open_beneath(root.get(), directory.substr(1), O_PATH | O_DIRECTORY));
  struct stat status{};
  if (::fstat(fd.get(), &status) < 0) return system_error("fstat", directory);
  std::unique_ptr<GitFiles> files(
      new GitFiles(GitRules(std::move(names)), ids, std::move(known), refusals, touched));
  ServedPlace top = files->rules_.top();
  files->nodes_.set_root(std::move(fd), status, std::move(top));
  return files;
}

fuse_attr GitFiles::attributes_of(const struct stat& status) const {
  fuse_attr attributes{};
  attributes.ino = status.st_ino;
  attributes.size = static_cast<std::uint64_t>(status.st_size);
  attributes.blocks = static_cast<std::uint64_t>(status.st_blocks);
  attributes.atime = static_cast<std::uint64_t>(status.st_atim.tv_sec);
  attributes.mtime = static_cast<std::uint64_t>(status.st_mtim.tv_sec);
  attributes.ctime = static_cast<std::uint64_t>(status.st_ctim.tv_sec);
  attributes.atimensec = static_cast<std::uint32_t>(status.st_atim.tv_nsec);
  attributes.mtimensec = static_cast<std::uint32_t>(status.st_mtim.tv_nsec);
  attributes.ctimensec = static_cast<std::uint32_t>(status.st_ctim.tv_nsec);
  attributes.mode = status.st_mode;
  attributes.nlink = static_cast<std::uint32_t>(status.st_nlink);
  attributes.uid = status.st_uid == ids_.host_uid ? ids_.inside_uid : kUnmapped;
  attributes.gid = status.st_gid == ids_.host_gid ? ids_.inside_gid : kUnmapped;
  attributes.blksize = static_cast<std::uint32_t>(status.st_blksize);
  return attributes;
}

// --- Names -------------------------------------------------------------------------------------

ServedPlace GitFiles::place_of(const ServedPlace& parent, std::string_view name, int fd,
                               const struct stat& status) const {
  const Inode inode(status.st_dev, status.st_ino);
  if (!S_ISDIR(status.st_mode)) {
    const std::string_view guard = rules_.guard_of(parent, name);
    return {.guard = guard.empty() && known_.linked.contains(inode) ? kLinked : guard};
  }
  if (rules_.may_be_made(parent) && was_made_inside(fd)) return {.made_inside = true};
  return rules_.below(
      parent, name,
      known_.git.contains(inode) ? GitRules::Known::git_directory : GitRules::Known::no);
}

Answer<Found> GitFiles::look_up(NewName at) {
  const ServedNode* const parent = nodes_.find(at.parent);
  if (parent == nullptr) return std::unexpected(ESTALE);
  if (parent->hidden) return std::unexpected(EACCES);
  const std::string name(at.name);
  if (UniqueFd draft = drafts_.find(parent->identity, name); draft.valid())
    return look_up_draft(std::move(draft));
  UniqueFd fd(::openat(parent->fd.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  if (!fd.valid() && errno == ENOENT && rules_.is_lock_of_worktree(parent->place, name))
    return look_up_lock();
  if (!fd.valid() || ::fstat(fd.get(), &status) < 0) return failure();
  ServedPlace place = place_of(parent->place, name, fd.get(), status);
  const bool hidden = known_.hidden.contains({parent->identity, name});
  const auto [number, node] = nodes_.enter(std::move(fd), status);
  node->hidden = node->hidden || hidden;
  if (number == fuse::kRoot) return std::unexpected(ELOOP);
  if (!place.guarded() && !S_ISDIR(status.st_mode)) place.guard = node->place.guard;
  node->place = std::move(place);
  return Found{number, attributes_of(status)};
}

// A worktree whose checkout is not visible inside looks abandoned there, and `git worktree prune` (`git gc` too) would remove
// what belongs to it; `git worktree remove` would delete a checkout before it comes upon the guarded .git file. Both
// leave a locked one alone.
Answer<Found> GitFiles::look_up_lock() {
  constexpr std::string_view kText = "a worktree of the host: guarded by coop\n";
  if (!lock_.valid()) {
    UniqueFd fd(::memfd_create("locked", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd.valid() || ::fchmod(fd.get(), 0444) < 0 ||
        ::write(fd.get(), kText.data(), kText.size()) != static_cast<ssize_t>(kText.size()) ||
        ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK) < 0)
      return failure();
    lock_ = std::move(fd);
  }
  UniqueFd fd(::fcntl(lock_.get(), F_DUPFD_CLOEXEC, 0));
  struct stat status{};
  if (!fd.valid() || ::fstat(fd.get(), &status) < 0) return failure();
  const auto [number, node] = nodes_.enter(std::move(fd), status);
  node->place = {.guard = ".git"};
  return Found{number, attributes_of(status)};
}

Answer<Found> GitFiles::look_up_draft(UniqueFd fd) {
  struct stat status{};
  if (::fstat(fd.get(), &status) < 0) return failure();
  const auto [number, node] = nodes_.enter(std::move(fd), status);
  node->place = {};
  return Found{number, attributes_of(status)};
}

Answer<std::pair<Found, Opened>> GitFiles::create_draft(const ServedNode& parent, NewName at,
                                                        std::uint32_t mode) {
  const Answer<void> made =
      drafts_.make(parent.identity, parent.fd.get(), at.name, mode & kPermissions);
  if (!made && made.error() == EEXIST) return std::unexpected(EEXIST);
  // The file system has no files without a name.
  if (!made) return refuse(rules_.guard_of(parent.place, at.name), parent.fd.get(), at.name);
  const Answer<Found> found = look_up(at);
  if (!found) return std::unexpected(found.error());
  const Answer<fuse::Handle> handle = keep(drafts_.find(parent.identity, at.name).release());
  if (!handle) return std::unexpected(handle.error());
  return std::pair(*found, Opened{*handle, 0});
}

// Many commands write the settings as they are: `git branch -m`, `git submodule update`.
Answer<void> GitFiles::rename_draft(const ServedNode& parent, NewName from, NewName to,
                                    std::uint32_t flags) {
  const bool own =
      flags == 0 && from.parent == to.parent && std::string(to.name) + ".lock" == from.name;
  if (!own || !drafts_.is_same(parent.identity, parent.fd.get(), from.name, to.name))
    return refuse(rules_.guard_of(parent.place, from.name), parent.fd.get(), from.name);
  drafts_.remove(parent.identity, from.name);
  return {};
}

// The program inside gets EROFS; the report at the end says which grant it lacks.
std::unexpected<int> GitFiles::refuse(std::string_view guard, int fd, std::string_view name) {
  const Path path = text_of_link(fd);
  if (name.ends_with(".lock")) name.remove_suffix(std::string_view(".lock").size());
  refusals_.add(guard, name.empty() ? path : join(path, name));
  return refused();
}

void GitFiles::forget(fuse::Node node, std::uint64_t count) { nodes_.forget(node, count); }

// Nothing when it is not in this git directory any more.
std::optional<ServedPlace> GitFiles::place_now(int fd) {
  const int root = nodes_.find(fuse::kRoot)->fd.get();
  const Path top = text_of_link(root);
  const Path path = text_of_link(fd);
  if (!is_within(path, top)) return std::nullopt;
  ServedPlace place = rules_.top();
  UniqueFd at(::fcntl(root, F_DUPFD_CLOEXEC, 0));
  struct stat status{};
  for (std::string_view rest = relative_to(path, top); !rest.empty();) {
    const std::string name(rest.substr(0, rest.find('/')));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    at.reset(::openat(at.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!at.valid() || ::fstat(at.get(), &status) < 0) return std::nullopt;
    place = place_of(place, name, at.get(), status);
  }
  struct stat wanted{};
  if (::fstat(fd, &wanted) < 0 || ::fstat(at.get(), &status) < 0 ||
      wanted.st_dev != status.st_dev || wanted.st_ino != status.st_ino)
    return std::nullopt;
  return place;
}

ServedNode* GitFiles::current(fuse::Node number) {
  ServedNode* const node = nodes_.find(number);
  if (node == nullptr || number == fuse::kRoot) return node;
  struct stat status{};
  // One without a name, as a draft, stays what it is.
  if (::fstat(node->fd.get(), &status) == 0 && status.st_nlink == 0) return node;
  ServedPlace place = place_now(node->fd.get()).value_or(ServedPlace{.guard = kElsewhere});
  if (!place.guarded() && node->type != S_IFDIR) place.guard = node->place.guard;
  node->place = std::move(place);
  return node;
}

Answer<ServedNode*> GitFiles::writable_parent(NewName at) {
  ServedNode* const parent = current(at.parent);
  if (parent == nullptr) return std::unexpected(ESTALE);
  if (parent->place.guarded()) return refuse(parent->place.guard, parent->fd.get(), at.name);
  if (parent->hidden || known_.hidden.contains({parent->identity, std::string(at.name)}))
    return std::unexpected(EACCES);
  if (const std::string_view guard = rules_.guard_of(parent->place, at.name); !guard.empty())
    return refuse(guard, parent->fd.get(), at.name);
  return parent;
}

Answer<Found> GitFiles::make_symlink(NewName at, const std::string& text) {
  const Answer<ServedNode*> parent = writable_parent(at);
  if (!parent) return std::unexpected(parent.error());
  if (!(*parent)->place.made_inside && !is_link_of_git(text, at.name)) return refused();
  const std::string name(at.name);
  if (::symlinkat(text.c_str(), (*parent)->fd.get(), name.c_str()) < 0) return failure();
  return look_up(at);
}

Answer<Found> GitFiles::make_node(NewName at, std::uint32_t mode) {
  const Answer<ServedNode*> parent = writable_parent(at);
  if (!parent) return std::unexpected(parent.error());
  if (!S_ISREG(mode) && !S_ISFIFO(mode) && !S_ISSOCK(mode)) return std::unexpected(EPERM);
  const std::string name(at.name);
  if (::mknodat((*parent)->fd.get(), name.c_str(), mode & (S_IFMT | kPermissions), 0) < 0)
    return failure();
  touch((*parent)->fd.get(), name.c_str());
  return look_up(at);
}

Answer<Found> GitFiles::make_directory(NewName at, std::uint32_t mode) {
  const Answer<ServedNode*> parent = writable_parent(at);
  if (!parent) return std::unexpected(parent.error());
  const std::string name(at.name);
  if (::mkdirat((*parent)->fd.get(), name.c_str(), mode & kPermissions) < 0) return failure();
  remember_made((*parent)->fd.get(), name);
  touch((*parent)->fd.get(), name.c_str());
  return look_up(at);
}

Answer<void> GitFiles::remove(NewName at, int flags) {
  if (const ServedNode* const holder = nodes_.find(at.parent);
      holder != nullptr && flags == 0 && drafts_.remove(holder->identity, at.name))
    return {};
  const Answer<ServedNode*> parent = writable_parent(at);
  if (!parent) return std::unexpected(parent.error());
  return done(::unlinkat((*parent)->fd.get(), std::string(at.name).c_str(), flags));
}

// Whether an entry may leave its place. Judged by what stands there, not by what the kernel looked up before.
Answer<void> GitFiles::check_moved(const ServedNode& parent, std::string_view name) const {
  const UniqueFd fd(
      ::openat(parent.fd.get(), std::string(name).c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  if (!fd.valid() || ::fstat(fd.get(), &status) < 0) return failure();
  if (!S_ISDIR(status.st_mode)) return {};
  const ServedPlace place = place_of(parent.place, name, fd.get(), status);
  if (place.is_fixed()) return refused();
  return {};
}

// Symlinks can be made only where the sandbox made the directory; see make_symlink().
bool GitFiles::brings_links(const ServedNode& from, const std::string& name,
                            const ServedNode& to) const {
  struct stat status{};
  const UniqueFd fd(::openat(from.fd.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (to.place.made_inside || !fd.valid() || ::fstat(fd.get(), &status) < 0) return false;
  if (S_ISLNK(status.st_mode)) return true;
  if (!S_ISDIR(status.st_mode)) return false;
  return from.place.made_inside || place_of(from.place, name, fd.get(), status).made_inside;
}

Answer<void> GitFiles::rename(NewName from, NewName to, std::uint32_t flags) {
  if ((flags & ~static_cast<std::uint32_t>(RENAME_NOREPLACE | RENAME_EXCHANGE)) != 0)
    return std::unexpected(EINVAL);
  if (const ServedNode* const holder = nodes_.find(from.parent);
      holder != nullptr && drafts_.find(holder->identity, from.name).valid())
    return rename_draft(*holder, from, to, flags);
  const Answer<ServedNode*> old_parent = writable_parent(from);
  if (!old_parent) return std::unexpected(old_parent.error());
  const Answer<ServedNode*> new_parent = writable_parent(to);
  if (!new_parent) return std::unexpected(new_parent.error());
  if (const Answer<void> moved = check_moved(**old_parent, from.name); !moved) return moved;
  if (rules_.begins_guard((*new_parent)->place, to.name)) return refused();
  const std::string old_name(from.name);
  const std::string new_name(to.name);
  if (brings_links(**old_parent, old_name, **new_parent)) return refused();
  if ((flags & RENAME_EXCHANGE) != 0) {
    if (rules_.begins_guard((*old_parent)->place, from.name)) return refused();
    if (const Answer<void> moved = check_moved(**new_parent, to.name); !moved) return moved;
    if (brings_links(**new_parent, new_name, **old_parent)) return refused();
    touch((*new_parent)->fd.get(), new_name.c_str());
  }
  touch((*old_parent)->fd.get(), old_name.c_str());
  return done(::renameat2((*old_parent)->fd.get(), old_name.c_str(), (*new_parent)->fd.get(),
                          new_name.c_str(), flags));
}

// A second name of a guarded file would be a way to write it.
Answer<Found> GitFiles::link(fuse::Node number, NewName at) {
  const ServedNode* const node = current(number);
  if (node == nullptr) return std::unexpected(ESTALE);
  if (node->place.guarded()) return refuse(node->place.guard, node->fd.get());
  if (node->type == S_IFLNK) return std::unexpected(EPERM);
  if (node->hidden) return std::unexpected(EACCES);
  const Answer<ServedNode*> parent = writable_parent(at);
  if (!parent) return std::unexpected(parent.error());
  touch(node->fd.get(), "");
  if (::linkat(AT_FDCWD, path_of(node->fd.get()).c_str(), (*parent)->fd.get(),
               std::string(at.name).c_str(), AT_SYMLINK_FOLLOW) < 0)
    return failure();
  return look_up(at);
}

void GitFiles::remember_made(int directory, const std::string& name) {
  struct stat status{};
  const std::optional<std::int64_t> birth = birth_of(directory, name.c_str());
  if (!birth || made_.size() >= kMostMade ||
      ::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0)
    return;
  made_.emplace(status.st_dev, status.st_ino, *birth);
}

void GitFiles::touch(int directory, const char* name) {
  struct stat status{};
  if (::fstatat(directory, name, &status, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) == 0)
    touched_.add({status.st_dev, status.st_ino, birth_of(directory, name).value_or(0)});
}

bool GitFiles::was_made_inside(int fd) const {
  if (made_.empty()) return false;
  struct stat status{};
  const std::optional<std::int64_t> birth = birth_of(fd, "");
  return birth && ::fstat(fd, &status) == 0 &&
         made_.contains({status.st_dev, status.st_ino, *birth});
}

// --- Attributes and links ----------------------------------------------------------------------

Answer<fuse_attr> GitFiles::attributes(fuse::Node number) {
  const ServedNode* const node = nodes_.find(number);
  struct stat status{};
  if (node == nullptr) return std::unexpected(ESTALE);
  if (::fstat(node->fd.get(), &status) < 0) return failure();
  return attributes_of(status);
}

Answer<fuse_attr> GitFiles::set_attributes(fuse::Node number, const fuse_setattr_in& wanted) {
  const ServedNode* const node = current(number);
  if (node == nullptr) return std::unexpected(ESTALE);
  if (node->place.guarded()) return refuse(node->place.guard, node->fd.get());
  if (node->hidden) return std::unexpected(EACCES);
  // Inside there is one id. As root this process could give the file to any other.
  if (((wanted.valid & FATTR_UID) != 0 && wanted.uid != ids_.inside_uid) ||
      ((wanted.valid & FATTR_GID) != 0 && wanted.gid != ids_.inside_gid))
    return std::unexpected(EPERM);
  const std::string path = path_of(node->fd.get());
  if ((wanted.valid & (FATTR_MODE | FATTR_SIZE)) != 0) touch(node->fd.get(), "");
  if ((wanted.valid & FATTR_MODE) != 0) {
    if (node->type == S_IFLNK) return std::unexpected(EOPNOTSUPP);
    // The descriptor behind the path stays the same directory, whatever is renamed meanwhile.
    const std::uint32_t allowed = kPermissions | (node->type == S_IFDIR ? S_ISGID : 0U);
    if (::chmod(path.c_str(), wanted.mode & allowed) < 0) return failure();
  }
  if ((wanted.valid & FATTR_SIZE) != 0) {
    if (node->type != S_IFREG) return std::unexpected(EINVAL);
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (!file.valid() || ::ftruncate(file.get(), static_cast<off_t>(wanted.size)) < 0)
      return failure();
  }
  if ((wanted.valid & (FATTR_ATIME | FATTR_MTIME)) != 0) {
    const std::array times{
        time_of(wanted.atime, wanted.atimensec, (wanted.valid & FATTR_ATIME_NOW) != 0,
                (wanted.valid & FATTR_ATIME) != 0),
        time_of(wanted.mtime, wanted.mtimensec, (wanted.valid & FATTR_MTIME_NOW) != 0,
                (wanted.valid & FATTR_MTIME) != 0)};
    if (node->type == S_IFLNK) return std::unexpected(EOPNOTSUPP);
    if (::utimensat(AT_FDCWD, path.c_str(), times.data(), 0) < 0) return failure();
  }
  return attributes(number);
}

Answer<std::string> GitFiles::read_link(fuse::Node number) {
  const ServedNode* const node = nodes_.find(number);
  if (node == nullptr) return std::unexpected(ESTALE);
  if (node->hidden) return std::unexpected(EACCES);
  std::array<char, PATH_MAX> text{};
  const ssize_t size = ::readlinkat(node->fd.get(), "", text.data(), text.size());
  if (size < 0) return failure();
  return std::string(text.data(), static_cast<std::size_t>(size));
}

Answer<fuse_kstatfs> GitFiles::statistics(fuse::Node number) {
  const ServedNode* const node = nodes_.find(number);
  struct statfs found{};
  if (node == nullptr) return std::unexpected(ESTALE);
  if (::fstatfs(node->fd.get(), &found) < 0) return failure();
  fuse_kstatfs out{};
  out.blocks = found.f_blocks;
  out.bfree = found.f_bfree;
  out.bavail = found.f_bavail;
  out.files = found.f_files;
  out.ffree = found.f_ffree;
  out.bsize = static_cast<std::uint32_t>(found.f_bsize);
  out.namelen = static_cast<std::uint32_t>(found.f_namelen);
  out.frsize = static_cast<std::uint32_t>(found.f_frsize);
  return out;
}

// --- Contents ----------------------------------------------------------------------------------

Answer<fuse::Handle> GitFiles::keep(int fd) {
  if (fd < 0) return failure();
  const auto handle = static_cast<fuse::Handle>(fd);
  handles_[handle] = UniqueFd(fd);
  return handle;
}

Answer<int> GitFiles::opened(fuse::Handle handle) const {
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return std::unexpected(EBADF);
  return found->second.get();
}

Answer<Opened> GitFiles::open(fuse::Node number, std::uint32_t flags) {
  const ServedNode* const node = writes(flags) ? current(number) : nodes_.find(number);
  if (node == nullptr) return std::unexpected(ESTALE);
  // Opening a FIFO would block, opening a device would act on it. The kernel does not ask us to.
  if (node->type != S_IFREG) return std::unexpected(EINVAL);
  if (node->hidden) return std::unexpected(EACCES);
  if (writes(flags) && node->place.guarded()) return refuse(node->place.guard, node->fd.get());
  if (writes(flags)) touch(node->fd.get(), "");
  constexpr std::uint32_t kPassed = O_ACCMODE | O_TRUNC | O_APPEND | O_SYNC | O_DSYNC;
  // O_NONBLOCK: another sandbox may hold a lease on the file, and would stop us.
  const Answer<fuse::Handle> handle =
      keep(::open(path_of(node->fd.get()).c_str(),
                  static_cast<int>((flags & kPassed) | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)));
  if (!handle) return std::unexpected(handle.error());
  // The pages stay: the kernel drops them when size or time has changed, and git replaces files by new ones.
  return Opened{*handle, FOPEN_KEEP_CACHE};
}

Answer<std::pair<Found, Opened>> GitFiles::create(NewName at, std::uint32_t flags,
                                                  std::uint32_t mode) {
  if (const ServedNode* const holder = current(at.parent);
      holder != nullptr && (flags & O_EXCL) != 0 && rules_.is_draft(holder->place, at.name))
    return create_draft(*holder, at, mode);
  const Answer<ServedNode*> parent = writable_parent(at);
  if (!parent) return std::unexpected(parent.error());
  constexpr std::uint32_t kPassed = O_ACCMODE | O_EXCL | O_TRUNC | O_APPEND | O_SYNC | O_DSYNC;
  // Without O_EXCL it may exist meanwhile, as anything: O_NONBLOCK does not wait for the other end of a FIFO.
  UniqueFd fd(::openat((*parent)->fd.get(), std::string(at.name).c_str(),
                       static_cast<int>((flags & kPassed) | O_CREAT | O_NOFOLLOW | O_NONBLOCK |
                                        O_CLOEXEC | O_NOCTTY),
                       mode & kPermissions));
  struct stat status{};
  if (!fd.valid() || ::fstat(fd.get(), &status) < 0) return failure();
  touch(fd.get(), "");
  Answer<Found> found = look_up(at);
  if (!found) return std::unexpected(found.error());
  const ServedNode* const node = nodes_.find(found->node);
  const bool same = node->identity == Inode(status.st_dev, status.st_ino);
  if (!same || !S_ISREG(status.st_mode) || node->place.guarded()) {
    forget(found->node, 1);
    return std::unexpected(same ? EROFS : ESTALE);
  }
  const Answer<fuse::Handle> handle = keep(fd.release());
  return std::pair(*found, Opened{*handle, FOPEN_KEEP_CACHE});
}

Answer<std::size_t> GitFiles::read(fuse::Handle handle, std::uint64_t offset,
                                   std::span<std::byte> buffer) {
  const Answer<int> fd = opened(handle);
  if (!fd) return std::unexpected(fd.error());
  const ssize_t size = ::pread(*fd, buffer.data(), buffer.size(), static_cast<off_t>(offset));
  if (size < 0) return failure();
  return static_cast<std::size_t>(size);
}

// The host may rename a file that is open inside to a guarded name, as `sed -i .git/config` does, or give it one more.
bool GitFiles::became_guarded(int fd) {
  struct stat written{};
  struct stat guarded{};
  if (::fstat(fd, &written) < 0) return true;
  if (written.st_nlink == 0) return false;
  const std::optional<ServedPlace> place = place_now(fd);
  if (!place || place->guarded()) return true;
  const int root = nodes_.find(fuse::kRoot)->fd.get();
  return std::ranges::any_of(rules_.plain_names(), [&](const std::string& name) {
    return ::fstatat(root, name.c_str(), &guarded, AT_SYMLINK_NOFOLLOW) == 0 &&
           guarded.st_dev == written.st_dev && guarded.st_ino == written.st_ino;
  });
}

Answer<std::size_t> GitFiles::write(fuse::Handle handle, std::uint64_t offset,
                                    std::span<const std::byte> data) {
  const Answer<int> fd = opened(handle);
  if (!fd) return std::unexpected(fd.error());
  if (became_guarded(*fd)) return refused();
  const ssize_t size = ::pwrite(*fd, data.data(), data.size(), static_cast<off_t>(offset));
  if (size < 0) return failure();
  return static_cast<std::size_t>(size);
}

Answer<void> GitFiles::sync(fuse::Handle handle) {
  const Answer<int> fd = opened(handle);
  return fd ? done(::fsync(*fd)) : std::unexpected(fd.error());
}

void GitFiles::release(fuse::Handle handle) { handles_.erase(handle); }

Answer<Opened> GitFiles::open_directory(fuse::Node number) {
  const ServedNode* const node = nodes_.find(number);
  if (node == nullptr) return std::unexpected(ESTALE);
  if (node->type != S_IFDIR) return std::unexpected(ENOTDIR);
  if (node->hidden) return std::unexpected(EACCES);
  const Answer<fuse::Handle> handle =
      keep(::open(path_of(node->fd.get()).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!handle) return std::unexpected(handle.error());
  return Opened{*handle, 0};
}

Answer<void> GitFiles::read_directory(fuse::Handle handle, std::uint64_t offset,
                                      fuse::EntrySink& sink) {
  const Answer<int> fd = opened(handle);
  if (!fd) return std::unexpected(fd.error());
  if (::lseek(*fd, static_cast<off_t>(offset), SEEK_SET) < 0) return failure();
  alignas(dirent64) std::array<char, 32768> buffer;
  for (;;) {
    const ssize_t size = ::getdents64(*fd, buffer.data(), buffer.size());
    if (size < 0) return failure();
    if (size == 0) return {};
    for (ssize_t at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
      at += entry->d_reclen;
      if (!sink.add(entry->d_name, entry->d_ino, entry->d_type,
                    static_cast<std::uint64_t>(entry->d_off)))
        return {};
    }
  }
}

}  // namespace coop::guards
