#include "host/machine/nesting.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "host/text.h"
#include "sys/fd.h"
#include "sys/real_path.h"

namespace coop::host {
namespace {

// The kernel numbers its first namespaces at build time (include/linux/proc_ns.h) and all later
// ones upwards from there.
constexpr std::array<std::pair<const char*, std::string_view>, 4> kFirstNamespaces{{
    {"/proc/self/ns/ipc", "ipc:[4026531839]"},
    {"/proc/self/ns/uts", "uts:[4026531838]"},
    {"/proc/self/ns/user", "user:[4026531837]"},
    {"/proc/self/ns/pid", "pid:[4026531836]"},
}};

bool in_own_namespaces() {
  for (const auto& [link, first] : kFirstNamespaces) {
    if (const Result<Path> found = read_link(link); found && *found != first) return true;
  }
  return false;
}

bool exists(const char* path) { return ::access(path, F_OK) == 0; }

std::string value_of(const std::map<std::string, std::string>& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string{} : found->second;
}

// Keep only plain characters: the text comes from an environment variable and is printed on a
// terminal.
std::string plain_word(std::string_view text) {
  std::string word(text.substr(0, std::min<std::size_t>(text.find('\n'), 32)));
  const auto plain = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-';
  };
  return std::ranges::all_of(word, plain) ? word : "container";
}

std::string name_by_group(std::string_view own_groups) {
  for (const std::string_view name : {"kubepods", "libpod", "docker", "lxc", "containerd"}) {
    if (own_groups.find(name) == std::string_view::npos) continue;
    if (name == "kubepods") return "kubernetes";
    return name == "libpod" ? "podman" : std::string(name);
  }
  return {};
}

}  // namespace

NestingClues gather_nesting_clues(const std::map<std::string, std::string>& environment) {
  utsname system{};
  ::uname(&system);
  std::string container = value_of(environment, "container");
  if (container.empty()) container = read_file("/run/systemd/container").value_or("");
  return {
      .own_namespaces = in_own_namespaces(),
      .docker_marker = exists("/.dockerenv"),
      .podman_marker = exists("/run/.containerenv"),
      .flatpak_marker = exists("/.flatpak-info"),
      .coop_session = value_of(environment, "COOP_SESSION"),
      .hostname = system.nodename,
      .container = std::move(container),
      .kubernetes = environment.contains("KUBERNETES_SERVICE_HOST"),
      .own_groups = read_file("/proc/self/cgroup").value_or(""),
  };
}

std::string name_nesting(const NestingClues& clues) {
  // In the machine's initial namespaces such markers are leftovers: a virtual machine whose disk
  // was made from a container image has /.dockerenv and is no container.
  if (!clues.own_namespaces) return {};
  if (!clues.coop_session.empty() || clues.hostname.starts_with("coop-")) return "coop";
  if (clues.flatpak_marker) return "flatpak";
  if (clues.kubernetes) return "kubernetes";
  // podman leaves its marker in a root directory that docker may get later, and sets $container; docker does not.
  if (clues.podman_marker && !(clues.docker_marker && clues.container.empty())) return "podman";
  if (clues.docker_marker) return "docker";
  if (!clues.container.empty()) return plain_word(clues.container);
  const std::string by_group = name_by_group(clues.own_groups);
  return by_group.empty() ? "container" : by_group;
}

}  // namespace coop::host
