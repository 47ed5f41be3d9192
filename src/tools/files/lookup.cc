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

// Symlinks are followed, by the kernel. From a tree they do not lead out: EXDEV, see leading_out().
Result<UniqueFd> open_inside(const FileView::State& view, const Path& inside, int flags) {
  const guards::InsideTree from = view.view().start_of(inside);
  if (from.place == "/") return open_in_root(from.directory, inside, flags);
  const Path below(relative_to(inside, from.place));
  return open_within(from.directory, below.empty() ? "." : below, flags);
}

// Where the first symlink leads that leaves the tree of `inside`, and what comes behind it.
std::optional<Path> leading_out(const FileView::State& view, const Path& inside) {
  const guards::InsideTree from = view.view().start_of(inside);
  Path here = from.place;
  std::string_view rest = relative_to(inside, from.place);
  while (!rest.empty()) {
    const std::string name(rest.substr(0, rest.find('/')));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    const Path below(relative_to(here, from.place));
    const Result<UniqueFd> directory =
        open_within(from.directory, below.empty() ? "." : below, O_PATH | O_DIRECTORY);
    if (!directory) return std::nullopt;
    if (const std::optional<std::string> link = link_text(directory->get(), name)) {
      const Path target = normalize(*link, here);
      if (!is_within(target, from.place) || link->starts_with('/'))
        return rest.empty() ? target : join(target, rest);
    }
    here = join(here, name);
  }
  return std::nullopt;
}

// What is found from the root below a kept home has the name of a tree, and is only what the tree is mounted on.
bool is_below_a_tree(const FileView::State& view, const Path& asked, const Path& found) {
  return view.view().start_of(asked).place == "/" && view.view().start_of(found).place != "/";
}

// The deepest directory above `inside` that exists.
Result<Found> find_gap(const FileView::State& view, const Request& request, const Path& inside) {
  Found gap;
  Path above = inside;
  while (!gap.directory.valid() && above != "/") {
    gap.missing.insert(gap.missing.begin(), std::string(name_of(above)));
    above = parent_of(above);
    Result<UniqueFd> directory = open_inside(view, above, O_PATH | O_DIRECTORY);
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
  Result<UniqueFd> fd = open_inside(view, inside, O_PATH);
  if (fd) {
    Found found = TRY(opened(view, request, std::move(*fd)));
    if (!is_below_a_tree(view, inside, found.inside)) return found;
    next = found.inside;
    return Found{};
  }
  const int error = fd.error().errno_value;
  if (error == EXDEV && (next = leading_out(view, inside))) return Found{};
  if (error == ELOOP)
    return invalid(request.operation,
                   in_quotes(request.path) + " goes through a link that cannot be followed");
  if (error != ENOENT) return system_error_of(error, request.operation, printable(request.path));
  Found gap = TRY(find_gap(view, request, inside));
  if (is_below_a_tree(view, inside, gap.inside)) {
    Path whole = gap.inside;
    for (const std::string& name : gap.missing) whole = join(whole, name);
    next = whole;
    return Found{};
  }
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
