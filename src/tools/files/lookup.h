// From a path, as a caller writes it, to what the kernel finds below the root of a view.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>
#include <vector>

#include "guards/matcher.h"
#include "tools/files/view.h"

namespace coop::tools {

enum class Walls : std::uint8_t { sandbox, none };

struct FileView::State {
  Walls walls = Walls::sandbox;
  run::Prepared prepared{};  // without walls: a plan that shows the host
  std::shared_ptr<const run::ViewRoot> sandbox{};
  UniqueFd host_root{};                        // without walls
  std::vector<guards::GuardMatcher> guards{};  // one for each guarded tree

  guards::InsideView view() const {
    return sandbox ? sandbox->view() : guards::InsideView{.root = host_root.get()};
  }
  int root() const { return view().root; }
  const Path& workspace() const { return prepared.policy.workspace; }
  const Path& workspace_inside() const { return prepared.plan.workspace; }
};

// What was asked for, for the error.
struct Request {
  std::string_view operation;  // "open", "write"
  std::string_view path;
};

// What the kernel found. Without `fd` there is no such file: `directory` is the deepest that exists above it, and
// `missing` the names below that, outermost first.
struct Found {
  Path asked{};   // absolute inside, by the text
  Path inside{};  // the kernel's name, or what that would be
  UniqueFd fd{};  // O_PATH
  struct stat status{};
  UniqueFd directory{};
  std::vector<std::string> missing{};
};

// Refuses what the view hides, by its name and by the kernel's name of what was opened.
Result<Found> find(const FileView::State& view, const Request& request);

// The same without walls, `asked` by its text. A link in the workspace that leads out of it is refused, under whatever
// name the workspace was entered.
Result<Found> find_on_host(const FileView::State& view, const Request& request, const Path& asked);

// The kernel's name of a descriptor, inside; an error when the file has been removed.
Result<Path> name_of_descriptor(const UniqueFd& fd, const Request& request);

// Opens again what `fd` (O_PATH) refers to, for reading. Nothing is looked up by a path. Only plain
// files and directories: opening a device can have effects, and a FIFO waits.
Result<UniqueFd> reopen(const UniqueFd& fd, const struct stat& status, const Request& request);

// --- By names alone, whether there is such a file or not --------------------------------------------------------

// What a rule hides, and what exists only while a command runs. The mounts would show nothing there either, but for a
// file that was put in the place of a hidden one since.
Result<void> check_shown(const FileView::State& view, const Request& request, const Path& inside);
// Guards and identity files. The last `made` names of the path are judged as if they were not there yet.
Result<void> check_name(const FileView::State& view, const Request& request, const Path& inside,
                        std::size_t made = 0);
// For a missing path: reports "not in the sandbox's view" if no mount covers it.
std::unexpected<Error> not_found(const FileView::State& view, const Request& request,
                                 const Found& found);
// check_name(), and what the plan says. The mounts refuse it as well, Landlock only inside.
Result<void> check_writable(const FileView::State& view, const Request& request, const Path& inside,
                            std::size_t made = 0);

}  // namespace coop::tools
