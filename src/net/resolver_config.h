// Whom the host asks for names, and the names it knows itself.
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

namespace coop::net {

struct ResolverFiles {
  Path name_servers = "/etc/resolv.conf";
  Path hosts = "/etc/hosts";
};

// By which a file is known to be another one, or to say something else; zeros: it is not there.
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
  std::vector<std::string> servers{"127.0.0.1"};  // in the order to ask; "fe80::1%eth0" is one too
  std::uint16_t port = 53;
  Hosts hosts{};
  std::optional<ResolverFiles> files{};  // where this was read, to be read again when they change
  std::vector<FileStamp> stamps{};
};

// Of a server as it stands in `servers`: an address, maybe of one network card only. 0: it is none.
socklen_t fill_server_address(sockaddr_storage& storage, const std::string& server,
                              std::uint16_t port);

// The first three servers of resolv.conf(5). Nothing else in it matters: names are always complete,
// and the times are ours.
std::vector<std::string> parse_name_servers(std::string_view text);
// hosts(5): addresses of each name, in the order of the file.
ResolverConfig::Hosts parse_hosts(std::string_view text);

// A file that is not there is an empty one; without servers there is 127.0.0.1, as libc has it.
Result<ResolverConfig> read_resolver_config(const ResolverFiles& files = {});
std::vector<FileStamp> stamps_of(const ResolverFiles& files);

}  // namespace coop::net
