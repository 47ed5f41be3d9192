// The host's resolv.conf and hosts files.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "coop/path.h"

namespace coop::egress {

struct ResolverFiles {
  Path name_servers = "/etc/resolv.conf";
  Path hosts = "/etc/hosts";
};

// Identifies a version of a file, to detect changes; zeros: the file does not exist.
struct FileStamp {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
  bool operator==(const FileStamp&) const = default;
};

struct ResolverConfig {
  using Hosts = std::map<std::string, std::vector<std::string>>;  // names as host_name() has them
  std::vector<std::string> servers{"127.0.0.1"};  // in order; "fe80::1%eth0" has a scope
  std::uint16_t port = 53;
  Hosts hosts{};
  std::optional<ResolverFiles> files{};  // where this was read; read again when they change
  std::vector<FileStamp> stamps{};
};

// The socket address of an entry of `servers`, with its scope if it has one. 0: not an address.
socklen_t fill_server_address(sockaddr_storage& storage, const std::string& server,
                              std::uint16_t port);

// The first three servers of resolv.conf(5). Other options are ignored: names are always absolute,
// and the timeouts are our own.
std::vector<std::string> parse_name_servers(std::string_view text);
// hosts(5): addresses of each name, in the order of the file.
ResolverConfig::Hosts parse_hosts(std::string_view text);

// A missing file counts as empty; without servers 127.0.0.1 is used, as in libc.
Result<ResolverConfig> read_resolver_config(const ResolverFiles& files = {});
std::vector<FileStamp> stamps_of(const ResolverFiles& files);

}  // namespace coop::egress
