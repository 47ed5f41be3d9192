#include "tools/files/lookup.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

#include "base/path.h"
#include "plan/show/explain.h"
#include "sys/real_path.h"
#include "tools/files/path_form.h"

namespace coop::tools {

namespace {

constexpr int kMostLinks = 16;

// Lexical normalisation: ".." removes the preceding component; host paths of the workspace are translated.
Path inside_of(const FileView::State& view, std::string_view path) {
  const Path inside = normalize(path, view.workspace_inside());
  if (is_within(inside, view.workspace_inside()) || !is_within(inside, view.workspace()))
    return inside;
  return join(view.workspace_inside(), relative_to(inside, view.workspace()));
}

std::optional<std::string> link_text(int directory, const std::string& name) {
  const Result<UniqueFd> link = open_at(directory, name, O_PATH | O_NOFOLLOW);
  struct stat status{};
  if (!link || ::fstat(link->get(), &status) < 0 || !S_ISLNK(status.st_mode)) return std::nullopt;
  std::array<char, PATH_MAX> buffer;
  const ssize_t size = ::readlinkat(link->get(), "", buffer.data(), buffer.size());
  if (size <= 0) return std::nullopt;
  return std::string(buffer.data(), static_cast<std::size_t>(size));
}

Result<Found> opened(const FileView::State& view, const Request& request, UniqueFd fd) {
  Found found{.fd = std::move(fd)};
  found.inside = TRY(name_of_descriptor(found.fd, request));
  TRY(check_shown(view, request, found.inside));
  if (::fstat(found.fd.get(), &found.status) < 0)
    return system_error(request.operation, printable(request.path));
  return found;
}

// The deepest directory above `inside` that exists.
Result<Found> find_gap(const FileView::State& view, const Request& request, const Path& inside) {
  Found gap;
  Path above = inside;
  while (!gap.directory.valid() && above != "/") {
    gap.missing.insert(gap.missing.begin(), std::string(name_of(above)));
    above = parent_of(above);
    Result<UniqueFd> directory = open_in_root(view.root(), above, O_PATH | O_DIRECTORY);
    if (directory) gap.directory = std::move(*directory);
    else if (directory.error().errno_value != ENOENT)
      return system_error_of(directory.error().errno_value, request.operation,
                             printable(request.path));
  }
  gap.inside = TRY(name_of_descriptor(gap.directory, request));
  return gap;
}

// One look-up. `next`: a symlink that leads to nothing stands there, and this is what it leads to.
Result<Found> look_up(const FileView::State& view, const Request& request, const Path& inside,
                      std::optional<Path>& next) {
  TRY(check_shown(view, request, inside));
  Result<UniqueFd> fd = open_in_root(view.root(), inside, O_PATH);
  if (fd) return opened(view, request, std::move(*fd));
  const int error = fd.error().errno_value;
  if (error == ELOOP)
    return invalid(request.operation,
                   in_quotes(request.path) + " goes through a link that cannot be followed");
  if (error != ENOENT) return system_error_of(error, request.operation, printable(request.path));
  Found gap = TRY(find_gap(view, request, inside));
  Path rest;
  for (const std::string& name : gap.missing) rest = rest.empty() ? name : join(rest, name);
  const std::optional<std::string> link = link_text(gap.directory.get(), gap.missing.front());
  if (link && link->size() + rest.size() < PATH_MAX)
    next = normalize(join(*link, relative_to("/" + rest, "/" + gap.missing.front())), gap.inside);
  gap.inside = join(gap.inside, rest);
  if (!next) TRY(check_shown(view, request, gap.inside));
  return gap;
}

}  // namespace

Result<Path> name_of_descriptor(const UniqueFd& fd, const Request& request) {
  const Result<Path> link = read_link("/proc/self/fd/" + std::to_string(fd.get()));
  struct stat status{};
  if (!link || ::fstat(fd.get(), &status) < 0)
    return system_error(request.operation, printable(request.path));
  const Path& path = *link;
  // A name that is cut, or of a file that has none any more, says nothing about rules.
  if (path.size() == PATH_MAX || !path.starts_with('/'))
    return system_error_of(ENAMETOOLONG, request.operation, printable(request.path));
  if (status.st_nlink == 0 || path.ends_with(" (deleted)"))
    return system_error_of(ENOENT, request.operation, printable(request.path));
  return path;
}

Result<Found> find(const FileView::State& view, const Request& request) {
  const Path asked = inside_of(view, request.path);
  if (view.walls == Walls::none) return find_on_host(view, request, asked);
  std::optional<Path> next;
  Result<Found> found = look_up(view, request, asked, next);
  for (int links = 0; found && next && links < kMostLinks; ++links) {
    const Path path = *std::exchange(next, std::nullopt);
    found = with_context(in_quotes(request.path) + " is or goes through a link",
                         look_up(view, Request{request.operation, path}, path, next));
  }
  if (found && next)
    return invalid(request.operation, in_quotes(request.path) + " goes through too many links");
  if (!found) return found;
  found->asked = asked;
  return found;
}

Result<UniqueFd> reopen(const UniqueFd& fd, const struct stat& status, const Request& request) {
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
    return invalid(request.operation, in_quotes(request.path) +
                                          " is neither a plain file nor a directory (a device, "
                                          "socket or FIFO)");
  const Path link = "/proc/self/fd/" + std::to_string(fd.get());
  UniqueFd open(::open(link.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!open.valid()) return system_error(request.operation, printable(request.path));
  return open;
}

}  // namespace coop::tools
