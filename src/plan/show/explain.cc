#include "plan/show/explain.h"

#include <algorithm>
#include <array>
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

std::string_view to_text(Reach reach) {
  constexpr std::array<std::string_view, 5> kWords{"absent", "hidden", "readable", "scratch",
                                                   "writable"};
  return kWords[static_cast<std::size_t>(reach)];
}

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

Explanation explain_inside(const Plan& plan, const Policy& policy, const Path& inside) {
  std::optional<Path> host;
  const Step* own = nullptr;  // a file system that is made for the sandbox
  for (const Step& step : plan.steps) {
    if (is_made_for_sandbox(step.action, inside)) {
      host.reset();
      own = &step;
    }
    if (const auto shown = shown_by(step.action); shown && is_within(inside, shown->second)) {
      host = join(shown->first, relative_to(inside, shown->second));
      own = nullptr;
    }
  }
  if (own != nullptr && own->origin.part == Part::home) {
    Explanation found{.path = inside,
                      .reach = Reach::hidden,
                      .inside = inside,
                      .origin = own->origin,
                      .reason = own->why};
    name_rule(found, policy);
    found.grant = grant_for(found, policy);
    return found;
  }
  if (own != nullptr)
    return {.reach = Reach::scratch, .inside = inside, .origin = own->origin, .reason = own->why};
  if (!host) {
    Explanation found = absent(plan, policy, inside);
    found.path.clear();
    return found;
  }
  Place place(*host, inside, plan.guards);
  for (const Step& step : plan.steps) place.apply(step);
  Explanation found = place.found();
  found.path = *host;
  found.grant = grant_for(found, policy);
  return found;
}

}  // namespace coop::plan
