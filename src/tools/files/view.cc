#include "tools/files/view.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "base/path.h"
#include "plan/show/explain.h"
#include "sys/real_path.h"
#include "tools/files/lookup.h"
#include "tools/files/path_form.h"

namespace coop::tools {

namespace {

Path shown_as(const FileView::State& view, const Path& inside) {
  const Path& top = view.workspace_inside();
  if (!is_within(inside, top)) return inside;
  return inside == top ? Path(".") : Path(relative_to(inside, top));
}

// The directory of a file that was found, by the kernel's name: a symlink on it now was put there
// since, and nothing is followed.
Result<UniqueFd> open_parent(const FileView::State& view, const Request& request,
                             const Path& inside) {
  const Path parent = parent_of(inside);
  const guards::InsideTree from = view.view().start_of(parent);
  const Path below(relative_to(parent, from.place));
  UniqueFd directory =
      TRY(open_beneath(from.directory, below.empty() ? "." : below, O_PATH | O_DIRECTORY));
  const Path now = TRY(name_of_descriptor(directory, request));
  if (now != parent)
    return invalid(request.operation,
                   in_quotes(request.path) + " was moved while it was looked at");
  return directory;
}

Result<WritePlace> existing_place(const FileView::State& view, const Request& request,
                                  const Found& found) {
  if (S_ISDIR(found.status.st_mode))
    return invalid(request.operation, in_quotes(request.path) + " is a directory");
  if (!S_ISREG(found.status.st_mode))
    return invalid(request.operation, in_quotes(request.path) + " is not a plain file");
  TRY(check_writable(view, request, found.inside));
  WritePlace place{.name = std::string(name_of(found.inside)),
                   .shown = shown_as(view, found.asked),
                   .exists = true,
                   .mode = found.status.st_mode & 0777,
                   .owner = found.status.st_uid,
                   .group = found.status.st_gid};
  place.directory = TRY(open_parent(view, request, found.inside));
  return place;
}

// Directories that were made for a file which is refused after all.
void remove_made(std::vector<MadeDirectory>& made) {
  for (; !made.empty(); made.pop_back())
    ::unlinkat(made.back().parent.get(), made.back().name.c_str(), AT_REMOVEDIR);
}

// Also one that another call has made a moment ago: what the two bring about together is neither's alone.
Result<void> make_directories(const Request& request, const std::vector<std::string>& names,
                              WritePlace& place) {
  for (const std::string& name : names) {
    if (::mkdirat(place.directory.get(), name.c_str(), 0755) < 0 && errno != EEXIST)
      return system_error("mkdir", printable(request.path));
    // O_NOFOLLOW: a link that appeared in the meantime is not followed.
    UniqueFd below = TRY(open_at(place.directory.get(), name, O_PATH | O_DIRECTORY | O_NOFOLLOW));
    place.made.push_back({std::exchange(place.directory, std::move(below)), name});
  }
  return {};
}

bool are_settings_known(const FileView::State& view) {
  const auto is_same = [](const GuardedPath& known) {
    struct stat now{};
    if (known.guard != ".git/config" && known.guard != ".git/config.worktree") return true;
    return ::lstat(known.path.c_str(), &now) == 0 && now.st_ino == known.inode &&
           std::int64_t{now.st_ctim.tv_sec} * 1'000'000'000 + now.st_ctim.tv_nsec == known.changed;
  };
  return std::ranges::all_of(view.prepared.before, [&](const WorkspaceFacts& facts) {
    return std::ranges::all_of(facts.guarded, is_same);
  });
}

Result<void> judge_made(const FileView::State& view, const Request& request,
                        const WritePlace& place) {
  const Path parent = TRY(name_of_descriptor(place.directory, request));
  const std::size_t made = place.exists ? 0 : place.made.size() + 1;
  if (!are_settings_known(view))
    return invalid(request.operation, "git's settings have changed meanwhile", "try again");
  return check_writable(view, request, join(parent, place.name), made);
}

// Everything is checked before the first directory is made, and again when the last one is there.
Result<WritePlace> new_place(const FileView::State& view, const Request& request, Found found) {
  TRY(check_writable(view, request, found.inside));
  WritePlace place{.directory = std::move(found.directory),
                   .name = found.missing.back(),
                   .shown = shown_as(view, found.asked)};
  found.missing.pop_back();
  Result<void> judged = make_directories(request, found.missing, place);
  if (judged) judged = judge_made(view, request, place);
  if (judged) return place;
  remove_made(place.made);
  return std::unexpected(judged.error());
}

bool names_directory(std::string_view path) {
  return path.ends_with('/') || path == "." || path.ends_with("/.") || path == ".." ||
         path.ends_with("/..");
}

void add_guards(FileView::State& state) {
  const GuardPlan& guards = state.prepared.plan.guards;
  for (std::size_t index = 0; index < guards.roots.size(); ++index)
    state.guards.emplace_back(guards::GuardedTree{.root = guards.roots[index],
                                                  .names = guards.names,
                                                  .before = state.prepared.before[index],
                                                  .writable = guards.roots});
}

}  // namespace

bool keeps_tmp(const Plan& plan) {
  return std::ranges::any_of(plan.steps, [](const Step& step) {
    const auto* tmpfs = std::get_if<TmpfsMount>(&step.action);
    return tmpfs != nullptr && tmpfs->life == TmpfsLife::shared;
  });
}

FileView::FileView(std::shared_ptr<const State> state) : state_(std::move(state)) {}

Result<FileView> FileView::of_sandbox(const Policy& policy, const FileView* former) {
  const Policy wanted = run::policy_for_view(policy);
  if (former != nullptr && former->is_alive()) {
    auto state = std::make_shared<State>();
    state->prepared = TRY(run::prepare(wanted));
    state->sandbox = former->state_->sandbox;
    add_guards(*state);
    if (state->prepared.plan.steps == state->sandbox->prepared().plan.steps &&
        state->sandbox->is_current())
      return FileView(std::move(state));
  }
  run::ViewRoot root = TRY(run::ViewRoot::open(wanted));
  return of_root(std::make_shared<const run::ViewRoot>(std::move(root)));
}

Result<FileView> FileView::of_root(std::shared_ptr<const run::ViewRoot> root) {
  auto state = std::make_shared<State>();
  state->prepared = root->prepared();
  state->sandbox = std::move(root);
  add_guards(*state);
  return FileView(std::move(state));
}

Result<FileView> FileView::of_host(const Path& workspace) {
  const Path canonical = TRY(with_context("opening the workspace", real_path(workspace)));
  auto state = std::make_shared<State>();
  state->walls = Walls::none;
  state->host_root = TRY(open_file("/", O_PATH | O_DIRECTORY));
  state->prepared.policy.workspace = canonical;
  state->prepared.plan.workspace = canonical;
  return FileView(std::move(state));
}

Result<OpenedFile> FileView::open(std::string_view path) const {
  const Request request{"open", path};
  TRY(check_form(request.operation, path));
  const Found found = TRY(find(*state_, request));
  if (!found.fd.valid()) return not_found(*state_, request, found);
  if (names_directory(path) && !S_ISDIR(found.status.st_mode))
    return invalid(request.operation, in_quotes(path) + " is not a directory",
                   "leave the slash at the end out");
  OpenedFile file{
      .inside = found.inside, .shown = shown_as(*state_, found.asked), .status = found.status};
  file.fd = TRY(reopen(found.fd, found.status, request));
  return file;
}

Result<WritePlace> FileView::place(std::string_view path) const {
  const Request request{"write", path};
  TRY(check_form(request.operation, path));
  if (names_directory(path))
    return invalid(request.operation, in_quotes(path) + " names a directory, not a file");
  Found found = TRY(find(*state_, request));
  // By the text too: a guarded or identity file may be a link to one that has another name.
  TRY(check_name(*state_, request, found.asked));
  if (found.fd.valid()) return existing_place(*state_, request, found);
  return new_place(*state_, request, std::move(found));
}

Result<void> FileView::judge_again(const WritePlace& place) const {
  return judge_made(*state_, Request{"write", place.shown}, place);
}

void FileView::withdraw(WritePlace& place) { remove_made(place.made); }

bool FileView::shows(const Path& inside) const {
  return check_shown(*state_, Request{"open", inside}, inside).has_value();
}

std::vector<Path> FileView::decided() const {
  std::vector<Path> paths{"/proc", "/dev/pts", "/dev/mqueue"};
  for (const Step& step : state_->prepared.plan.steps)
    std::visit(
        [&](const auto& action) {
          if constexpr (requires { action.target; }) paths.push_back(action.target);
        },
        step.action);
  std::ranges::sort(paths);
  return paths;
}

bool FileView::is_uniform(const Path& inside) const {
  if (state_->walls == Walls::none) return true;
  const plan::Explanation found =
      plan::explain_inside(state_->prepared.plan, state_->prepared.policy, inside);
  return !found.path.empty() && found.inside == inside && found.reach != plan::Reach::hidden;
}

const Path& FileView::workspace() const { return state_->workspace(); }
const Path& FileView::workspace_inside() const { return state_->workspace_inside(); }
bool FileView::keeps_tmp() const { return tools::keeps_tmp(state_->prepared.plan); }
bool FileView::is_alive() const { return !state_->sandbox || state_->sandbox->is_alive(); }
bool FileView::knows_settings() const { return are_settings_known(*state_); }
bool FileView::shares_sandbox_with(const FileView& other) const {
  return state_->sandbox == other.state_->sandbox;
}

Result<FileView> ViewCache::get() {
  const std::lock_guard lock(mutex_);
  if (view_ && view_->is_alive() && std::chrono::steady_clock::now() < good_until_ &&
      view_->knows_settings())
    return *view_;
  FileView fresh = TRY(with_context("looking at the workspace", make_(view_ ? &*view_ : nullptr)));
  keep(std::move(fresh));
  return *view_;
}

void ViewCache::put(FileView view) {
  const std::lock_guard lock(mutex_);
  keep(std::move(view));
}

void ViewCache::keep(FileView view) {
  view_.emplace(std::move(view));
  good_until_ = std::chrono::steady_clock::now() + good_for_;
}

void ViewCache::outdate() {
  const std::lock_guard lock(mutex_);
  good_until_ = {};
}

}  // namespace coop::tools
