#include "run/start/freeze.h"

#include <linux/mount.h>
#include <linux/netlink.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/path.h"
#include "base/text.h"
#include "plan/seccomp/ids.h"
#include "plan/seccomp/profile.h"
#include "plan/view/layout.h"
#include "run/network/freeze.h"
#include "run/start/home_order.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

namespace coop::run {

namespace {

using child::Instruction;
using child::Operation;

// Terminals are counted for the whole machine, and there are 3,072 outside its own /dev/pts.
constexpr const char* kMostTerminals = "max=256";

std::uint64_t attributes(const MountFlags& flags) {
  std::uint64_t bits = MOUNT_ATTR_NOSUID;
  if (flags.access == Access::read_only) bits |= MOUNT_ATTR_RDONLY;
  if (!flags.exec) bits |= MOUNT_ATTR_NOEXEC;
  if (!flags.devices) bits |= MOUNT_ATTR_NODEV;
  return bits;
}

// "NAME=VALUE\0…"; keep() adds the empty option that ends the list.
std::string mount_options(std::initializer_list<std::string> options) {
  std::string all;
  for (const std::string& option : options) all += option + '\0';
  return all;
}

std::string id_line(std::uint32_t inside, std::uint32_t outside) {
  return std::to_string(inside) + " " + std::to_string(outside) + " 1\n";
}

}  // namespace

std::string tmpfs_options(std::uint64_t size, std::uint64_t inodes, std::uint32_t mode) {
  char octal[16];
  std::snprintf(octal, sizeof octal, "mode=%o", mode);
  return mount_options(
      {"size=" + std::to_string(size), "nr_inodes=" + std::to_string(inodes), octal});
}

namespace {

// Makes the instruction list from the plan's steps. Each overload handles one kind of step.
class Freezer {
 public:
  Freezer(const Plan& plan, const FreezeOptions& options, Region& region)
      : plan_(plan), options_(options), region_(region) {
    needs_masks_ = std::ranges::any_of(plan.steps, [](const Step& step) {
      return std::holds_alternative<HideMount>(step.action) ||
             std::holds_alternative<CoverFile>(step.action);
    });
    home_ = home_order(plan);
  }

  Result<std::span<const Instruction>> run() {
    step_ = child::kGroupStep;
    for (const Path& tasks : options_.groups)
      emit(Operation::write_file, {.path = keep(tasks), .text = "0"});
    if (options_.await_scope) emit(Operation::await_parent);
    for (std::size_t index = options_.first_step; index < plan_.steps.size(); ++index)
      write_step(index);
    const std::size_t size = instructions_.size() * sizeof(Instruction);
    auto* place = static_cast<Instruction*>(region_.allocate(size));
    if (place == nullptr || full_) return system_error_of(E2BIG, "freeze", "the plan");
    std::memcpy(place, instructions_.data(), size);
    return std::span<const Instruction>(place, instructions_.size());
  }

 private:
  const MapIds& ids() const {
    for (const Step& step : plan_.steps)
      if (const auto* ids = std::get_if<MapIds>(&step.action)) return *ids;
    static constexpr MapIds kNone{};
    return kNone;
  }

  void emit(Operation operation, Instruction instruction = {}) {
    instruction.operation = operation;
    instruction.step = step_;
    instructions_.push_back(instruction);
  }

  void write_step(std::size_t index) {
    step_ = static_cast<std::uint16_t>(index);
    is_guard_ = plan_.steps[index].origin.part == Part::guard;
    std::visit([this](const auto& action) { write(action); }, plan_.steps[index].action);
  }

  // The mounts of a kept home are complete: into it with them. All that is made in it is made before there is a mount in it,
  // through which another sandbox could lead us.
  void fill_home() {
    if (!home_) return;
    const HomeOrder order = *std::exchange(home_, std::nullopt);
    const std::uint16_t entering = step_;
    step_ = static_cast<std::uint16_t>(order.home);
    const auto& home = std::get<BindMount>(plan_.steps[order.home].action);
    emit(Operation::bind_home,
         {.path = keep(home.source), .text = inside(home.target), .first = attributes(home.flags)});
    for (const std::size_t index : order.made) write_step(index);
    const std::vector<Path> held =
        options_.hold_trees ? trees_below_homes(plan_) : std::vector<Path>{};
    for (const std::size_t index : order.moved) {
      step_ = static_cast<std::uint16_t>(index);
      const Path& target = *mounted_at(plan_.steps[index].action);
      if (contains(held, target)) continue;
      emit(Operation::move_into_home, {.path = keep(relative_to(target, home.target))});
    }
    step_ = entering;
  }

  const char* keep(std::string_view text) {
    const char* kept = region_.copy(text);
    if (kept == nullptr) full_ = true;
    return kept;
  }

  // Below the new root; "." is the root itself.
  const char* inside(const Path& path) { return path == "/" ? "." : keep(path.substr(1)); }

  void stage_masks() {
    if (!needs_masks_) return;
    needs_masks_ = false;
    emit(Operation::stage_masks, {.path = "proc"});
    std::uint64_t number = 0;
    for (const Step& step : plan_.steps)
      if (const auto* file = std::get_if<CoverFile>(&step.action))
        emit(Operation::stage_file,
             {.text = keep(file->contents), .first = file->contents.size(), .second = number++});
    emit(Operation::seal_masks);
  }

  void write(const MapIds& ids) {
    // The child inherits non-dumpable from the supervisor: its own /proc files would belong to
    // root.
    emit(Operation::set_dumpable, {.first = 1});
    emit(Operation::write_file, {.path = "/proc/self/setgroups", .text = "deny"});
    emit(Operation::write_file,
         {.path = "/proc/self/gid_map", .text = keep(id_line(ids.inside_gid, ids.host_gid))});
    emit(Operation::write_file,
         {.path = "/proc/self/uid_map", .text = keep(id_line(ids.inside_uid, ids.host_uid))});
    emit(Operation::set_dumpable, {.first = 0});
  }
  void write(const OffsetClocks& clocks) {
    emit(Operation::unshare, {.first = CLONE_NEWTIME});
    const std::string seconds = std::to_string(clocks.seconds);
    emit(Operation::set_dumpable, {.first = 1});
    emit(Operation::write_file,
         {.path = "/proc/self/timens_offsets",
          .text = keep("monotonic " + seconds + " 0\nboottime " + seconds + " 0\n")});
    emit(Operation::set_dumpable, {.first = 0});
  }
  void write(const RaiseLoopback&) {
    // Not in the clone: creating a network namespace takes longest, and here it runs parallel to
    // planning.
    emit(Operation::unshare, {.first = CLONE_NEWNET});
    emit(Operation::raise_loopback);
  }
  void write(const KernelSetting& setting) {
    emit(Operation::write_file, {.path = keep(setting.file),
                                 .text = keep(std::to_string(setting.value)),
                                 .first = setting.if_missing == Missing::skip ? 1U : 0U});
  }
  void send(const std::vector<NetlinkMessages>& batches) {
    for (const auto& [protocol, batch] : batches)
      emit(Operation::netlink, {.data = keep(batch.bytes()),
                                .first = batch.bytes().size(),
                                .second = batch.acknowledgements(),
                                .third = static_cast<std::uint64_t>(protocol)});
  }
  void write(const AssignAddresses& addresses) { send(messages_for(addresses)); }
  void write(const RedirectTraffic& redirect) { send(messages_for(redirect)); }
  void write(const RefuseNeighbours& refuse) {
    send(messages_for(refuse));
    emit(Operation::pass_netlink, {.third = NETLINK_NETFILTER});
  }
  void write(const ConfigureLink& link) { send(messages_for(link)); }
  void write(const Listen& listen) {
    const SocketAddress address = socket_address(listen.listener);
    emit(Operation::listen,
         {.data = keep({reinterpret_cast<const char*>(&address.storage), sizeof address.storage}),
          .first = address.size,
          .second = static_cast<std::uint64_t>(address.type)});
  }
  void write(const JoinNetwork& join) {
    const bool provided = join.provider != NetworkProvider::none;
    // The provider opens our namespaces through /proc, which requires that we are dumpable.
    if (provided) emit(Operation::set_dumpable, {.first = 1});
    emit(Operation::join_network);
    if (provided) emit(Operation::set_dumpable, {.first = 0});
  }
  void write(const SetHostname& hostname) {
    emit(Operation::set_hostname, {.text = keep(hostname.name)});
  }
  void write(const RootTmpfs&) {
    emit(Operation::root_tmpfs, {.text = keep(tmpfs_options(1 << 20, 4096, 0755))});
  }
  void write(const RootHost&) {
    emit(Operation::root_host);
    stage_masks();
  }
  static std::uint64_t may_exist(Existing existing) { return existing == Existing::keep ? 1 : 0; }
  void write(const MakeDirectory& directory) {
    emit(Operation::make_directory, {.path = inside(directory.target),
                                     .first = directory.mode,
                                     .third = may_exist(directory.existing)});
  }
  void write(const MakeFile& file) {
    emit(Operation::make_file, {.path = inside(file.target),
                                .text = keep(file.contents),
                                .first = file.contents.size(),
                                .second = file.mode,
                                .third = may_exist(file.existing)});
  }
  void write(const CoverFile& file) {
    stage_masks();
    emit(Operation::cover_file, {.path = inside(file.target), .second = covered_++});
  }
  void write(const MakeSymlink& link) {
    emit(Operation::make_symlink,
         {.path = inside(link.target), .text = keep(link.link), .third = may_exist(link.existing)});
  }
  void write(const BindMount& bind) {
    if (bind.through == Through::supervisor)
      return emit(Operation::serve_files, {.path = inside(bind.target),
                                           .first = ids().inside_uid,
                                           .second = ids().inside_gid,
                                           .third = served_++});
    if (bind.through == Through::kept_home && home_) {
      // Only mount points are made in it, and small files that are made in the kept one again.
      constexpr std::uint64_t kSize = 4 << 20;
      constexpr std::uint64_t kInodes = 4096;
      return emit(Operation::mount_new,
                  {.path = inside(bind.target),
                   .text = "tmpfs",
                   .data = keep(tmpfs_options(kSize, kInodes, 0700)),
                   .first = attributes({.access = Access::read_write, .exec = false})});
    }
    emit(Operation::bind,
         {.path = keep(bind.source), .text = inside(bind.target), .first = attributes(bind.flags)});
  }
  void write(const Remount& remount) {
    emit(Operation::remount, {.path = inside(remount.target),
                              .first = attributes(remount.flags),
                              .second = is_guard_ ? 1U : 0U});
  }
  void write(const TmpfsMount& tmpfs) {
    if (tmpfs.life == TmpfsLife::shared)
      return emit(
          Operation::mount_shared,
          {.path = inside(tmpfs.target), .first = static_cast<std::uint64_t>(options_.shared_tmp)});
    emit(Operation::mount_new, {.path = inside(tmpfs.target),
                                .text = "tmpfs",
                                .data = keep(tmpfs_options(tmpfs.size, tmpfs.inodes, tmpfs.mode)),
                                .first = attributes(tmpfs.flags)});
  }
  void write(const HideMount& hide) {
    stage_masks();
    emit(hide.kind == PathKind::directory ? Operation::hide_directory : Operation::hide_file,
         {.path = inside(hide.target), .first = hide.if_missing == Missing::skip ? 1U : 0U});
  }
  void write(const OverlayMount& overlay) {
    emit(Operation::overlay,
         {.path = keep(overlay.lower),
          .text = inside(overlay.target),
          .data = keep(tmpfs_options(overlay.size, plan::inodes_for(plan_.limits), 0755))});
  }
  void write(const ProcFilesystem& proc) {
    stage_masks();
    const bool subset = proc.kind == ProcMount::pid_subset;
    emit(Operation::mount_new, {.path = "proc",
                                .text = "proc",
                                .data = keep(subset ? mount_options({"subset=pid"}) : ""),
                                .first = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC});
    if (proc.machine == Access::read_only) emit(Operation::protect_proc, {.path = "proc"});
  }
  void write(const DevptsMount&) {
    emit(
        Operation::mount_new,
        {.path = "dev/pts",
         .text = "devpts",
         .data = keep(mount_options({"newinstance", "ptmxmode=0666", "mode=0620", kMostTerminals})),
         .first = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC});
  }
  void write(const MqueueMount&) {
    emit(Operation::mount_new, {.path = "dev/mqueue",
                                .text = "mqueue",
                                .data = keep(""),
                                .first = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC});
  }
  void write(const Seal& seal) { emit(Operation::seal, {.path = inside(seal.target)}); }
  void write(const EnterRoot&) {
    if (options_.pass_mounts || options_.hold_trees)
      for (const Path& tree : trees_below_homes(plan_))
        emit(Operation::pass_tree, {.path = inside(tree)});
    if (options_.pass_mounts) emit(Operation::pass_mounts);
    fill_home();
    emit(Operation::enter_root);
    if (options_.pass_root) emit(Operation::pass_root);
    if (options_.terminal)
      emit(Operation::open_terminal,
           {.first = options_.terminal->rows, .second = options_.terminal->columns});
  }
  void write(const ResourceLimit& limit) {
    // For the command alone: init has to pass descriptors to us, see child::Program::open_files.
    if (limit.resource == RLIMIT_NOFILE) return;
    if (limit.kind == LimitKind::part)
      return emit(Operation::limit_part,
                  {.first = static_cast<std::uint64_t>(limit.resource), .second = limit.value});
    emit(Operation::limit, {.first = static_cast<std::uint64_t>(limit.resource),
                            .second = limit.value,
                            .third = limit.kind == LimitKind::soft ? 1U : 0U});
  }
  void write(const DropCapabilities&) { emit(Operation::drop_capabilities, {.first = 63}); }
  void write(const NoNewPrivileges&) { emit(Operation::no_new_privileges); }
  void write(const RestrictLandlock& restrict) {
    // Older kernels accept a shorter attribute struct: only the fields of their ABI.
    const std::uint64_t size = restrict.abi >= 6 ? 24 : restrict.abi >= 4 ? 16 : 8;
    emit(Operation::landlock_create,
         {.first = restrict.handled, .second = restrict.scoped, .third = size});
    for (const LandlockRule& rule : restrict.rules)
      emit(Operation::landlock_allow, {.path = keep(rule.path), .first = rule.rights});
    emit(Operation::landlock_restrict);
  }
  void write(const RefuseForeignIds& ids) {
    const std::vector<sock_filter> filter = seccomp::ids_filter(ids.uid, ids.gid);
    emit(Operation::seccomp, {.data = keep({reinterpret_cast<const char*>(filter.data()),
                                            filter.size() * sizeof(sock_filter)}),
                              .first = filter.size()});
  }
  void write(const InstallSeccomp& install) {
    const seccomp::Profile* profile = seccomp::find(install.profile);
    // An unknown name gives an empty filter, which the kernel refuses: it fails closed.
    emit(Operation::seccomp, {.data = profile == nullptr ? nullptr : profile->program.data(),
                              .first = profile == nullptr ? 0 : profile->program.size(),
                              .second = 1});
  }
  void write(const Verify& verify) {
    switch (verify.what) {
      case Verify::What::no_capabilities: emit(Operation::verify_capabilities); break;
      case Verify::What::no_new_privs: emit(Operation::verify_no_new_privileges); break;
      case Verify::What::sealed_root: emit(Operation::verify_root); break;
      case Verify::What::seccomp_filter: emit(Operation::verify_seccomp); break;
    }
  }

  const Plan& plan_;
  const FreezeOptions& options_;
  Region& region_;
  std::vector<Instruction> instructions_{};
  std::uint16_t step_ = 0;
  bool is_guard_ = false;  // what the step protects is looked at again in the end
  std::uint64_t covered_ = 0;
  std::uint64_t served_ = 0;
  bool needs_masks_ = false;
  bool full_ = false;
  std::optional<HomeOrder> home_{};  // until it is filled
};

}  // namespace

Result<std::span<const Instruction>> freeze(const Plan& plan, const FreezeOptions& options,
                                            Region& region) {
  return Freezer(plan, options, region).run();
}

Result<const char* const*> freeze_list(const std::vector<std::string>& texts, Region& region) {
  auto** list = static_cast<const char**>(region.allocate((texts.size() + 1) * sizeof(char*)));
  for (std::size_t index = 0; list != nullptr && index < texts.size(); ++index) {
    list[index] = region.copy(texts[index]);
    if (list[index] == nullptr) list = nullptr;
  }
  if (list == nullptr) return system_error_of(E2BIG, "freeze", "the command");
  list[texts.size()] = nullptr;
  return list;
}

Path directory_of(const Plan& plan, const Command& command) {
  return command.directory.value_or(plan.directory);
}

Invocation invocation_for(const Plan& plan, const Command& command) {
  Invocation result;
  std::map<std::string, std::string> environment = plan.environment;
  for (const auto& [name, value] : command.environment)
    if (!name.starts_with("COOP_") || !environment.contains(name)) environment[name] = value;
  result.directory = directory_of(plan, command);
  environment["PWD"] = result.directory;
  for (const auto& [name, value] : environment) result.environment.push_back(name + "=" + value);
  result.arguments = command.arguments;
  const std::string& program = command.arguments.front();
  if (program.find('/') != std::string::npos) {
    result.candidates.push_back(program);
    return result;
  }
  if (program.empty()) return result;
  const std::string& path = environment["PATH"];
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t end = std::min(path.find(':', start), path.size());
    // Skip empty PATH entries: they mean the working directory, where an attacker can place a
    // program.
    if (end > start) result.candidates.push_back(join(path.substr(start, end - start), program));
    start = end + 1;
  }
  return result;
}

}  // namespace coop::run
