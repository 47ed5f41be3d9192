// systemd's manager of the user's units, which may make control groups where we may not.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sys/dbus/connection.h"

namespace coop::dbus {

// Where it may listen: the session bus, then the manager's own socket.
std::vector<Path> manager_sockets(const std::map<std::string, std::string>& environment);

struct ScopeRequest {
  std::string name{};  // "coop-x.scope"
  std::string slice{};
  int pid = 0;
  std::vector<std::pair<std::string, std::uint64_t>> limits{};  // "MemoryMax" → bytes
};

// Every call takes at most two seconds.
class UserManager {
 public:
  static Result<UserManager> connect(const Path& socket);

  // Its own, from the root of the hierarchy: "/user.slice/user-1000.slice/user@1000.service".
  Result<std::string> control_group();
  // Both return before the process has been moved. A scope ends with its last process.
  Result<void> start_scope(const ScopeRequest& request);
  Result<void> attach(const std::string& unit, int pid);

 private:
  explicit UserManager(Connection connection) : connection_(std::move(connection)) {}
  Result<Message> call(std::string interface, std::string member, std::string signature,
                       std::string body);

  Connection connection_;
};

}  // namespace coop::dbus
