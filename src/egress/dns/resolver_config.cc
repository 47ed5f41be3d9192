#include "egress/dns/resolver_config.h"

#include <linux/if.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/address.h"
#include "policy/destinations/host_name.h"
#include "sys/fd.h"

namespace coop::egress {

namespace {

constexpr std::size_t kMostServers = 3;  // as in libc

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

std::string_view take_word(std::string_view& line) {
  constexpr std::string_view kBlanks = " \t\r";
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

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

socklen_t fill_server_address(sockaddr_storage& storage, const std::string& server,
                              std::uint16_t port) {
  const std::size_t percent = server.find('%');
  const std::optional<std::string> bytes = address_bytes(server.substr(0, percent));
  if (!bytes) return 0;
  const socklen_t size = fill_socket_address(storage, *bytes, port);
  if (percent != std::string::npos && storage.ss_family == AF_INET6)
    reinterpret_cast<sockaddr_in6&>(storage).sin6_scope_id =
        number_of_card(server.substr(percent + 1));
  return size;
}

std::vector<std::string> parse_name_servers(std::string_view text) {
  std::vector<std::string> servers;
  while (!text.empty() && servers.size() < kMostServers) {
    std::string_view line = take_line(text);
    if (take_word(line) != "nameserver") continue;
    const std::string_view server = take_word(line);
    if (address_bytes(server.substr(0, server.find('%')))) servers.emplace_back(server);
  }
  return servers;
}

ResolverConfig::Hosts parse_hosts(std::string_view text) {
  ResolverConfig::Hosts hosts;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    line = line.substr(0, line.find('#'));
    const std::optional<std::string> address = address_bytes(take_word(line));
    if (!address) continue;
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
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
    stamps.push_back({.device = status.st_dev,
                      .inode = status.st_ino,
                      .size = status.st_size,
                      .seconds = status.st_mtim.tv_sec,
                      .nanoseconds = status.st_mtim.tv_nsec});
  }
  return stamps;
}

}  // namespace coop::egress
