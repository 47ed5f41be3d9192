// Builds the new root. It is mounted on top of "/": absolute paths still lead into the host's tree
// below it (path walks start under the top mount), while everything relative to `state.root`
// happens in the new one. No mount point is ever created on the host.
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>

#include "child/sandbox/operations.h"
#include "child/sandbox/trees.h"
#include "child/state.h"

namespace coop::child {

int set_attributes(long tree, std::uint64_t attributes) noexcept {
  mount_attr wanted{};
  wanted.attr_set = attributes;
  wanted.propagation = MS_PRIVATE;
  return attempt(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &wanted, sizeof wanted);
}

long clone_tree(long source) noexcept {
  return raw::call(SYS_open_tree, source, "",
                   OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
}

int attach(long tree, long target) noexcept {
  return attempt(SYS_move_mount, tree, "", target, "",
                 MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

namespace {

long open_how_call(long directory, const char* path, std::uint64_t flags,
                   std::uint64_t resolve) noexcept {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = resolve;
  return raw::call(SYS_openat2, directory, path, &how, sizeof how);
}

// That mount alone.
int make_read_only(long mount) noexcept {
  mount_attr wanted{};
  wanted.attr_set = MOUNT_ATTR_RDONLY;
  return attempt(SYS_mount_setattr, mount, "", AT_EMPTY_PATH, &wanted, sizeof wanted);
}

int attach_copy(long source, std::uint64_t attributes, long target) noexcept {
  const ScopedFd tree(clone_tree(source));
  if (tree.failed()) return tree.error();
  if (const int error = set_attributes(tree.get(), attributes)) return error;
  return attach(tree.get(), target);
}

// Makes `tree` the new root. The caller's descriptor becomes state.root and stays open.
int adopt_root(State& state, long tree) noexcept {
  const long result = raw::call(SYS_move_mount, tree, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH);
  state.root = static_cast<int>(tree);
  return error_of(result);
}

// Named by its number: "0", "1", …
struct StagedName {
  explicit StagedName(std::uint64_t number) noexcept
      : text{static_cast<char>('0' + number), '\0'} {}
  char text[2];
};

const char* last_component(const char* path) noexcept {
  const char* name = path;
  for (const char* at = path; *at != '\0'; ++at)
    if (*at == '/') name = at + 1;
  return name;
}

bool same_start(const char* a, const char* b, std::size_t length) noexcept {
  for (std::size_t index = 0; index < length; ++index)
    if (a[index] != b[index]) return false;
  return true;
}

// The directory for a new entry, opened without following a symlink: mkdirat(root, "a/b") would
// follow a symlink "a", and an absolute one leads back to the host. Kept open for the next entry,
// which is mostly in the same directory; a new file system closes it.
long parent_of_entry(State& state, const char* path, std::size_t length) noexcept {
  if (length == 0) return state.root;
  if (state.parent >= 0 && state.parent_length == length &&
      same_start(state.parent_path, path, length))
    return state.parent;
  if (state.parent >= 0) raw::call(SYS_close, state.parent);
  char parent[4096];
  if (length >= sizeof parent) return -ENAMETOOLONG;
  for (std::size_t index = 0; index < length; ++index) parent[index] = path[index];
  parent[length - 1] = '\0';
  state.parent = static_cast<int>(open_inside(state, parent, O_PATH | O_DIRECTORY));
  state.parent_path = path;
  state.parent_length = length;
  return state.parent;
}

struct Place {
  Place(State& state, const char* path) noexcept
      : name(last_component(path)),
        directory(parent_of_entry(state, path, static_cast<std::size_t>(name - path))) {}
  bool failed() const noexcept { return directory < 0; }
  int error() const noexcept { return static_cast<int>(-directory); }

  const char* name;
  long directory;
};

// Whether a directory of another user on the way to `path` keeps us out, as in a workspace of root's with another user's private
// directory in it. We have every capability over our own ids here; the command, with the same ids and none, cannot get there
// either, nor change that directory's mode.
bool is_behind_another_user(const State& state, const char* path) noexcept {
  char begin[4096];
  const long ours = raw::call(SYS_geteuid);
  bool others = false;
  for (std::size_t length = 0; length + 1 < sizeof begin; ++length) {
    begin[length] = path[length];
    begin[length + 1] = '\0';
    if (path[length] == '\0') return false;
    if (path[length + 1] != '/' && path[length + 1] != '\0') continue;
    const ScopedFd here(open_inside(state, begin, O_PATH));
    if (here.failed()) return others && here.error() == EACCES;
    struct stat status{};
    if (attempt(SYS_newfstatat, here.get(), "", &status, AT_EMPTY_PATH) != 0) return false;
    others = static_cast<long>(status.st_uid) != ours;
  }
  return false;
}

// In a kept home an earlier sandbox may have made it, or put something else there: what is mounted on it or made in it next
// follows no symlink.
int unless_kept(int error, const Instruction& instruction) noexcept {
  return error == EEXIST && instruction.third == 1 ? 0 : error;
}

// Mount options in a buffer, as new_filesystem() takes them.
class Options {
 public:
  // key + number + suffix. Each is a literal of ours: the buffer is large enough for all of them.
  void add(const char* key, std::uint64_t number, const char* suffix = "") noexcept {
    append(key);
    char digits[20];
    int count = 0;
    do digits[count++] = static_cast<char>('0' + number % 10);
    while ((number /= 10) > 0);
    while (count > 0) *end_++ = digits[--count];
    append(suffix);
    *end_++ = '\0';
  }
  void add(const char* flag) noexcept {
    append(flag);
    *end_++ = '\0';
  }
  const char* get() noexcept {
    *end_ = '\0';
    return buffer_;
  }

 private:
  void append(const char* text) noexcept {
    while (*text != '\0') *end_++ = *text++;
  }

  char buffer_[320];
  char* end_ = buffer_;
};

}  // namespace

long open_below(long directory, const char* path, std::uint64_t flags,
                std::uint64_t resolve) noexcept {
  return open_how_call(directory, path, flags,
                       RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | resolve);
}

void forget_parent(State& state) noexcept {
  if (state.parent >= 0) raw::call(SYS_close, state.parent);
  state.parent = -1;
}

long open_on_host(const char* path, std::uint64_t flags) noexcept {
  return open_how_call(AT_FDCWD, path, flags, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

long open_inside(const State& state, const char* path, std::uint64_t flags) noexcept {
  return open_how_call(state.root, path, flags,
                       RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

long new_filesystem(const char* type, const char* options, std::uint64_t attributes) noexcept {
  const ScopedFd context(raw::call(SYS_fsopen, type, FSOPEN_CLOEXEC));
  if (context.failed()) return context.get();
  for (const char* option = options; option != nullptr && *option != '\0';) {
    char key[32];
    std::size_t length = 0;
    while (option[length] != '\0' && option[length] != '=' && length + 1 < sizeof key) {
      key[length] = option[length];
      ++length;
    }
    key[length] = '\0';
    const bool has_value = option[length] == '=';
    const char* value = option + length + 1;
    const long result =
        has_value ? raw::call(SYS_fsconfig, context.get(), FSCONFIG_SET_STRING, key, value, 0)
                  : raw::call(SYS_fsconfig, context.get(), FSCONFIG_SET_FLAG, key, nullptr, 0);
    if (result < 0) return result;
    while (*option != '\0') ++option;
    ++option;
  }
  const long created =
      raw::call(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0);
  if (created < 0) return created;
  return raw::call(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC, attributes);
}

namespace operation {

int root_tmpfs(State& state, const Instruction& instruction) noexcept {
  const long tree = new_filesystem("tmpfs", instruction.text,
                                   MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  return tree < 0 ? error_of(tree) : adopt_root(state, tree);
}

int root_host(State& state, const Instruction&) noexcept {
  const ScopedFd host(open_on_host("/", O_PATH | O_DIRECTORY));
  if (host.failed()) return host.error();
  const long tree = clone_tree(host.get());
  if (tree < 0) return error_of(tree);
  if (const int error =
          set_attributes(tree, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV))
    return error;
  return adopt_root(state, tree);
}

// The masks are placed where the fresh /proc will cover them: they do not stay visible.
int stage_masks(State& state, const Instruction& instruction) noexcept {
  const ScopedFd target(open_inside(state, instruction.path, O_PATH | O_DIRECTORY));
  if (target.failed()) return target.error();
  const long tree = new_filesystem("tmpfs", "size=65536\0nr_inodes=16\0mode=0755\0",
                                   MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  if (tree < 0) return error_of(tree);
  state.mask_tree = static_cast<int>(tree);
  if (const int error = attach(tree, target.get())) return error;
  if (const int error = attempt(SYS_mkdirat, tree, "d", 0555)) return error;
  return attempt(SYS_mknodat, tree, "f", S_IFREG, 0);
}

int stage_file(State& state, const Instruction& instruction) noexcept {
  if (instruction.second >= kMostStagedFiles) return E2BIG;
  const StagedName name(instruction.second);
  const ScopedFd file(raw::call(SYS_openat, state.mask_tree, name.text,
                                O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444));
  if (file.failed()) return file.error();
  return attempt(SYS_write, file.get(), instruction.text, instruction.first);
}

int seal_masks(State& state, const Instruction&) noexcept {
  const ScopedFd tree(state.mask_tree);
  // Sealed before anything is cloned from it, so every mask is read-only from the start.
  if (const int error = make_read_only(tree.get())) return error;
  state.mask_directory = static_cast<int>(open_how_call(tree.get(), "d", O_PATH, 0));
  state.mask_file = static_cast<int>(open_how_call(tree.get(), "f", O_PATH, 0));
  if (state.mask_directory < 0) return -state.mask_directory;
  if (state.mask_file < 0) return -state.mask_file;
  for (std::uint64_t number = 0; number < kMostStagedFiles; ++number) {
    const StagedName name(number);
    state.staged[number] = static_cast<int>(open_how_call(tree.get(), name.text, O_PATH, 0));
  }
  return 0;
}

int make_directory(State& state, const Instruction& instruction) noexcept {
  const Place place(state, instruction.path);
  if (place.failed()) return place.error();
  return unless_kept(attempt(SYS_mkdirat, place.directory, place.name, instruction.first),
                     instruction);
}

int make_symlink(State& state, const Instruction& instruction) noexcept {
  const Place place(state, instruction.path);
  if (place.failed()) return place.error();
  return unless_kept(attempt(SYS_symlinkat, instruction.text, place.directory, place.name),
                     instruction);
}

int make_file(State& state, const Instruction& instruction) noexcept {
  const Place place(state, instruction.path);
  if (place.failed()) return place.error();
  // Most are mount points, and need no descriptor.
  if (instruction.first == 0)
    return unless_kept(
        attempt(SYS_mknodat, place.directory, place.name, S_IFREG | instruction.second, 0),
        instruction);
  const ScopedFd file(raw::call(SYS_openat, place.directory, place.name,
                                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                instruction.second));
  if (file.failed()) return unless_kept(file.error(), instruction);
  return attempt(SYS_write, file.get(), instruction.text, instruction.first);
}

int bind(State& state, const Instruction& instruction) noexcept {
  const ScopedFd source(open_on_host(instruction.path, O_PATH));
  if (source.failed()) return source.error();
  const ScopedFd target(open_inside(state, instruction.text, O_PATH));
  if (target.failed()) return target.error();
  return attach_copy(source.get(), instruction.first, target.get());
}

// One descriptor is both source and target: there is no path that could be swapped in between.
int remount(State& state, const Instruction& instruction) noexcept {
  const ScopedFd place(open_inside(state, instruction.path, O_PATH));
  // Only guards: that user may open the directory during the run, and nothing else is put back in the end.
  if (instruction.second == 1 && place.error() == EACCES &&
      is_behind_another_user(state, instruction.path))
    return 0;
  if (place.failed()) return place.error();
  return attach_copy(place.get(), instruction.first, place.get());
}

int mount_new(State& state, const Instruction& instruction) noexcept {
  const ScopedFd tree(new_filesystem(instruction.text, static_cast<const char*>(instruction.data),
                                     instruction.first));
  if (tree.failed()) return tree.error();
  const ScopedFd target(open_inside(state, instruction.path, O_PATH));
  if (target.failed()) return target.error();
  forget_parent(state);
  return attach(tree.get(), target.get());
}

int mount_shared(State& state, const Instruction& instruction) noexcept {
  const ScopedFd tree(static_cast<long>(instruction.first));
  const ScopedFd target(open_inside(state, instruction.path, O_PATH | O_DIRECTORY));
  if (target.failed()) return target.error();
  forget_parent(state);
  return attach(tree.get(), target.get());
}

// The upper layer is a tmpfs mounted at the target first; the overlay then covers it. Only the
// overlay can reach it there, and it needs no other mount point.
int overlay(State& state, const Instruction& instruction) noexcept {
  const ScopedFd lower(open_on_host(instruction.path, O_PATH | O_DIRECTORY));
  if (lower.failed()) return lower.error();
  const ScopedFd target(open_inside(state, instruction.text, O_PATH | O_DIRECTORY));
  if (target.failed()) return target.error();
  const ScopedFd upper(new_filesystem("tmpfs", static_cast<const char*>(instruction.data),
                                      MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
  if (upper.failed()) return upper.error();
  if (const int error = attach(upper.get(), target.get())) return error;
  if (const int error = attempt(SYS_mkdirat, upper.get(), "upper", 0755)) return error;
  if (const int error = attempt(SYS_mkdirat, upper.get(), "work", 0755)) return error;
  const auto upper_fd = static_cast<std::uint64_t>(upper.get());
  Options options;
  options.add("lowerdir=/proc/self/fd/", static_cast<std::uint64_t>(lower.get()));
  options.add("upperdir=/proc/self/fd/", upper_fd, "/upper");
  options.add("workdir=/proc/self/fd/", upper_fd, "/work");
  options.add("userxattr");
  const ScopedFd tree(
      new_filesystem("overlay", options.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
  if (tree.failed()) return tree.error();
  return attach(tree.get(), upper.get());
}

// The device must be opened here: the kernel takes only a descriptor from the user namespace in which it is mounted.
// default_permissions: the kernel checks modes, for the supervisor, which may be root, would not.
int serve_files(State& state, const Instruction& instruction) noexcept {
  const ScopedFd target(open_inside(state, instruction.path, O_PATH | O_DIRECTORY));
  if (target.failed()) return target.error();
  const ScopedFd device(open_on_host("/dev/fuse", O_RDWR));
  if (device.failed()) return device.error();
  Options options;
  options.add("fd=", static_cast<std::uint64_t>(device.get()));
  options.add("rootmode=40755");
  options.add("user_id=", instruction.first);
  options.add("group_id=", instruction.second);
  options.add("default_permissions");
  const ScopedFd tree(new_filesystem("fuse", options.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
  if (tree.failed()) return tree.error();
  const ServedFiles served{instruction.third};
  const long sent = send_with_descriptor(state.files, &served, sizeof served,
                                         static_cast<int>(device.get()), MSG_NOSIGNAL);
  if (sent < 0) return error_of(sent);
  forget_parent(state);
  return attach(tree.get(), target.get());
}

int cover(State& state, const Instruction& instruction, int mask) noexcept {
  const ScopedFd target(open_inside(state, instruction.path, O_PATH));
  // EACCES: it is below a directory of another user, as a socket that only the real root can find.
  const bool unreachable = target.error() == ENOENT || target.error() == EACCES;
  if (target.failed() && unreachable && instruction.first == 1) return 0;
  if (target.failed()) return target.error();
  const ScopedFd tree(clone_tree(mask));
  if (tree.failed()) return tree.error();
  return attach(tree.get(), target.get());
}

int seal(State& state, const Instruction& instruction) noexcept {
  const ScopedFd place(open_inside(state, instruction.path, O_PATH | O_DIRECTORY));
  if (place.failed()) return place.error();
  return make_read_only(place.get());
}

int enter_root(State& state, const Instruction&) noexcept {
  if (const int error = attempt(SYS_fchdir, state.root)) return error;
  if (const int error = attempt(SYS_pivot_root, ".", ".")) return error;
  // The old root is now mounted on top of the new one; detaching it removes the host's tree.
  if (const int error = attempt(SYS_umount2, ".", MNT_DETACH)) return error;
  if (const int error = attempt(SYS_chdir, "/")) return error;
  forget_parent(state);
  if (state.mask_directory >= 0) raw::call(SYS_close, state.mask_directory);
  if (state.mask_file >= 0) raw::call(SYS_close, state.mask_file);
  for (const int staged : state.staged)
    if (staged >= 0) raw::call(SYS_close, staged);
  if (state.files >= 0) raw::call(SYS_close, state.files);
  state.files = -1;
  if (state.home >= 0) raw::call(SYS_close, state.home);
  if (state.empty_home >= 0) raw::call(SYS_close, state.empty_home);
  raw::call(SYS_close, state.root);
  return 0;
}

}  // namespace operation

}  // namespace coop::child
