#include "sys/tree/copy_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sys/tree/copy_file.h"
#include "sys/tree/directory_stack.h"
#include "sys/tree/entries.h"

namespace coop {

namespace {

Result<struct stat> status_of(const EntryName& entry) {
  struct stat status{};
  if (::fstatat(entry.directory, entry.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0)
    return system_error("stat", entry.name);
  return status;
}

mode_t own_mode(const DirectoryStack& directory) { return directory.status().st_mode & 07777; }

// The remaining names of one directory on the path down.
struct Level {
  std::vector<std::string> names{};
  std::string own_name{};
};

Result<Level> list(const DirectoryStack& directory, EntryBuffer& buffer, std::string own_name) {
  Level level{.own_name = std::move(own_name)};
  TRY(for_each_entry(directory.fd(), buffer, [&](std::string_view name, unsigned char) {
    level.names.emplace_back(name);
    return Next::go_on;
  }));
  return level;
}

class Copier {
 public:
  Copier(DirectoryStack source, DirectoryStack target)
      : source_(std::move(source)), target_(std::move(target)) {}

  Result<void> run() {
    Level top = TRY(list(source_, *buffer_, {}));
    levels_.push_back(std::move(top));
    while (!levels_.empty()) {
      if (levels_.back().names.empty()) {
        TRY(finish_directory());
        continue;
      }
      const std::string name = std::move(levels_.back().names.back());
      levels_.back().names.pop_back();
      TRY(copy(name));
    }
    return {};
  }

 private:
  Result<void> copy(const std::string& name) {
    const struct stat status = TRY(status_of(EntryName{source_.fd(), name}));
    if (!S_ISDIR(status.st_mode))
      return copy_entry(EntryName{source_.fd(), name}, status, EntryName{target_.fd(), name});
    if (::mkdirat(target_.fd(), name.c_str(), 0700) < 0) return system_error("mkdir", name);
    TRY(source_.enter(name));
    TRY(target_.enter(name));
    Level below = TRY(list(source_, *buffer_, name));
    levels_.push_back(std::move(below));
    return {};
  }

  Result<void> finish_directory() {
    const mode_t mode = own_mode(source_);
    const UniqueFd finished(::fcntl(target_.fd(), F_DUPFD_CLOEXEC, 0));
    levels_.pop_back();
    if (!levels_.empty()) {
      TRY(source_.leave());
      TRY(target_.leave());  // its own mode must still let us through ".."
    }
    if (finished.valid()) ::fchmod(finished.get(), mode);
    return {};
  }

  DirectoryStack source_;
  DirectoryStack target_;
  std::vector<Level> levels_{};
  std::unique_ptr<EntryBuffer> buffer_ = make_entry_buffer();
};

class Remover {
 public:
  explicit Remover(DirectoryStack directory) : directory_(std::move(directory)) {}

  // Empties the directory.
  Result<void> run() {
    enter_level({});
    while (!levels_.empty()) {
      if (levels_.back().names.empty()) {
        TRY(leave_level());
        continue;
      }
      const std::string name = std::move(levels_.back().names.back());
      levels_.back().names.pop_back();
      remove(name);
    }
    return std::move(first_error_);
  }

 private:
  void enter_level(const std::string& name) {
    directory_.make_writable();
    Result<Level> level = list(directory_, *buffer_, name);
    if (!level) keep(level.error());
    levels_.push_back(level ? std::move(*level) : Level{.own_name = name});
  }

  Result<void> leave_level() {
    const std::string name = std::move(levels_.back().own_name);
    levels_.pop_back();
    if (levels_.empty()) return {};
    TRY(directory_.leave());
    if (::unlinkat(directory_.fd(), name.c_str(), AT_REMOVEDIR) < 0)
      keep(system_error("rmdir", name).error());
    return {};
  }

  void remove(const std::string& name) {
    const Result<struct stat> status = status_of(EntryName{directory_.fd(), name});
    if (!status) return keep(status.error());
    if (!S_ISDIR(status->st_mode)) {
      if (::unlinkat(directory_.fd(), name.c_str(), 0) < 0)
        keep(system_error("unlink", name).error());
      return;
    }
    if (const Result<void> entered = directory_.enter(name); !entered) return keep(entered.error());
    enter_level(name);
  }

  void keep(const Error& error) {
    if (first_error_) first_error_ = std::unexpected(error);
  }

  DirectoryStack directory_;
  std::vector<Level> levels_{};
  Result<void> first_error_{};
  std::unique_ptr<EntryBuffer> buffer_ = make_entry_buffer();
};

Result<void> copy_directory(const EntryName& from, const EntryName& to) {
  if (::mkdirat(to.directory, to.name.c_str(), 0700) < 0) return system_error("mkdir", to.name);
  DirectoryStack source = TRY(DirectoryStack::open(from.directory, from.name));
  DirectoryStack target = TRY(DirectoryStack::open(to.directory, to.name));
  return Copier(std::move(source), std::move(target)).run();
}

}  // namespace

Result<void> copy_tree(const EntryName& from, const EntryName& to) {
  const struct stat status = TRY(status_of(from));
  if (S_ISDIR(status.st_mode)) {
    TRY(copy_directory(from, to));
  } else {
    TRY(copy_entry(from, status, to));
  }
  // A full disk may be reported only now, and the original is removed next.
  if (::syncfs(to.directory) < 0) return system_error("syncfs", to.name);
  return {};
}

Result<void> remove_tree(const EntryName& entry) {
  const struct stat status = TRY(status_of(entry));
  if (!S_ISDIR(status.st_mode)) {
    if (::unlinkat(entry.directory, entry.name.c_str(), 0) < 0)
      return system_error("unlink", entry.name);
    return {};
  }
  DirectoryStack directory = TRY(DirectoryStack::open(entry.directory, entry.name));
  Result<void> emptied = Remover(std::move(directory)).run();
  if (emptied && ::unlinkat(entry.directory, entry.name.c_str(), AT_REMOVEDIR) < 0)
    return system_error("rmdir", entry.name);
  return emptied;
}

}  // namespace coop
