#include "tools/resolve.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

#include "tools/path_form.h"

namespace coop::tools {

namespace {

constexpr int kMostLinks = 16;

std::optional<std::string> link_text(int fd) {
  std::array<char, PATH_MAX> buffer;
  const ssize_t size = ::readlinkat(fd, "", buffer.data(), buffer.size());
  if (size <= 0) return std::nullopt;
  return std::string(buffer.data(), static_cast<std::size_t>(size));
}

// The kernel found nothing with the tree as "/". The first symlink on the way may lead to another
// tree of the view: then this is the path with its text put in, to be looked up (and checked) anew.
std::optional<Path> through_link(const UniqueFd& root, const Location& location) {
  UniqueFd here(::dup(root.get()));
  std::string_view rest = location.below;
  Path inside = location.inside;
  for (std::size_t count = depth_of("/" + location.below); count > 0; --count)
    inside = parent_of(inside);
  while (!rest.empty()) {
    const std::string name(rest.substr(0, rest.find('/')));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    Result<UniqueFd> next = open_at(here.get(), name, O_PATH | O_NOFOLLOW);
    struct stat status{};
    if (!next || ::fstat(next->get(), &status) < 0) return std::nullopt;
    if (S_ISLNK(status.st_mode)) {
      const std::optional<std::string> text = link_text(next->get());
      if (!text || text->size() + rest.size() >= PATH_MAX) return std::nullopt;
      return normalize(join(*text, rest), inside);
    }
    inside = join(inside, name);
    here = std::move(*next);
  }
  return std::nullopt;
}

bool means_missing(int error) { return error == ENOENT || error == ENOTDIR || error == EACCES; }

Result<Resolved> opened(const FileView::State& view, const Request& request, Location location,
                        UniqueFd fd) {
  Resolved found{.location = std::move(location), .fd = std::move(fd)};
  found.host = TRY(name_of_descriptor(found.fd, request));
  TRY(check_readable(view, request, found.host));
  if (::fstat(found.fd.get(), &found.status) < 0)
    return system_error(request.operation, printable(request.path));
  return found;
}

// One look-up. No descriptor and no error: a link leads on, to `next`.
Result<Resolved> look_up(const FileView::State& view, const Request& request,
                         std::optional<Path>& next) {
  Location location =
      TRY(locate(view.prepared.plan, view.workspace(), request.operation, request.path));
  TRY(check_readable(view, request, location.host()));
  UniqueFd root = TRY(open_file(location.root, O_PATH | O_DIRECTORY));
  Result<UniqueFd> fd = open_in_root(root.get(), location.below, O_PATH);
  if (fd) return opened(view, request, std::move(location), std::move(*fd));
  const int error = fd.error().errno_value;
  if (error == ELOOP)
    return invalid(request.operation,
                   in_quotes(request.path) + " goes through a link that cannot be followed");
  if (!means_missing(error))
    return system_error_of(error, request.operation, printable(request.path));
  next = through_link(root, location);
  if (!next && error != ENOENT)
    return system_error_of(error, request.operation, printable(request.path));
  return Resolved{.location = std::move(location)};
}

// Without walls a link in the workspace could lead the owner's tools anywhere, and others may have put it there.
Result<void> check_link(const FileView::State& view, const Request& request, const Path& host) {
  if (view.walls == Walls::sandbox || is_within(host, view.workspace())) return {};
  const Location asked =
      TRY(locate(view.prepared.plan, view.workspace(), request.operation, request.path));
  if (!is_within(asked.host(), view.workspace())) return {};
  return denied(request.operation,
                in_quotes(request.path) + " leads out of the workspace, to " + in_quotes(host),
                "links of the workspace", "name the file it leads to, if that is meant");
}

}  // namespace

Result<Path> name_of_descriptor(const UniqueFd& fd, const Request& request) {
  std::array<char, PATH_MAX> buffer;
  const Path link = "/proc/self/fd/" + std::to_string(fd.get());
  const ssize_t size = ::readlink(link.c_str(), buffer.data(), buffer.size());
  struct stat status{};
  if (size < 0 || ::fstat(fd.get(), &status) < 0)
    return system_error(request.operation, printable(request.path));
  const Path path(buffer.data(), static_cast<std::size_t>(size));
  // A name that is cut, or of a file that has none any more, says nothing about rules.
  if (static_cast<std::size_t>(size) == buffer.size() || !path.starts_with('/'))
    return system_error_of(ENAMETOOLONG, request.operation, printable(request.path));
  if (status.st_nlink == 0 || path.ends_with(" (deleted)"))
    return system_error_of(ENOENT, request.operation, printable(request.path));
  return path;
}

Result<Resolved> resolve(const FileView::State& view, const Request& request) {
  std::optional<Path> next;
  Result<Resolved> found = look_up(view, request, next);
  for (int links = 0; found && next && links < kMostLinks; ++links) {
    const Path path = *std::exchange(next, std::nullopt);
    found = with_context(in_quotes(request.path) + " is or goes through a link",
                         look_up(view, Request{request.operation, path}, next));
  }
  if (found && found->fd.valid()) TRY(check_link(view, request, found->host));
  if (found && next)
    return invalid(request.operation, in_quotes(request.path) + " goes through too many links");
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
