#include "peers.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/path.h"

namespace coop::bench {

namespace {

using nlohmann::json;

json namespaces_of(const Plan& plan) {
  json list = json::array();
  for (const std::string& name : plan.namespaces)
    list.push_back({{"type", name == "net" ? "network" : name}});
  return list;
}

json mounts_of(const Plan& plan) {
  json list = json::array();
  list.push_back({{"destination", "/proc"}, {"type", "proc"}, {"source", "proc"}});
  list.push_back({{"destination", "/dev"},
                  {"type", "tmpfs"},
                  {"source", "tmpfs"},
                  {"options", {"nosuid", "mode=755"}}});
  list.push_back({{"destination", "/dev/pts"},
                  {"type", "devpts"},
                  {"source", "devpts"},
                  {"options", {"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"}}});
  for (const Step& step : plan.steps) {
    if (const auto* bound = std::get_if<BindMount>(&step.action)) {
      if (is_within(bound->target, "/dev")) continue;  // the runtime makes these itself
      const bool writable = bound->flags.access == Access::read_write;
      list.push_back({{"destination", bound->target},
                      {"type", "bind"},
                      {"source", bound->source},
                      {"options", {"bind", "nosuid", "nodev", writable ? "rw" : "ro"}}});
    } else if (const auto* tmpfs = std::get_if<TmpfsMount>(&step.action)) {
      list.push_back(
          {{"destination", tmpfs->target},
           {"type", "tmpfs"},
           {"source", "tmpfs"},
           {"options", {"nosuid", "nodev", "mode=1777", "size=" + std::to_string(tmpfs->size)}}});
    }
  }
  return list;
}

json id_map(unsigned id) {
  return json::array({{{"containerID", id}, {"hostID", id}, {"size", 1}}});
}

json config_of(const Plan& plan, const Words& command) {
  const json process = {
      {"terminal", false},      {"user", {{"uid", ::getuid()}, {"gid", ::getgid()}}},
      {"args", command},        {"env", {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}},
      {"cwd", plan.directory},  {"capabilities", json::object()},
      {"noNewPrivileges", true}};
  return {{"ociVersion", "1.0.0"},
          {"process", process},
          {"root", {{"path", "rootfs"}, {"readonly", true}}},
          {"hostname", "coop-bench"},
          {"mounts", mounts_of(plan)},
          {"linux",
           {{"namespaces", namespaces_of(plan)},
            {"uidMappings", id_map(::getuid())},
            {"gidMappings", id_map(::getgid())},
            {"readonlyPaths", {"/proc/bus", "/proc/irq", "/proc/sys"}}}}};
}

// The root of an image: empty except for the mount points and symlinks of the plan.
Result<void> make_root(const Plan& plan, const Scratch& scratch, const std::string& root) {
  for (const Step& step : plan.steps) {
    if (const auto* made = std::get_if<MakeDirectory>(&step.action)) {
      TRY(scratch.directory(root + made->target));
    } else if (const auto* file = std::get_if<MakeFile>(&step.action)) {
      TRY(scratch.file(root + file->target, file->contents));
    } else if (const auto* link = std::get_if<MakeSymlink>(&step.action)) {
      const Path place = join(scratch.path(), root + link->target);
      TRY(scratch.directory(relative_to(parent_of(place), scratch.path())));
      if (::symlink(link->link.c_str(), place.c_str()) != 0) return system_error("symlink", place);
    }
  }
  return {};
}

}  // namespace

Result<Launch> oci_launch(const std::string& runtime, const Plan& plan, const Scratch& scratch,
                          const Words& command) {
  const Path program = TRY(find_program(runtime));
  const std::string bundle = runtime + "-bundle";
  TRY(make_root(plan, scratch, bundle + "/rootfs"));
  TRY(scratch.file(bundle + "/config.json", config_of(plan, command).dump(2)));
  const Path state = TRY(scratch.directory(runtime + "-state"));
  Launch launch{.arguments = {program}};
  if (runtime == "crun") launch.arguments.push_back("--cgroup-manager=disabled");
  for (const std::string& word :
       {std::string("--root"), state, std::string("run"), std::string("--bundle"),
        join(scratch.path(), bundle), std::string("coop-bench")})
    launch.arguments.push_back(word);
  return launch;
}

Result<Launch> unshare_launch(const Words& command) {
  const Path program = TRY(find_program("unshare"));
  Launch launch{.arguments = {program, "--user", "--map-current-user", "--mount", "--pid", "--fork",
                              "--net", "--ipc", "--uts", "--cgroup", "--"}};
  launch.arguments.insert(launch.arguments.end(), command.begin(), command.end());
  return launch;
}

Result<Launch> firejail_launch(const Path& workspace, const Words& command) {
  const Path program = TRY(find_program("firejail"));
  Launch launch{.arguments = {program, "--quiet", "--noprofile", "--net=none",
                              "--private=" + workspace, "--"}};
  launch.arguments.insert(launch.arguments.end(), command.begin(), command.end());
  return launch;
}

Launch coop_launch(const Path& program, const Path& workspace, const Words& flags,
                   const Words& command) {
  Launch launch{.arguments = {program, "run", "--workspace", workspace, "--no-tty"}};
  launch.arguments.insert(launch.arguments.end(), flags.begin(), flags.end());
  launch.arguments.emplace_back("--");
  launch.arguments.insert(launch.arguments.end(), command.begin(), command.end());
  return launch;
}

}  // namespace coop::bench
