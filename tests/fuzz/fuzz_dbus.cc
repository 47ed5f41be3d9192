// Whatever a bus sends: no read leaves the bytes, a message that was taken can be written and taken again, and nothing is taken
// twice.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sys/dbus/message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using coop::dbus::Message;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  for (;;) {
    const std::size_t before = bytes.size();
    const coop::Result<std::optional<Message>> taken = coop::dbus::take_message(bytes);
    if (!taken || !*taken) break;
    if (bytes.size() >= before) std::abort();
    const Message& message = **taken;
    coop::dbus::Reader reader(message.body);
    for (const char type : message.signature) {
      if (type == 's' && !reader.text()) break;
      if (type == 'u' && !reader.number()) break;
      if (type == 'g' && !reader.signature()) break;
    }
    std::string again = coop::dbus::encode(message);
    const coop::Result<std::optional<Message>> same = coop::dbus::take_message(again);
    if (!same || !*same || **same != message || !again.empty()) std::abort();
  }
  return 0;
}
