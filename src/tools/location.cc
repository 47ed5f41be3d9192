#include "tools/location.h"

#include <optional>

#include "tools/path_form.h"

namespace coop::tools {

namespace {

constexpr int kMostLinks = 8;  // of the plan's own: /bin -> usr/bin

struct Shown {
  Path source{};
  Path target{};
  PathKind kind = PathKind::directory;
  const Step* made = nullptr;  // what is there exists only while a command runs
};

// The last step that mounts something over a place has the last word about it. What is hidden stays
// on the map: explain() says by which rule.
std::optional<Shown> shown_at(const Plan& plan, const Path& inside) {
  std::optional<Shown> shown;
  const auto made = [&](const Path& target, const Step& step) {
    if (is_within(inside, target)) shown = Shown{.made = &step};
  };
  for (const Step& step : plan.steps) {
    if (std::holds_alternative<RootHost>(step.action)) {
      shown = Shown{.source = "/", .target = "/"};
    } else if (const auto* bind = std::get_if<BindMount>(&step.action)) {
      if (is_within(inside, bind->target))
        shown = Shown{.source = bind->source, .target = bind->target, .kind = bind->kind};
    } else if (const auto* overlay = std::get_if<OverlayMount>(&step.action)) {
      if (is_within(inside, overlay->target))
        shown = Shown{.source = overlay->lower, .target = overlay->target};
    } else if (const auto* tmpfs = std::get_if<TmpfsMount>(&step.action)) {
      made(tmpfs->target, step);
    } else if (std::holds_alternative<ProcFilesystem>(step.action)) {
      made("/proc", step);
    } else if (std::holds_alternative<DevptsMount>(step.action)) {
      made("/dev/pts", step);
    }
  }
  return shown;
}

// The view's own symlinks, where no mount has taken their place.
Path follow_links(const Plan& plan, Path inside) {
  for (int count = 0; count < kMostLinks; ++count) {
    const MakeSymlink* found = nullptr;
    for (const Step& step : plan.steps) {
      const auto* link = std::get_if<MakeSymlink>(&step.action);
      if (link != nullptr && is_within(inside, link->target)) found = link;
    }
    if (found == nullptr) break;
    inside =
        normalize(join(found->link, relative_to(inside, found->target)), parent_of(found->target));
  }
  return inside;
}

}  // namespace

Path Location::host() const { return below == "." ? root : join(root, below); }

Result<Location> locate(const Plan& plan, const Path& workspace, std::string_view operation,
                        std::string_view path) {
  Path inside = normalize(path, plan.workspace);
  if (!is_within(inside, plan.workspace) && is_within(inside, workspace))
    inside = join(plan.workspace, relative_to(inside, workspace));
  inside = follow_links(plan, inside);

  const std::optional<Shown> shown = shown_at(plan, inside);
  if (!shown && !path.starts_with('/'))
    return denied(
        operation,
        in_quotes(path) + " leads out of the workspace, to what is not in the sandbox's view",
        "view");
  if (!shown) return denied(operation, in_quotes(path) + " is not in the sandbox's view", "view");
  if (shown->made != nullptr)
    return denied(operation,
                  in_quotes(path) +
                      " is not in the sandbox's view outside of a command: what is there (" +
                      printable(shown->made->origin) + ") exists only while one runs",
                  "view");
  if (shown->kind != PathKind::directory) {
    if (inside != shown->target) return system_error_of(ENOTDIR, operation, printable(path));
    return Location{parent_of(shown->source), Path(name_of(shown->source)), inside};
  }
  const std::string_view below = relative_to(inside, shown->target);
  return Location{shown->source, below.empty() ? Path(".") : Path(below), inside};
}

}  // namespace coop::tools
