#include "tools/files/walk.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/path.h"
#include "tools/files/lookup.h"

namespace coop::tools {

namespace {

constexpr std::size_t kMostNames = 100000;  // in one directory

struct Closer {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

class Walk {
 public:
  Walk(const FileView& view, const std::function<Next(const WalkEntry&)>& visit)
      : view_(view), visit_(visit) {}

  // False: the visitor wants no more. Each level holds one descriptor; `depth` bounds them.
  bool directory(UniqueFd fd, const Path& inside, const Path& shown, int depth) {
    for (const std::string& name : names_in(fd)) {
      const Path below = shown == "." ? name : join(shown, name);
      if (!entry(fd, name, join(inside, name), below, depth)) return false;
    }
    return true;
  }

  Walked result{};

 private:
  std::vector<std::string> names_in(const UniqueFd& fd) {
    std::vector<std::string> names;
    UniqueFd own(::openat(fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const std::unique_ptr<DIR, Closer> listing(own.valid() ? ::fdopendir(own.get()) : nullptr);
    if (listing == nullptr) {
      result.incomplete = true;
      return names;
    }
    own.release();  // the listing closes it
    while (const dirent* const found = ::readdir(listing.get())) {
      const std::string_view name = found->d_name;
      if (name == "." || name == "..") continue;
      if (names.size() == kMostNames) {
        result.incomplete = true;
        break;
      }
      names.emplace_back(name);
    }
    std::ranges::sort(names);
    return names;
  }

  bool entry(const UniqueFd& directory_fd, const std::string& name, const Path& inside,
             const Path& shown, int depth) {
    if (!view_.shows(inside)) {
      ++result.hidden;
      return true;
    }
    const Result<UniqueFd> fd = open_at(directory_fd.get(), name, O_PATH | O_NOFOLLOW);
    struct stat status{};
    if (!fd || ::fstat(fd->get(), &status) < 0) return true;  // removed since it was listed
    const Next next = visit_(WalkEntry{*fd, status, name, shown});
    if (next == Next::stop) return false;
    if (next == Next::pass || !S_ISDIR(status.st_mode)) return true;
    if (depth <= 1) {
      result.incomplete = true;
      return true;
    }
    Result<UniqueFd> below = reopen(*fd, status, Request{"open", shown});
    if (!below) {
      result.incomplete = true;
      return true;
    }
    return directory(std::move(*below), inside, shown, depth - 1);
  }

  const FileView& view_;
  const std::function<Next(const WalkEntry&)>& visit_;
};

}  // namespace

Walked walk(const FileView& view, const OpenedFile& top, int depth,
            const std::function<Next(const WalkEntry&)>& visit) {
  Walk walker(view, visit);
  Result<UniqueFd> fd = reopen(top.fd, top.status, Request{"open", top.shown});
  if (fd) walker.directory(std::move(*fd), top.inside, top.shown, depth);
  else walker.result.incomplete = true;
  return walker.result;
}

}  // namespace coop::tools
