#include "guards/records/kept_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/path.h"
#include "sys/fd.h"
#include "sys/tree/entries.h"
#include "sys/tree/move_tree.h"

namespace coop::guards {

namespace {

constexpr const char* kList = "list";
constexpr std::size_t kLargestList = std::size_t{16} << 20;

std::string take_text(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\0'), rest.size());
  std::string text(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return text;
}

// Four texts for each file, each with a NUL: no path has one.
std::vector<Quarantined> parse(std::string_view text) {
  std::vector<Quarantined> files;
  while (!text.empty()) {
    Quarantined file{.path = take_text(text), .moved_to = take_text(text)};
    file.guard = take_text(text);
    file.problem = take_text(text);
    if (file.path.starts_with('/') && file.moved_to.starts_with('/'))
      files.push_back(std::move(file));
  }
  return files;
}

bool is_there(const Path& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

KeptRun read_run(const Path& quarantine, std::string_view id) {
  KeptRun run{.id = std::string(id), .directory = join(quarantine, id)};
  struct stat status{};
  const Result<UniqueFd> list =
      open_file(join(run.directory, kList), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (::lstat(run.directory.c_str(), &status) == 0) run.written = status.st_mtim.tv_sec;
  if (!list || ::fstat(list->get(), &status) < 0 || !S_ISREG(status.st_mode)) return run;
  run.written = status.st_mtim.tv_sec;
  const Result<std::string> text = read_all(list->get(), run.directory, kLargestList);
  if (text) run.files = parse(*text);
  std::erase_if(run.files, [](const Quarantined& file) { return !is_there(file.moved_to); });
  return run;
}

Result<UniqueFd> open_plain_parent(const Path& path) {
  const UniqueFd root = TRY(open_file("/", O_PATH | O_DIRECTORY));
  const Path parent(relative_to(parent_of(path), "/"));
  return open_beneath(root.get(), parent.empty() ? "." : parent, O_RDONLY | O_DIRECTORY);
}

}  // namespace

Result<void> write_kept_files(const Path& directory, const std::vector<Quarantined>& files) {
  std::string text;
  for (const Quarantined& file : files)
    for (const std::string* const field : {&file.path, &file.moved_to, &file.guard, &file.problem})
      text.append(*field) += '\0';
  const Path path = join(directory, kList);
  const Path fresh = path + ".new";
  {
    const UniqueFd fd = TRY(open_file(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600));
    TRY(write_all(fd.get(), text, fresh));
  }
  if (::rename(fresh.c_str(), path.c_str()) < 0) return system_error("rename", path);
  return {};
}

Result<std::vector<KeptRun>> kept_runs(const Path& quarantine) {
  std::vector<KeptRun> runs;
  const Result<UniqueFd> all = open_file(quarantine, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!all && all.error().errno_value == ENOENT) return runs;
  if (!all) return std::unexpected(all.error());
  const auto buffer = make_entry_buffer();
  TRY(for_each_entry(all->get(), *buffer, [&](std::string_view id, unsigned char) {
    runs.push_back(read_run(quarantine, id));
    return Next::go_on;
  }));
  std::ranges::sort(runs, [](const KeptRun& left, const KeptRun& right) {
    return left.written != right.written ? left.written > right.written : left.id < right.id;
  });
  return runs;
}

Result<void> put_back_kept(const Quarantined& file) {
  const UniqueFd from = TRY(open_plain_parent(file.moved_to));
  Result<UniqueFd> to = open_plain_parent(file.path);
  if (!to) {
    Error error = to.error();
    error.operation = "open";
    error.subject = printable(parent_of(file.path));
    if (error.errno_value == ENOENT)
      error.hint = "make the directory first; the file is " + printable(file.moved_to);
    if (error.errno_value == ELOOP)
      error.hint =
          "a directory on the way is a symlink now; the file is " + printable(file.moved_to);
    return std::unexpected(std::move(error));
  }
  const EntryName place{to->get(), std::string(name_of(file.path))};
  struct stat status{};
  if (::fstatat(place.directory, place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    Error error{.kind = Error::Kind::system,
                .errno_value = EEXIST,
                .operation = "put back",
                .subject = printable(file.path),
                .hint = "compare it with " + printable(file.moved_to) +
                        ", and move away the one that you do not want"};
    return std::unexpected(std::move(error));
  }
  return move_tree(EntryName{from.get(), std::string(name_of(file.moved_to))}, place);
}

Result<void> remove_kept_run(const Path& quarantine, const KeptRun& run) {
  const UniqueFd all = TRY(open_file(quarantine, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  return remove_tree(EntryName{all.get(), run.id});
}

}  // namespace coop::guards
