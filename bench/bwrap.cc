// coop's plan as a bubblewrap command line. Where the two differ, bubblewrap gets the cheaper
// variant: its own --dev and --proc, and no directory that it creates by itself.
#include <algorithm>
#include <array>
#include <span>

#include "base/path.h"
#include "peers.h"
#include "plan/seccomp/profile.h"

namespace coop::bench {

namespace {

constexpr int kFirstDescriptor = 20;

bool below_own(const Path& path) { return is_within(path, "/dev") || is_within(path, "/proc"); }

const Path* target_of(const Action& action) {
  if (const auto* made = std::get_if<MakeDirectory>(&action)) return &made->target;
  if (const auto* made = std::get_if<MakeFile>(&action)) return &made->target;
  if (const auto* made = std::get_if<MakeSymlink>(&action)) return &made->target;
  if (const auto* mounted = std::get_if<BindMount>(&action)) return &mounted->target;
  if (const auto* mounted = std::get_if<TmpfsMount>(&action)) return &mounted->target;
  return nullptr;
}

// Whether another step's target is at or below this step's: bubblewrap then creates it by itself.
bool implied(const Plan& plan, const Step& made) {
  const Path& path = *target_of(made.action);
  return std::ranges::any_of(plan.steps, [&](const Step& other) {
    const Path* target = target_of(other.action);
    return &other != &made && target != nullptr && is_within(*target, path);
  });
}

class Translation {
 public:
  Translation(const Plan& plan, const Scratch& scratch) : plan_(plan), scratch_(scratch) {}

  Result<void> namespaces() {
    for (const std::string& name : plan_.namespaces) {
      if (name == "mount") continue;  // always created
      if (name == "time") return unsupported("bwrap", "has no time namespace");
      launch.arguments.push_back("--unshare-" + name);
    }
    return {};
  }

  Result<void> steps() {
    for (const Step& step : plan_.steps) TRY(one(step));
    return {};
  }

  // The filter in the kernel's format, as --seccomp reads it.
  Result<void> filter() {
    const seccomp::Profile* profile = seccomp::find("default");
    if (profile == nullptr) return unsupported("bwrap", "there is no profile \"default\"");
    const auto bytes = std::as_bytes(profile->program);
    return give_file("--seccomp", "filter.bpf",
                     std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }

  void add(std::initializer_list<std::string> words) {
    launch.arguments.insert(launch.arguments.end(), words);
  }

  Launch launch{};

 private:
  Result<void> give_file(const std::string& flag, std::string_view name,
                         std::string_view contents) {
    const Path path = TRY(scratch_.file(name, contents));
    const int descriptor = kFirstDescriptor + static_cast<int>(launch.files.size());
    launch.files.push_back(OpenFile{descriptor, path});
    add({flag, std::to_string(descriptor)});
    return {};
  }

  Result<void> one(const Step& step) {
    const Path* target = target_of(step.action);
    if (target != nullptr && below_own(*target)) {
      if (*target == "/dev") add({"--dev", "/dev"});
      return {};
    }
    if (const auto* named = std::get_if<SetHostname>(&step.action)) {
      add({"--hostname", named->name});
    } else if (std::holds_alternative<ProcFilesystem>(step.action)) {
      add({"--proc", "/proc"});
    } else if (const auto* link = std::get_if<MakeSymlink>(&step.action)) {
      add({"--symlink", link->link, link->target});
    } else if (std::holds_alternative<MakeDirectory>(step.action)) {
      if (!implied(plan_, step)) add({"--dir", *target});
    } else if (const auto* file = std::get_if<MakeFile>(&step.action)) {
      if (implied(plan_, step)) return {};
      TRY(give_file("--file", "given" + std::to_string(launch.files.size()), file->contents));
      add({file->target});
    } else {
      return mount(step.action);
    }
    return {};
  }

  Result<void> mount(const Action& action) {
    if (const auto* bound = std::get_if<BindMount>(&action)) {
      const bool writable = bound->flags.access == Access::read_write;
      add({writable ? "--bind" : "--ro-bind", bound->source, bound->target});
    } else if (const auto* tmpfs = std::get_if<TmpfsMount>(&action)) {
      add({"--perms", "1777", "--size", std::to_string(tmpfs->size), "--tmpfs", tmpfs->target});
    } else if (const auto* sealed = std::get_if<Seal>(&action)) {
      add({"--remount-ro", sealed->target});
    } else if (std::holds_alternative<HideMount>(action) ||
               std::holds_alternative<OverlayMount>(action) ||
               std::holds_alternative<RootHost>(action)) {
      return unsupported("bwrap", "a step of this plan has no counterpart");
    }
    // bubblewrap does the rest (ids, capabilities, no_new_privs, remounts of /proc) by itself.
    return {};
  }

  const Plan& plan_;
  const Scratch& scratch_;
};

}  // namespace

Result<Launch> bwrap_launch(const Plan& plan, const Scratch& scratch, Filter filter,
                            const Words& command) {
  Translation translation(plan, scratch);
  const Path program = TRY(find_program("bwrap"));
  translation.add({program});
  TRY(translation.namespaces());
  translation.add({"--die-with-parent", "--new-session", "--cap-drop", "ALL"});
  TRY(translation.steps());
  translation.add({"--chdir", plan.directory});
  if (filter == Filter::seccomp) TRY(translation.filter());
  translation.add({"--"});
  Launch launch = std::move(translation.launch);
  launch.arguments.insert(launch.arguments.end(), command.begin(), command.end());
  return launch;
}

}  // namespace coop::bench
