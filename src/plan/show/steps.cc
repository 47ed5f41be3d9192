#include "plan/show/steps.h"

#include <cerrno>

#include "base/path.h"
#include "base/quantity.h"
#include "base/text.h"
#include "policy/policy.h"

namespace coop::plan {

namespace {

std::string flag_words(const MountFlags& flags) {
  std::string words(coop::to_text(flags.access));
  if (!flags.exec) words += ",noexec";
  if (flags.devices) words += ",dev";
  return words;
}

const char* unless_there(Existing existing) {
  return existing == Existing::keep ? ", unless it is there" : "";
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
  std::string operator()(const KernelSetting& setting) const {
    return "set " + setting.file + " to " + std::to_string(setting.value);
  }
  std::string operator()(const AssignAddresses& addresses) const {
    return "give loopback " + joined(addresses.own, " and ") +
           (addresses.everything ? ", and lead every other address back to it" : "");
  }
  std::string operator()(const RedirectTraffic& redirect) const {
    std::string text = "redirect all TCP to port " + std::to_string(redirect.connections) +
                       " and DNS queries to port 53 of " + joined(redirect.own, " and ");
    for (const DatagramRule& rule : redirect.datagrams)
      text += ", UDP to " + host_text(rule.destination) + " port " +
              std::to_string(rule.destination.port.value_or(0)) + " to port " +
              std::to_string(rule.listener);
    return text;
  }
  std::string operator()(const RefuseNeighbours& refuse) const {
    std::string text = "refuse private, local and metadata addresses";
    for (const Prefix& network : refuse.networks) text += " and " + coop::to_text(network);
    for (const DestinationRule& rule : refuse.allowed)
      text += ", but for " + coop::to_text(rule.destination);
    for (const DestinationRule& rule : refuse.denied)
      text += ", and " + coop::to_text(rule.destination);
    return text;
  }
  std::string operator()(const Listen& listen) const {
    const Listener& listener = listen.listener;
    const std::string place =
        "listen on " + listener.address + " port " + std::to_string(listener.port) + " for ";
    switch (listener.purpose) {
      case Listener::Purpose::names: return place + "names (UDP)";
      case Listener::Purpose::name_streams: return place + "names (TCP)";
      case Listener::Purpose::connections: return place + "redirected connections";
      case Listener::Purpose::proxy: return place + "clients of a proxy";
      case Listener::Purpose::host_port:
        return place + "port " + std::to_string(listener.target) + " of the host";
      case Listener::Purpose::datagrams:
        return place + "datagrams to port " + std::to_string(listener.target);
    }
    return place;
  }
  std::string operator()(const JoinNetwork& join) const {
    switch (join.provider) {
      case NetworkProvider::none: return "pass the listening sockets to the supervisor";
      case NetworkProvider::pasta: return "wait for pasta to connect the network";
      case NetworkProvider::slirp4netns: return "wait for slirp4netns to connect the network";
      case NetworkProvider::veth: return "wait for the supervisor to lay a link to the host";
    }
    return "join the network";
  }
  std::string operator()(const ConfigureLink& link) const {
    return "give the link " + link.address + "/" + std::to_string(link.prefix) +
           " and the default route by " + link.gateway;
  }
  std::string operator()(const SetHostname& hostname) const {
    return "set the hostname " + in_quotes(hostname.name);
  }
  std::string operator()(const RootTmpfs&) const { return "make an empty root"; }
  std::string operator()(const RootHost&) const { return "take the host's tree read-only as root"; }
  std::string operator()(const MakeDirectory& directory) const {
    return "make the directory " + in_quotes(directory.target) + unless_there(directory.existing);
  }
  std::string operator()(const MakeFile& file) const {
    return "make the file " + in_quotes(file.target) + unless_there(file.existing);
  }
  std::string operator()(const CoverFile& file) const {
    return "cover the file " + in_quotes(file.target);
  }
  std::string operator()(const MakeSymlink& link) const {
    return "make the symlink " + in_quotes(link.target) + " to " + in_quotes(link.link) +
           unless_there(link.existing);
  }
  std::string operator()(const BindMount& bind) const {
    const bool served = bind.through == Through::supervisor;
    return (served ? "serve the git directory " : "bind " + flag_words(bind.flags) + " ") +
           in_quotes(bind.source) +
           (bind.source == bind.target ? "" : " at " + in_quotes(bind.target));
  }
  std::string operator()(const Remount& remount) const {
    return (remount.flags.access == Access::read_only ? "make read-only " : "pin ") +
           in_quotes(remount.target);
  }
  std::string operator()(const TmpfsMount& tmpfs) const {
    if (tmpfs.life == TmpfsLife::shared)
      return "mount the shared tmpfs of " + format_size(tmpfs.size) + " at " +
             in_quotes(tmpfs.target);
    return "mount an empty tmpfs of " + format_size(tmpfs.size) + " at " + in_quotes(tmpfs.target);
  }
  std::string operator()(const HideMount& hide) const { return "hide " + in_quotes(hide.target); }
  std::string operator()(const OverlayMount& overlay) const {
    return "overlay " + in_quotes(overlay.target) + " with a private layer of " +
           format_size(overlay.size);
  }
  std::string operator()(const ProcFilesystem& proc) const {
    if (proc.kind == ProcMount::pid_subset) return "mount /proc (processes only)";
    return proc.machine == Access::read_only ? "mount /proc, with all but the processes read-only"
                                             : "mount /proc";
  }
  std::string operator()(const DevptsMount&) const { return "mount /dev/pts"; }
  std::string operator()(const MqueueMount&) const { return "mount /dev/mqueue"; }
  std::string operator()(const Seal& seal) const {
    return "seal " + in_quotes(seal.target) + " read-only";
  }
  std::string operator()(const EnterRoot&) const { return "enter the new root"; }
  std::string operator()(const ResourceLimit& limit) const {
    if (limit.kind == LimitKind::part)
      return "limit " + limit.name + " to the caller's divided by " + std::to_string(limit.value);
    return "limit " + limit.name + " to " + std::to_string(limit.value) +
           (limit.kind == LimitKind::soft ? " (programs may raise it)" : "");
  }
  std::string operator()(const DropCapabilities&) const { return "drop all capabilities"; }
  std::string operator()(const NoNewPrivileges&) const { return "set no_new_privs"; }
  std::string operator()(const RestrictLandlock& restrict) const {
    return "restrict files with Landlock ABI " + std::to_string(restrict.abi) + " (" +
           std::to_string(restrict.rules.size()) + " rules)";
  }
  std::string operator()(const RefuseForeignIds& ids) const {
    return "answer EPERM for users other than " + std::to_string(ids.uid) +
           " and groups other than " + std::to_string(ids.gid);
  }
  std::string operator()(const InstallSeccomp& install) const {
    return "install the seccomp profile " + in_quotes(install.profile);
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

}  // namespace

std::string sentence(const Action& action) { return std::visit(Sentence{}, action); }

std::string hint_for(const Step& step, int errno_value) {
  if (std::holds_alternative<ProcFilesystem>(step.action) && errno_value == EPERM)
    return "a fresh /proc is refused here, as in most containers; --best-effort proc goes without";
  if (std::holds_alternative<MapIds>(step.action) &&
      (errno_value == EPERM || errno_value == EACCES))
    return "AppArmor or an outer container may restrict user namespaces; see `coop status`";
  const bool packets = std::holds_alternative<RedirectTraffic>(step.action) ||
                       std::holds_alternative<RefuseNeighbours>(step.action);
  if (packets && (errno_value == EOPNOTSUPP || errno_value == ENOENT ||
                  errno_value == EPROTONOSUPPORT || errno_value == EAFNOSUPPORT))
    return "the kernel lacks nftables or its NAT: modprobe nf_tables nft_chain_nat nft_reject";
  if (std::holds_alternative<Listen>(step.action) && errno_value == ETOOMANYREFS)
    return "processes of this user pass too many descriptors to each other and do not receive "
           "them; another sandbox with a high --open-files may be one of them";
  if (const auto* bind = std::get_if<BindMount>(&step.action);
      bind != nullptr && bind->through == Through::supervisor)
    return "FUSE cannot be mounted here, or coop could not serve it; without read and write access "
           "to "
           "/dev/fuse coop uses mounts instead";
  if (errno_value == ELOOP) return "a symlink appeared where there was none while coop looked";
  if (std::holds_alternative<OverlayMount>(step.action) && errno_value == EINVAL)
    return "overlayfs cannot use this directory as its lower layer (nested overlay?); try --tmpfs "
           "or --ro";
  return {};
}

}  // namespace coop::plan
