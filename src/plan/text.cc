#include "plan/text.h"

#include <cerrno>
#include <cstdio>

#include "base/path.h"
#include "base/quantity.h"
#include "plan/landlock/rights.h"
#include "plan/seccomp/profile.h"
#include "policy/policy.h"

namespace coop::plan {

namespace {

std::string quoted(const std::string& text) { return "\"" + printable(text) + "\""; }

std::string flag_words(const MountFlags& flags) {
  std::string words(coop::to_text(flags.access));
  if (!flags.exec) words += ",noexec";
  if (flags.devices) words += ",dev";
  return words;
}

struct Sentence {
  std::string operator()(const MapIds& ids) const {
    return "map uid " + std::to_string(ids.host_uid) + " to " + std::to_string(ids.inside_uid) +
           " and gid " + std::to_string(ids.host_gid) + " to " + std::to_string(ids.inside_gid);
  }
  std::string operator()(const OffsetClocks& clocks) const {
    return "offset the monotonic and boot clocks by " + std::to_string(clocks.seconds) + " s";
  }
  std::string operator()(const RaiseLoopback&) const {
    return "make a network of its own with only a loopback interface";
  }
  std::string operator()(const SetHostname& hostname) const {
    return "set the hostname " + quoted(hostname.name);
  }
  std::string operator()(const RootTmpfs&) const { return "make an empty root"; }
  std::string operator()(const RootHost&) const { return "take the host's tree read-only as root"; }
  std::string operator()(const MakeDirectory& directory) const {
    return "make the directory " + quoted(directory.target);
  }
  std::string operator()(const MakeFile& file) const {
    return "make the file " + quoted(file.target);
  }
  std::string operator()(const MakeSymlink& link) const {
    return "make the symlink " + quoted(link.target) + " to " + quoted(link.link);
  }
  std::string operator()(const BindMount& bind) const {
    return "bind " + flag_words(bind.flags) + " " + quoted(bind.source) +
           (bind.source == bind.target ? "" : " at " + quoted(bind.target));
  }
  std::string operator()(const Remount& remount) const {
    return (remount.flags.access == Access::read_only ? "make read-only " : "pin ") +
           quoted(remount.target);
  }
  std::string operator()(const TmpfsMount& tmpfs) const {
    return "mount an empty tmpfs of " + format_size(tmpfs.size) + " at " + quoted(tmpfs.target);
  }
  std::string operator()(const HideMount& hide) const { return "hide " + quoted(hide.target); }
  std::string operator()(const OverlayMount& overlay) const {
    return "overlay " + quoted(overlay.target) + " with a private layer of " +
           format_size(overlay.size);
  }
  std::string operator()(const ProcFilesystem& proc) const {
    return proc.kind == ProcMount::pid_subset ? "mount /proc (processes only)" : "mount /proc";
  }
  std::string operator()(const DevptsMount&) const { return "mount /dev/pts"; }
  std::string operator()(const Seal& seal) const {
    return "seal " + quoted(seal.target) + " read-only";
  }
  std::string operator()(const EnterRoot&) const { return "enter the new root"; }
  std::string operator()(const ChangeDirectory& change) const {
    return "change to " + quoted(change.path);
  }
  std::string operator()(const ResourceLimit& limit) const {
    return "limit " + limit.name + " to " + std::to_string(limit.value);
  }
  std::string operator()(const DropCapabilities&) const { return "drop all capabilities"; }
  std::string operator()(const NoNewPrivileges&) const { return "set no_new_privs"; }
  std::string operator()(const RestrictLandlock& restrict) const {
    return "restrict files with Landlock ABI " + std::to_string(restrict.abi) + " (" +
           std::to_string(restrict.rules.size()) + " rules)";
  }
  std::string operator()(const InstallSeccomp& install) const {
    return "install the seccomp profile " + quoted(install.profile);
  }
  std::string operator()(const Verify& verify) const {
    switch (verify.what) {
      case Verify::What::no_capabilities: return "verify that no capability is left";
      case Verify::What::no_new_privs: return "verify no_new_privs";
      case Verify::What::sealed_root: return "verify that the root is read-only";
      case Verify::What::seccomp_filter: return "verify that the filter is in force";
    }
    return "verify";
  }
};

void add_reasons(std::string& text, const Step& step) {
  text += "        " + step.origin + ": " + step.why + "\n";
  if (const auto* restrict = std::get_if<RestrictLandlock>(&step.action))
    for (const LandlockRule& rule : restrict->rules)
      text += "          " + printable(rule.path) + ": " + landlock::names_of(rule.rights) + "\n";
  const auto* install = std::get_if<InstallSeccomp>(&step.action);
  const seccomp::Profile* profile = install == nullptr ? nullptr : seccomp::find(install->profile);
  if (profile == nullptr) return;
  for (const seccomp::SyscallReason& reason : profile->reasons)
    text += "          " + std::string(reason.verdict) + " " + std::string(reason.name) + ": " +
            std::string(reason.reason) + "\n";
}

}  // namespace

std::string sentence(const Action& action) { return std::visit(Sentence{}, action); }

std::string hint_for(const Step& step, int errno_value) {
  if (std::holds_alternative<ProcFilesystem>(step.action) && errno_value == EPERM)
    return "a fresh /proc is refused here, as in most containers; --best-effort proc goes without";
  if (std::holds_alternative<MapIds>(step.action) &&
      (errno_value == EPERM || errno_value == EACCES))
    return "AppArmor or an outer container may restrict user namespaces; see `coop status`";
  if (errno_value == ELOOP) return "a symlink appeared where there was none while coop looked";
  if (std::holds_alternative<OverlayMount>(step.action) && errno_value == EINVAL)
    return "overlayfs cannot use this directory as its lower layer (nested overlay?); try --tmpfs "
           "or --ro";
  return {};
}

std::string to_text(const Plan& plan, Detail detail) {
  std::string text = "sandbox " + plan.session + ", view " + std::string(coop::to_text(plan.view)) +
                     ", workspace at " + printable(plan.workspace) + "\n";
  text += "namespaces:";
  for (const std::string& name : plan.namespaces) text += " " + name;
  text += "\nsteps:\n";
  int number = 0;
  for (const Step& step : plan.steps) {
    char prefix[16];
    std::snprintf(prefix, sizeof prefix, "  %3d  ", ++number);
    text += prefix + sentence(step.action) + "\n";
    if (detail == Detail::reasons) add_reasons(text, step);
  }
  if (!plan.group.limits.empty()) {
    text += "control group " + plan.group.name + ":\n";
    for (const GroupLimit& limit : plan.group.limits)
      text += "  " + limit.file + " = " + limit.value + " in " + limit.parent + "\n";
  }
  if (!plan.guards.names.empty() && !plan.guards.roots.empty()) {
    text += "watched for new files, quarantined at the end:\n ";
    for (const std::string& name : plan.guards.names) text += " " + name;
    text += "\n";
  }
  text += "environment:\n";
  for (const auto& [name, value] : plan.environment)
    text += "  " + printable(name) + "=" + printable(value) + "\n";
  for (const std::string& note : plan.notes) text += "note: " + note + "\n";
  return text;
}

}  // namespace coop::plan
