#include "host/machine/tools.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/path.h"
#include "base/result.h"
#include "host/accounts.h"
#include "host/text.h"
#include "sys/fd.h"

namespace coop::host {
namespace {

// What a distribution inside needs: root, system users, nobody (65534).
constexpr std::uint64_t kUsefulIds = 65536;

Feature program_feature(std::string_view name, std::string_view package) {
  if (const auto path = find_program(name)) return {.available = true, .program = *path};
  return {.reason = std::string(name) + " is not installed",
          .fix = "install the package " + std::string(package)};
}

// A container has the devices that it was given, whatever modules the kernel has.
std::string device_fix(const HostFacts& facts, const char* device, const char* module) {
  if (facts.nested_in == "docker" || facts.nested_in == "podman")
    return facts.nested_in + " run --device " + device;
  return std::string("sudo modprobe ") + module;
}

// pasta and slirp4netns open it in the sandbox's network, with our rights.
Feature with_tunnel(const HostFacts& facts, Feature program) {
  if (!program.available) return program;
  const UniqueFd device(::open("/dev/net/tun", O_RDWR | O_CLOEXEC));
  if (device.valid()) return program;
  const int error = errno;
  program.available = false;
  program.reason = "open /dev/net/tun: " + errno_text(error);
  program.fix = error == EACCES                      ? "sudo chmod 666 /dev/net/tun"
                : error == ENOENT || error == ENODEV ? device_fix(facts, "/dev/net/tun", "tun")
                                                     : "";
  return program;
}

Feature fuse_feature(const HostFacts& facts) {
  const UniqueFd device(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
  const int error = errno;
  struct stat status{};
  // Something else may be mounted there, as containers do with /dev/null.
  if (device.valid() && ::fstat(device.get(), &status) == 0)
    return S_ISCHR(status.st_mode) && status.st_rdev == makedev(10, 229)
               ? Feature{.available = true}
               : Feature{.reason = "/dev/fuse is another file"};
  if (error == ENOENT || error == ENODEV || error == ENXIO)
    return {.reason = "/dev/fuse is missing", .fix = device_fix(facts, "/dev/fuse", "fuse")};
  return {.reason = "open /dev/fuse: " + errno_text(error),
          .fix = error == EACCES ? "sudo chmod 666 /dev/fuse" : ""};
}

// newuidmap can write maps only with root's privileges: setuid, or file capabilities.
bool is_privileged(const Path& program) {
  struct stat status{};
  if (::stat(program.c_str(), &status) < 0) return false;
  if (status.st_uid == 0 && (status.st_mode & S_ISUID) != 0) return true;
  return ::getxattr(program.c_str(), "security.capability", nullptr, 0) > 0;
}

std::uint64_t count_ids(const Path& file, const HostFacts& facts, std::string_view user) {
  std::uint64_t count = 0;
  const std::string text = read_file(file).value_or("");
  for (const IdRange& range : parse_subid(text, user, facts.uid)) count += range.count;
  return count;
}

Feature id_ranges_of_root() {
  const std::uint64_t ids = parse_mapped_ids(read_file("/proc/self/uid_map").value_or(""));
  if (ids >= kUsefulIds) return {.available = true, .detail = "root maps ids itself"};
  return {.reason = "this user namespace has " + std::to_string(ids) + " ids of 65536",
          .fix = "give the outer container a range of 65536 ids or more"};
}

Feature id_ranges_feature(const HostFacts& facts) {
  if (facts.uid == 0) return id_ranges_of_root();
  for (const std::string_view name : {"newuidmap", "newgidmap"}) {
    const Feature found = program_feature(name, "uidmap");
    if (!found.available) return found;
    if (!is_privileged(found.program))
      return {.reason = found.program + " is neither setuid nor has capabilities",
              .fix = "reinstall the package uidmap"};
  }
  // newuidmap goes by the account of our uid, whatever $USER says.
  const std::string passwd = read_file("/etc/passwd").value_or("");
  const Account account = parse_passwd(passwd, facts.uid).value_or(Account{.name = facts.user});
  const std::uint64_t uids = count_ids("/etc/subuid", facts, account.name);
  const std::uint64_t gids = count_ids("/etc/subgid", facts, account.name);
  if (uids >= kUsefulIds && gids >= kUsefulIds)
    return {.available = true,
            .detail = std::to_string(uids) + " uids, " + std::to_string(gids) + " gids"};
  return {.reason = "fewer than 65536 ids for " + printable(account.name) + " in " +
                    (uids < kUsefulIds ? "/etc/subuid" : "/etc/subgid"),
          .fix = "sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 " +
                 printable(account.name)};
}

}  // namespace

// Not in PATH: coop runs it outside of every sandbox, and PATH may have a directory that an earlier sandbox could write, as
// after `. .venv/bin/activate`.
std::optional<Path> find_program(std::string_view name) {
  for (const char* const directory : {"/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin",
                                      "/usr/sbin", "/sbin", "/run/current-system/sw/bin"}) {
    const Path path = join(directory, name);
    struct stat status{};
    if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
        ::access(path.c_str(), X_OK) == 0)
      return path;
  }
  return std::nullopt;
}

void find_fuse(HostFacts& facts) { facts.fuse = fuse_feature(facts); }

void find_tools(HostFacts& facts) {
  find_fuse(facts);
  facts.id_ranges = id_ranges_feature(facts);
  find_network_tools(facts);
}

void find_network_tools(HostFacts& facts) {
  facts.pasta = with_tunnel(facts, program_feature("pasta", "passt"));
  facts.slirp4netns = with_tunnel(facts, program_feature("slirp4netns", "slirp4netns"));
}

}  // namespace coop::host
