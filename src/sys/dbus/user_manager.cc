#include "sys/dbus/user_manager.h"

#include <string_view>

#include "base/path.h"

namespace coop::dbus {

namespace {

constexpr std::string_view kService = "org.freedesktop.systemd1";
constexpr std::string_view kManager = "org.freedesktop.systemd1.Manager";
constexpr std::string_view kOwnSocket = "/systemd/private";

Deadline soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(2); }

// "unix:path=/run/user/1000/bus,guid=…"; other forms (abstract names, TCP) are not used for it.
Path path_of(std::string_view address) {
  constexpr std::string_view kPrefix = "unix:path=/";
  if (!address.starts_with(kPrefix)) return {};
  return Path(address.substr(kPrefix.size() - 1, address.find_first_of(",;") - kPrefix.size() + 1));
}

void add_text(Writer& writer, std::string_view name, std::string_view value) {
  writer.align(8);
  writer.text(name);
  writer.signature("s");
  writer.text(value);
}

void add_number(Writer& writer, std::string_view name, std::uint64_t value) {
  writer.align(8);
  writer.text(name);
  writer.signature("t");
  writer.large(value);
}

void add_flag(Writer& writer, std::string_view name) {
  writer.align(8);
  writer.text(name);
  writer.signature("b");
  writer.number(1);
}

void add_processes(Writer& writer, int pid) {
  const Writer::Array pids = writer.begin_array(4);
  writer.number(static_cast<std::uint32_t>(pid));
  writer.end_array(pids);
}

}  // namespace

std::vector<Path> manager_sockets(const std::map<std::string, std::string>& environment) {
  std::vector<Path> sockets;
  const auto address = environment.find("DBUS_SESSION_BUS_ADDRESS");
  if (address != environment.end())
    if (Path path = path_of(address->second); !path.empty()) sockets.push_back(std::move(path));
  const auto runtime = environment.find("XDG_RUNTIME_DIR");
  if (runtime == environment.end() || !runtime->second.starts_with('/')) return sockets;
  for (const std::string_view name : {std::string_view("/bus"), kOwnSocket})
    if (Path path = runtime->second + std::string(name); sockets.empty() || sockets[0] != path)
      sockets.push_back(std::move(path));
  return sockets;
}

Result<UserManager> UserManager::connect(const Path& socket) {
  const Peer peer = socket.ends_with(kOwnSocket) ? Peer::direct : Peer::bus;
  Connection connection = TRY(Connection::open(socket, peer, soon()));
  return UserManager(std::move(connection));
}

Result<Message> UserManager::call(std::string interface, std::string member, std::string signature,
                                  std::string body) {
  return connection_.call({.destination = std::string(kService),
                           .path = "/org/freedesktop/systemd1",
                           .interface = std::move(interface),
                           .member = std::move(member),
                           .signature = std::move(signature),
                           .body = std::move(body)},
                          soon());
}

Result<std::string> UserManager::control_group() {
  Writer writer;
  writer.text(kManager);
  writer.text("ControlGroup");
  const Message answer = TRY(call("org.freedesktop.DBus.Properties", "Get", "ss", writer.take()));
  Reader reader(answer.body);
  const std::string type = TRY(reader.signature());
  if (answer.signature != "v" || type != "s")
    return invalid("ControlGroup", "systemd answered with another type");
  return reader.text();
}

Result<void> UserManager::start_scope(const ScopeRequest& request) {
  Writer writer;
  writer.text(request.name);
  writer.text("fail");
  const Writer::Array properties = writer.begin_array(8);
  add_text(writer, "Description", "a sandbox of coop");
  add_text(writer, "Slice", request.slice);
  add_text(writer, "CollectMode", "inactive-or-failed");
  add_flag(writer, "Delegate");  // else no process can be attached later
  for (const auto& [name, value] : request.limits) add_number(writer, name, value);
  writer.align(8);
  writer.text("PIDs");
  writer.signature("au");
  add_processes(writer, request.pid);
  writer.end_array(properties);
  writer.end_array(writer.begin_array(8));  // no other units
  TRY(call(std::string(kManager), "StartTransientUnit", "ssa(sv)a(sa(sv))", writer.take()));
  return {};
}

Result<void> UserManager::attach(const std::string& unit, int pid) {
  Writer writer;
  writer.text(unit);
  writer.text("");  // the group itself
  add_processes(writer, pid);
  TRY(call(std::string(kManager), "AttachProcessesToUnit", "ssau", writer.take()));
  return {};
}

}  // namespace coop::dbus
