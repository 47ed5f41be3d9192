// A client of D-Bus that makes one call at a time.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "sys/dbus/message.h"
#include "sys/fd.h"

namespace coop::dbus {

using Deadline = std::chrono::steady_clock::time_point;

// bus: a daemon that passes messages on, and wants to be greeted. direct: the service itself.
enum class Peer : std::uint8_t { bus, direct };

class Connection {
 public:
  // A socket of ours or of root: another user's would be told what we do.
  static Result<Connection> open(const Path& socket, Peer peer, Deadline deadline);

  // Its answer; an error that the service returned is an error. Signals and other answers are dropped.
  Result<Message> call(Message message, Deadline deadline);

 private:
  Result<void> authenticate(Deadline deadline);
  Result<std::string> read_line(Deadline deadline);
  Result<void> send(std::string_view bytes, Deadline deadline) const;
  Result<void> receive(Deadline deadline);

  UniqueFd fd_{};
  std::string received_{};
  std::uint32_t serial_ = 0;
};

}  // namespace coop::dbus
