#include "egress/dns/resolver_config.h"

#include <linux/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

#include "base/address.h"
#include "policy/destinations/host_name.h"

namespace coop::egress {

namespace {

constexpr std::size_t kMostServers = 3;  // as in libc

Result<std::string> text_of(const Path& path) {
  Result<std::string> text = read_file(path);
  if (!text && text.error().errno_value == ENOENT) return std::string();
  return text;
}

// 0: no such interface.
unsigned number_of_card(const std::string& name) {
  ifreq request{};
  if (name.size() >= sizeof request.ifr_name) return 0;
  name.copy(request.ifr_name, name.size());
  const UniqueFd any(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (::ioctl(any.get(), SIOCGIFINDEX, &request) < 0) return 0;
  return static_cast<unsigned>(request.ifr_ifindex);
}

}  // namespace

Result<UniqueFd> connect_to_server(const std::string& server, std::uint16_t port, int type) {
  const std::size_t percent = server.find('%');
  const std::optional<std::string> bytes = address_bytes(server.substr(0, percent));
  if (!bytes) return invalid("name server", server);
  sockaddr_storage storage{};
  const socklen_t size = fill_socket_address(storage, *bytes, port);
  if (percent != std::string::npos && storage.ss_family == AF_INET6)
    reinterpret_cast<sockaddr_in6&>(storage).sin6_scope_id =
        number_of_card(server.substr(percent + 1));
  UniqueFd socket(::socket(storage.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return system_error("socket");
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&storage), size) < 0 &&
      errno != EINPROGRESS)
    return system_error("connect", server);
  return socket;
}

std::vector<std::string> parse_name_servers(std::string_view text) {
  std::vector<std::string> servers;
  std::istringstream lines{std::string(text)};
  for (std::string line; servers.size() < kMostServers && std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    std::string server;
    words >> key >> server;
    if (key == "nameserver" && address_bytes(server.substr(0, server.find('%'))))
      servers.push_back(server);
  }
  return servers;
}

ResolverConfig::Hosts parse_hosts(std::string_view text) {
  ResolverConfig::Hosts hosts;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    words >> word;
    const std::optional<std::string> address = address_bytes(word);
    if (!address) continue;
    while (words >> word) {
      const std::optional<std::string> name = policy::host_name(word);
      if (!name) continue;
      std::vector<std::string>& known = hosts[*name];
      const std::string spelled = address_text(*address);
      if (std::ranges::find(known, spelled) == known.end()) known.push_back(spelled);
    }
  }
  return hosts;
}

Result<ResolverConfig> read_resolver_config(const ResolverFiles& files) {
  ResolverConfig config;
  config.files = files;
  // Stamp before reading: a change in between then triggers another read.
  config.stamps = stamps_of(files);
  const std::string servers = TRY(text_of(files.name_servers));
  const std::string hosts = TRY(text_of(files.hosts));
  if (const auto named = parse_name_servers(servers); !named.empty()) config.servers = named;
  config.hosts = parse_hosts(hosts);
  return config;
}

std::vector<FileStamp> stamps_of(const ResolverFiles& files) {
  std::vector<FileStamp> stamps;
  for (const Path& path : {files.name_servers, files.hosts}) {
    struct stat status{};
    if (::stat(path.c_str(), &status) < 0) status = {};
    stamps.emplace_back(status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
                        status.st_mtim.tv_nsec);
  }
  return stamps;
}

}  // namespace coop::egress
