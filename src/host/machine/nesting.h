// Detects whether we run inside a container or another sandbox, and which.
#pragma once

#include <map>
#include <string>

#include "host/facts.h"

namespace coop::host {

// Signs of a container. Plain data, so that every kind can be tested on one machine.
struct NestingClues {
  bool own_namespaces = false;  // the pid, ipc, uts or user namespace is not the machine's first
  bool docker_marker = false;   // /.dockerenv
  bool podman_marker = false;   // /run/.containerenv
  bool flatpak_marker = false;  // /.flatpak-info
  std::string coop_session{};   // $COOP_SESSION
  std::string hostname{};
  std::string container{};   // $container, or what systemd wrote to /run/systemd/container
  bool kubernetes = false;   // $KUBERNETES_SERVICE_HOST
  std::string own_groups{};  // /proc/self/cgroup
};

NestingClues gather_nesting_clues(const std::map<std::string, std::string>& environment);

// "docker", "podman", "coop", …, "container" when nothing says whose, or empty.
std::string name_nesting(const NestingClues& clues);

}  // namespace coop::host
