#include "plan/show/explain.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/path.h"
#include "policy/builtin.h"

namespace coop::plan {

namespace {

bool shows(const Path& source, const Path& target, const Path& path, const Path& place) {
  return is_within(path, source) && join(target, relative_to(path, source)) == place;
}

// Whether `action` mounts a file system of the sandbox's own over `place`.
bool is_made_for_sandbox(const Action& action, const Path& place) {
  if (const auto* tmpfs = std::get_if<TmpfsMount>(&action)) return is_within(place, tmpfs->target);
  if (std::holds_alternative<ProcFilesystem>(action)) return is_within(place, "/proc");
  if (std::holds_alternative<MqueueMount>(action)) return is_within(place, "/dev/mqueue");
  return std::holds_alternative<DevptsMount>(action) && is_within(place, "/dev/pts");
}

// Tracks one path through the steps. A mount covers what was there before it; a later one that is
// deeper wins.
class Place {
 public:
  Place(const Path& path, const Path& place, const GuardPlan& guards)
      : path_(path), guards_(guards) {
    found_.inside = place;
  }

  void apply(const Step& step) {
    const Reach before = found_.reach;
    const Path& place = found_.inside;
    if (std::holds_alternative<RootHost>(step.action)) {
      set(place == path_ ? Reach::readable : Reach::absent, step);
    } else if (const auto* bind = std::get_if<BindMount>(&step.action)) {
      if (!is_within(place, bind->target)) return;
      const bool same = shows(bind->source, bind->target, path_, place);
      const bool writable = bind->flags.access == Access::read_write;
      set(!same ? Reach::hidden : writable ? Reach::writable : Reach::readable, step);
      if (same && bind->through == Through::supervisor) apply_served();
    } else if (const auto* overlay = std::get_if<OverlayMount>(&step.action)) {
      if (!is_within(place, overlay->target)) return;
      const bool same = shows(overlay->lower, overlay->target, path_, place);
      set(same ? Reach::scratch : Reach::hidden, step);
    } else if (const auto* remount = std::get_if<Remount>(&step.action)) {
      // A read-write remount only pins: it does not make a read-only path writable.
      const bool closes = remount->flags.access == Access::read_only &&
                          (before == Reach::writable || before == Reach::scratch);
      if (closes && is_within(place, remount->target)) set(Reach::readable, step);
    } else if (covers(step.action)) {
      set(Reach::hidden, step);
    }
  }

  const Explanation& found() const { return found_; }

 private:
  // In a served git directory names decide.
  void apply_served() {
    constexpr std::string_view kInGit = ".git/";
    for (const GitDirectory& git : guards_.served)
      for (const std::string& name : guards_.names) {
        if (!name.starts_with(kInGit) || policy::guard_kind(name) == policy::GuardKind::contents ||
            !is_within(path_, join(git.path, name.substr(kInGit.size()))))
          continue;
        found_.reach = Reach::readable;
        found_.origin = Origin::of_coop(Part::guard, name);
      }
  }

  bool covers(const Action& action) const {
    const Path& place = found_.inside;
    if (const auto* hide = std::get_if<HideMount>(&action)) return is_within(place, hide->target);
    if (const auto* file = std::get_if<CoverFile>(&action)) return place == file->target;
    return is_made_for_sandbox(action, place);
  }

  void set(Reach reach, const Step& step) {
    found_.reach = reach;
    found_.origin = step.origin;
    found_.reason = step.why;
  }

  const Path& path_;
  const GuardPlan& guards_;
  Explanation found_{};
};

// The path of the host that a step shows, and where.
std::optional<std::pair<Path, Path>> shown_by(const Action& action) {
  if (std::holds_alternative<RootHost>(action)) return std::pair<Path, Path>("/", "/");
  if (const auto* bind = std::get_if<BindMount>(&action)) return {{bind->source, bind->target}};
  if (const auto* overlay = std::get_if<OverlayMount>(&action))
    return {{overlay->lower, overlay->target}};
  return std::nullopt;
}

// What is at one name inside: a path of the host, or something of the sandbox's own.
class Name {
 public:
  explicit Name(const Path& inside) : inside_(inside) {}

  void apply(const Step& step) {
    if (const auto shown = shown_by(step.action)) {
      if (!is_within(inside_, shown->second)) return;
      *this = Name(inside_);
      host_ = join(shown->first, relative_to(inside_, shown->second));
    } else if (const std::optional<Path> mount = own_mount(step.action)) {
      if (!is_within(inside_, *mount)) return;
      *this = Name(inside_);
      own_ = &step;
      mount_ = *mount;
    } else if (const auto* cover = std::get_if<CoverFile>(&step.action)) {
      if (inside_ != cover->target) return;
      *this = Name(inside_);
      own_ = made_ = &step;
    } else if (const auto* hide = std::get_if<HideMount>(&step.action)) {
      if (is_within(inside_, hide->target)) hidden_ = &step;
    } else if (const auto* remount = std::get_if<Remount>(&step.action)) {
      const bool closes = remount->flags.access == Access::read_only;
      if (closes && is_within(inside_, remount->target)) sealed_ = true;
    } else if (const auto* seal = std::get_if<Seal>(&step.action)) {
      if (seal->target == mount_) sealed_ = true;
    } else if (const Path* made = made_by(step.action)) {
      // Also the directories above it.
      if (is_within(*made, inside_) && (made_ == nullptr || *made == inside_)) made_ = &step;
    }
  }

  const std::optional<Path>& host() const { return host_; }

  // Of a name with nothing of the host.
  Explanation own() const {
    if (own_ == nullptr) return {};
    const bool uses_made = made_ != nullptr && (inside_ != mount_ || is_itself_made());
    const Step& step = hidden_ != nullptr ? *hidden_ : uses_made ? *made_ : *own_;
    return {.reach = reach(),
            .inside = inside_,
            .origin = step.origin,
            .reason = step.why,
            .own = is_there() && hidden_ == nullptr};
  }

 private:
  static std::optional<Path> own_mount(const Action& action) {
    if (std::holds_alternative<RootTmpfs>(action)) return "/";
    if (const auto* tmpfs = std::get_if<TmpfsMount>(&action)) return tmpfs->target;
    if (std::holds_alternative<ProcFilesystem>(action)) return "/proc";
    if (std::holds_alternative<DevptsMount>(action)) return "/dev/pts";
    if (std::holds_alternative<MqueueMount>(action)) return "/dev/mqueue";
    return std::nullopt;
  }

  static const Path* made_by(const Action& action) {
    if (const auto* directory = std::get_if<MakeDirectory>(&action)) return &directory->target;
    if (const auto* file = std::get_if<MakeFile>(&action)) return &file->target;
    return nullptr;
  }

  Reach reach() const {
    if (hidden_ != nullptr) return Reach::hidden;
    const bool kernels = std::holds_alternative<ProcFilesystem>(own_->action) ||
                         std::holds_alternative<DevptsMount>(own_->action);
    const auto* tmpfs = std::get_if<TmpfsMount>(&own_->action);
    const bool sealed = sealed_ || kernels || std::holds_alternative<RootTmpfs>(own_->action) ||
                        (tmpfs != nullptr && tmpfs->flags.access == Access::read_only);
    const bool file = made_ != nullptr && !std::holds_alternative<MakeDirectory>(made_->action);
    const bool shared = tmpfs != nullptr && tmpfs->life == TmpfsLife::shared;
    const Reach open = shared ? Reach::writable : Reach::scratch;
    if (is_there()) return sealed || (file && is_itself_made()) ? Reach::readable : open;
    if (sealed) return Reach::absent;
    // A file of the host's home with this name is not there.
    return own_->origin.part == Part::home ? Reach::hidden : open;
  }

  bool is_there() const {
    return made_ != nullptr || inside_ == mount_ ||
           std::holds_alternative<ProcFilesystem>(own_->action) ||
           std::holds_alternative<DevptsMount>(own_->action);
  }

  bool is_itself_made() const {
    const Path* made = made_by(made_->action);
    return made == nullptr || *made == inside_;
  }

  Path inside_;
  std::optional<Path> host_{};
  const Step* own_ = nullptr;  // mounted the file system that the name is in
  Path mount_{};
  const Step* made_ = nullptr;  // made the name, or something below it
  const Step* hidden_ = nullptr;
  bool sealed_ = false;
};

// Links of the sandbox's own, like /bin in the minimal view.
Path through_links(const Plan& plan, Path path) {
  constexpr int kMost = 8;
  for (int count = 0; count < kMost; ++count) {
    const Path before = path;
    for (const Step& step : plan.steps) {
      const auto* link = std::get_if<MakeSymlink>(&step.action);
      if (link == nullptr || !is_within(path, link->target)) continue;
      path = normalize(
          join(normalize(link->link, parent_of(link->target)), relative_to(path, link->target)));
    }
    if (path == before) break;
  }
  return path;
}

std::set<Path> places_in(const Plan& plan, const Path& path) {
  std::set<Path> places;
  for (const Step& step : plan.steps)
    if (const auto shown = shown_by(step.action); shown && is_within(path, shown->first))
      places.insert(join(shown->second, relative_to(path, shown->first)));
  return places;
}

// A rule that would hide it explains more than the view, or the home, that lacks it.
void name_rule(Explanation& found, const Policy& policy) {
  const PathRule* hides = nullptr;
  for (const PathRule& rule : policy.rules) {
    if (rule.kind != RuleKind::hide || rule.pattern || !is_within(found.path, rule.path)) continue;
    if (hides == nullptr || rule.precedence >= hides->precedence) hides = &rule;
  }
  if (hides == nullptr) return;
  found.origin = hides->origin;
  found.reason = hides->reason;
}

// Not shown by any step.
Explanation absent(const Plan& plan, const Policy& policy, const Path& path) {
  Explanation found{.path = path};
  for (const Step& step : plan.steps)
    if (std::holds_alternative<RootTmpfs>(step.action) ||
        std::holds_alternative<RootHost>(step.action)) {
      found.origin = step.origin;
      found.reason = step.why;
    }
  name_rule(found, policy);
  return found;
}

// The planner refuses these whatever flag is given (check_special and check_shape in rules.cc).
bool cannot_be_granted(const Explanation& found, const Policy& policy) {
  const Path& path = found.path;
  if (path == "/" || is_within(path, "/proc") || is_within(path, "/dev") ||
      is_within(path, "/etc/coop") || found.origin.part == Part::sockets)
    return true;
  return std::ranges::any_of(policy.rules, [&](const PathRule& rule) {
    return rule.kind == RuleKind::hide && rule.origin.part == Part::own_files &&
           is_within(path, rule.path);
  });
}

// A rule's step has the rule's origin; if the rule needed no step, compare its path.
bool forbids(const PathRule& rule, const Explanation& found) {
  return is_within(found.path, rule.path) ||
         (found.reach != Reach::absent && rule.origin != Origin{} && rule.origin == found.origin);
}

bool is_beyond(const std::optional<std::vector<Path>>& trees, const Path& path) {
  return trees &&
         std::ranges::none_of(*trees, [&](const Path& tree) { return is_within(path, tree); });
}

bool may_be_read(const Explanation& found, const Policy& policy) {
  if (!is_within(found.path, policy.workspace) && is_beyond(policy.bounds.readable, found.path))
    return false;
  return std::ranges::none_of(policy.rules, [&](const PathRule& rule) {
    return rule.precedence == Precedence::final && rule.kind == RuleKind::hide &&
           forbids(rule, found);
  });
}

bool may_be_written(const Explanation& found, const Policy& policy) {
  const Bounds& bounds = policy.bounds;
  const bool bounded =
      policy.workspace_access == Access::read_only || !is_within(found.path, policy.workspace);
  if (bounded && is_beyond(bounds.writable ? bounds.writable : bounds.readable, found.path))
    return false;
  if (is_within(found.path, "/sys")) return false;
  return std::ranges::none_of(policy.rules, [&](const PathRule& rule) {
    return rule.kind == RuleKind::protect && forbids(rule, found);
  });
}

std::optional<Grant> grant_for(const Explanation& found, const Policy& policy) {
  if (cannot_be_granted(found, policy)) return {};
  switch (found.reach) {
    case Reach::absent:
    case Reach::hidden:
      if (!may_be_read(found, policy)) return {};
      return Grant{"--ro", found.path};
    case Reach::readable:
    case Reach::scratch: break;
    case Reach::writable: return {};
  }
  if (!may_be_written(found, policy)) return {};
  if (found.origin.part == Part::guard) return Grant{"--allow-guarded", found.origin.name};
  return Grant{"--rw", found.path};
}

}  // namespace

Explanation explain(const Plan& plan, const Policy& policy, const Path& path) {
  Explanation best = absent(plan, policy, path);
  for (const Path& inside : places_in(plan, path)) {
    Place place(path, inside, plan.guards);
    for (const Step& step : plan.steps) place.apply(step);
    if (place.found().reach > best.reach) {
      best = place.found();
      best.path = path;
    }
  }
  if (best.reach == Reach::hidden && best.origin.part == Part::home) name_rule(best, policy);
  best.grant = grant_for(best, policy);
  return best;
}

Explanation explain_inside(const Plan& plan, const Policy& policy, const Path& path) {
  const Path inside = through_links(plan, path);
  Name name(inside);
  for (const Step& step : plan.steps) name.apply(step);
  Explanation found;
  if (const std::optional<Path>& host = name.host()) {
    Place place(*host, inside, plan.guards);
    for (const Step& step : plan.steps) place.apply(step);
    found = place.found();
    found.path = *host;
  } else {
    found = name.own();
    if (found.reach == Reach::absent) {
      found = absent(plan, policy, inside);
      found.path.clear();
      return found;
    }
    if (found.reach != Reach::hidden || found.origin.part != Part::home) return found;
    found.path = inside;
    name_rule(found, policy);
  }
  found.grant = grant_for(found, policy);
  return found;
}

}  // namespace coop::plan
