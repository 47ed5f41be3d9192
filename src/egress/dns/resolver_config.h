// The host's resolv.conf and hosts files.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "coop/path.h"
#include "sys/fd.h"

namespace coop::egress {

struct ResolverFiles {
  Path name_servers = "/etc/resolv.conf";
  Path hosts = "/etc/hosts";
};

// Identifies a version of a file, to detect changes: device, inode, size, modification time. Zeros: it does not exist.
using FileStamp = std::tuple<dev_t, ino_t, off_t, time_t, long>;

struct ResolverConfig {
  using Hosts = std::map<std::string, std::vector<std::string>>;  // names as host_name() has them
  std::vector<std::string> servers{"127.0.0.1"};  // in order; "fe80::1%eth0" has a scope
  std::uint16_t port = 53;
  Hosts hosts{};
  std::optional<ResolverFiles> files{};  // where this was read; read again when they change
  std::vector<FileStamp> stamps{};
};

// A non-blocking socket of `type`, connected to an entry of `servers`, or about to be. It receives from that server only;
// the kernel chooses a random source port.
Result<UniqueFd> connect_to_server(const std::string& server, std::uint16_t port, int type);

// The first three servers of resolv.conf(5). Other options are ignored: names are always absolute,
// and the timeouts are our own.
std::vector<std::string> parse_name_servers(std::string_view text);
// hosts(5): addresses of each name, in the order of the file.
ResolverConfig::Hosts parse_hosts(std::string_view text);

// A missing file counts as empty; without servers 127.0.0.1 is used, as in libc.
Result<ResolverConfig> read_resolver_config(const ResolverFiles& files = {});
std::vector<FileStamp> stamps_of(const ResolverFiles& files);

}  // namespace coop::egress
