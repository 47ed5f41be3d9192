#include "tools/file_view.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>

#include <array>
#include <cerrno>
#include <vector>

#include "tools/path_form.h"
#include "tools/resolve.h"

namespace coop::tools {

namespace {

Path shown_as(const FileView::State& view, const Path& inside) {
  const Path& top = view.prepared.plan.workspace;
  if (!is_within(inside, top)) return inside;
  return inside == top ? Path(".") : Path(relative_to(inside, top));
}

// The directory of a file that was found, by its canonical path: a symlink on it now was put there
// since, and nothing is followed.
Result<UniqueFd> open_parent(const Path& host, const Request& request) {
  UniqueFd top = TRY(open_file("/", O_PATH | O_DIRECTORY));
  const Path parent = parent_of(host);
  const Path below(relative_to(parent, "/"));
  UniqueFd directory =
      TRY(open_beneath(top.get(), below.empty() ? "." : below, O_PATH | O_DIRECTORY));
  const Path now = TRY(name_of_descriptor(directory, request));
  if (now != parent)
    return invalid(request.operation,
                   in_quotes(request.path) + " was moved while it was looked at");
  return directory;
}

Result<WritePlace> place_of(const FileView::State& view, const Request& request,
                            const Resolved& found) {
  if (S_ISDIR(found.status.st_mode))
    return invalid(request.operation, in_quotes(request.path) + " is a directory");
  if (!S_ISREG(found.status.st_mode))
    return invalid(request.operation, in_quotes(request.path) + " is not a plain file");
  TRY(check_writable(view, request, found.host));
  WritePlace place{.name = std::string(name_of(found.host)),
                   .host = found.host,
                   .shown = shown_as(view, found.location.inside),
                   .exists = true,
                   .mode = found.status.st_mode & 0777,
                   .owner = found.status.st_uid,
                   .group = found.status.st_gid};
  place.directory = TRY(open_parent(found.host, request));
  return place;
}

// A directory that exists and the names below it that do not.
struct Ground {
  UniqueFd directory{};
  Path host{};
  std::vector<std::string> missing{};  // outermost first; the last is the file's
};

Result<Ground> find_ground(const Location& location, const Request& request) {
  UniqueFd root = TRY(open_file(location.root, O_PATH | O_DIRECTORY));
  Ground ground;
  Path below = "/" + location.below;
  do {
    ground.missing.insert(ground.missing.begin(), std::string(name_of(below)));
    below = parent_of(below);
    Result<UniqueFd> directory = open_in_root(root.get(), below, O_PATH | O_DIRECTORY);
    if (directory) {
      ground.directory = std::move(*directory);
      ground.host = TRY(name_of_descriptor(ground.directory, request));
      return ground;
    }
    if (directory.error().errno_value != ENOENT)
      return system_error_of(directory.error().errno_value, request.operation,
                             printable(request.path));
  } while (below != "/");
  return system_error_of(ENOENT, request.operation, printable(request.path));
}

// Everything is checked before the first directory is made, and again when the last one is there.
Result<WritePlace> new_place(const FileView::State& view, const Request& request,
                             const Location& location) {
  Ground ground = TRY(find_ground(location, request));
  Path host = ground.host;
  for (const std::string& name : ground.missing) host = join(host, name);
  TRY(check_writable(view, request, host));
  const std::string file = ground.missing.back();
  ground.missing.pop_back();
  UniqueFd directory = std::move(ground.directory);
  for (const std::string& name : ground.missing) {
    if (::mkdirat(directory.get(), name.c_str(), 0755) < 0 && errno != EEXIST)
      return system_error("mkdir", printable(request.path));
    // O_NOFOLLOW: a link that appeared in the meantime is not followed.
    directory = TRY(open_at(directory.get(), name, O_PATH | O_DIRECTORY | O_NOFOLLOW));
  }
  const Path parent = TRY(name_of_descriptor(directory, request));
  TRY(check_writable(view, request, join(parent, file)));
  return WritePlace{.directory = std::move(directory),
                    .name = file,
                    .host = join(parent, file),
                    .shown = shown_as(view, location.inside)};
}

bool names_directory(std::string_view path) {
  return path.ends_with('/') || path == "." || path.ends_with("/.") || path == ".." ||
         path.ends_with("/..");
}

}  // namespace

FileView::FileView(std::shared_ptr<const State> state) : state_(std::move(state)) {}

Result<FileView> FileView::of_sandbox(const Policy& policy) {
  auto state = std::make_shared<State>();
  state->prepared = TRY(run::prepare(policy));
  return FileView(std::move(state));
}

Result<FileView> FileView::of_host(const Path& workspace) {
  std::array<char, PATH_MAX> canonical;
  if (::realpath(workspace.c_str(), canonical.data()) == nullptr)
    return with_context("opening the workspace",
                        Result<FileView>(system_error("realpath", printable(workspace))));
  auto state = std::make_shared<State>();
  state->walls = Walls::none;
  state->prepared.policy.workspace = canonical.data();
  state->prepared.plan.workspace = canonical.data();
  state->prepared.plan.steps.push_back(Step{.action = RootHost{}});
  return FileView(std::move(state));
}

Result<OpenedFile> FileView::open(std::string_view path) const {
  const Request request{"open", path};
  TRY(check_form(request.operation, path));
  Resolved found = TRY(resolve(*state_, request));
  if (!found.fd.valid()) return system_error_of(ENOENT, request.operation, printable(path));
  if (names_directory(path) && !S_ISDIR(found.status.st_mode))
    return invalid(request.operation, in_quotes(path) + " is not a directory",
                   "leave the slash at the end out");
  OpenedFile file{.host = found.host,
                  .shown = shown_as(*state_, found.location.inside),
                  .status = found.status};
  file.fd = TRY(reopen(found.fd, found.status, request));
  return file;
}

Result<WritePlace> FileView::place(std::string_view path) const {
  const Request request{"write", path};
  TRY(check_form(request.operation, path));
  if (names_directory(path))
    return invalid(request.operation, in_quotes(path) + " names a directory, not a file");
  const Resolved found = TRY(resolve(*state_, request));
  // By the text too: a guarded or identity file may be a link to one that has another name.
  const Location asked = TRY(locate(state_->prepared.plan, workspace(), request.operation, path));
  TRY(check_name(*state_, request, asked.host()));
  TRY(check_name(*state_, request, found.location.host()));
  if (found.fd.valid()) return place_of(*state_, request, found);
  return new_place(*state_, request, found.location);
}

bool FileView::shows(const Path& host) const {
  return check_readable(*state_, Request{"open", host}, host).has_value();
}

const Path& FileView::workspace() const { return state_->workspace(); }
const Path& FileView::workspace_inside() const { return state_->prepared.plan.workspace; }

}  // namespace coop::tools
