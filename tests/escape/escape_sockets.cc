// Sockets: host services that execute any client's requests, and rare socket families.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>

#include "support/harness.h"

namespace coop::tests {
namespace {

// A server of the host. The kernel completes connections in the listen queue: accept() is not
// needed.
class Server {
 public:
  static Server at_path(const std::string& path) { return Server(path, 0); }
  static Server abstract(const std::string& name) { return Server(name, 1); }
  static Server loopback() { return Server(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() { ::close(fd_); }

  std::string port() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    return std::to_string(ntohs(address.sin_port));
  }

 private:
  Server(const std::string& name, std::size_t offset)
      : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + offset, name.data(), name.size());
    open(reinterpret_cast<sockaddr*>(&address),
         offsetof(sockaddr_un, sun_path) + offset + name.size());
  }
  Server() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    open(reinterpret_cast<sockaddr*>(&address), sizeof address);
  }
  void open(const sockaddr* address, std::size_t size) {
    if (::bind(fd_, address, static_cast<socklen_t>(size)) != 0 || ::listen(fd_, 8) != 0)
      std::abort();
  }
  int fd_;
};

void expect_unreachable(const Workspace& workspace, const std::string& path,
                        const RunOptions& options = {}) {
  const Server server = Server::at_path(path);
  EXPECT_TRUE(escaped(workspace.outside({"connect", path}))) << path;
  for (const Arguments& flags :
       {Arguments{}, Arguments{"--view", "host"}, Arguments{"--view", "host", "--show-home"}})
    EXPECT_TRUE(blocked(workspace.inside({"connect", path}, flags, options),
                        {ENOENT, EACCES, ECONNREFUSED}))
        << path << " in view " << flags.size();
}

const Arguments kHostNetwork{"--network", "host", "--unsafe", "host_network"};

KERNEL_TEST(EscapeSockets, SshAgent) {
  const Workspace workspace;
  const TempDir agent;  // where ssh-agent puts its socket: /tmp/ssh-XXXX/agent.N
  expect_unreachable(workspace, agent / "agent.1");
}

KERNEL_TEST(EscapeSockets, DockerAndMessageBusUnderRun) {
  // Only root can create one there; for an ordinary user nothing there may be visible.
  const Workspace workspace;
  if (is_root()) {
    const TempDir run("/run");
    expect_unreachable(workspace, run / "docker.sock");
  }
  const std::string entry = std::filesystem::directory_iterator("/run")->path().filename();
  EXPECT_TRUE(escaped(workspace.outside({"list", "/run", entry})));
  for (const char* view : {"minimal", "host"}) {
    EXPECT_TRUE(blocked(workspace.inside({"list", "/run", entry}, {"--view", view}), ENOENT))
        << entry;
    for (const char* path :
         {"/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket"})
      EXPECT_TRUE(blocked(workspace.inside({"connect", path}, {"--view", view}), ENOENT)) << path;
  }
}

KERNEL_TEST(EscapeSockets, DesktopServer) {
  const Workspace workspace;
  const TempDir desktop;  // as /tmp/.X11-unix/X0, and its abstract twin
  expect_unreachable(workspace, desktop / "X0");
  const std::string name = desktop / "X1";
  const Server twin = Server::abstract(name);
  EXPECT_TRUE(escaped(workspace.outside({"abstract", name})));
  EXPECT_TRUE(blocked(workspace.inside({"abstract", name}), ECONNREFUSED));
}

KERNEL_TEST(EscapeSockets, AgentInAHiddenDirectory) {
  const Workspace workspace(visible_place());
  make_directories(workspace.around() / ".gnupg");
  expect_unreachable(workspace, workspace.around() / ".gnupg/S.gpg-agent", workspace.options());
}

KERNEL_TEST(EscapeSockets, ServerInTheHomeDirectory) {
  // A read-only mount does not stop connect(): ~/.docker/run/docker.sock would start containers.
  const Workspace workspace(visible_place());
  make_directories(workspace.around() / ".docker/run");
  expect_unreachable(workspace, workspace.around() / ".docker/run/docker.sock",
                     workspace.options());
}

KERNEL_TEST(EscapeSockets, ServerInAnyOtherDirectory) {
  const Workspace workspace(visible_place());
  make_directories(workspace.around() / "srv/app/run");
  RunOptions options = workspace.options();
  options.environment["HOME"] = "/nonexistent";
  expect_unreachable(workspace, workspace.around() / "srv/app/run/app.sock", options);
}

KERNEL_TEST(EscapeSockets, ServerOfAnotherUserInAPrivateDirectory) {
  // Only root finds it, and cannot hide it: without capabilities over that user's directory it cannot get there. Neither
  // can the command, so the sandbox starts.
  const Workspace workspace(visible_place());
  if (!is_root()) GTEST_SKIP() << "only root can make the directory of another user";
  const std::string place = workspace.around() / "private";
  make_directories(place);
  const Server server = Server::at_path(place + "/app.sock");
  ASSERT_EQ(::chown(place.c_str(), 65534, 65534), 0);
  ASSERT_EQ(::chmod(place.c_str(), 0700), 0);
  const Arguments attack{"connect", place + "/app.sock"};
  EXPECT_TRUE(escaped(workspace.outside(attack)));  // with capabilities
  const Ran ran = workspace.inside(attack, {"--view", "host"}, workspace.options());
  EXPECT_TRUE(blocked(ran, {EACCES, ENOENT})) << ran.err;
}

KERNEL_TEST(EscapeSockets, AbstractName) {
  const Workspace workspace;
  const std::string name = "coop-test-" + std::to_string(::getpid());
  const Server server = Server::abstract(name);
  EXPECT_TRUE(escaped(workspace.outside({"abstract", name})));
  EXPECT_TRUE(blocked(workspace.inside({"abstract", name}), ECONNREFUSED));
}

KERNEL_TEST(EscapeSockets, AbstractNameInTheHostNetwork) {
  // Abstract names belong to the network namespace: here only Landlock's scope remains (ABI 6).
  const Workspace workspace;
  const std::string name = "coop-test-" + std::to_string(::getpid());
  const Server server = Server::abstract(name);
  EXPECT_TRUE(escaped(workspace.outside({"abstract", name})));
  EXPECT_TRUE(blocked(workspace.inside({"abstract", name}, kHostNetwork), EPERM));
}

KERNEL_TEST(EscapeSockets, ServersOnLoopback) {
  const Workspace workspace;
  const Server server = Server::loopback();
  const Arguments attack{"tcp", "127.0.0.1", server.port()};
  EXPECT_TRUE(escaped(workspace.outside(attack)));
  EXPECT_TRUE(escaped(workspace.inside(attack, kHostNetwork)));  // the one way to allow it
  EXPECT_TRUE(blocked(workspace.inside(attack), ECONNREFUSED));
  EXPECT_TRUE(blocked(workspace.inside(attack, {"--view", "host"}), ECONNREFUSED));
}

KERNEL_TEST(EscapeSockets, HostNetworkNeedsItsDangerousWord) {
  const Workspace workspace;
  EXPECT_EQ(workspace.inside({"arguments"}, {"--network", "host"}).exit_code, 125);
  EXPECT_TRUE(escaped(workspace.inside({"arguments"}, kHostNetwork)));
}

KERNEL_TEST(EscapeSockets, TheNetworkOutside) {
  const Workspace workspace;
  // Sending a packet to oneself needs no network: the control works anywhere.
  EXPECT_TRUE(escaped(workspace.outside({"udp", "127.0.0.1", "53530"})));
  for (const char* address : {"192.0.2.1", "8.8.8.8", "169.254.169.254", "10.0.0.1"}) {
    EXPECT_TRUE(blocked(workspace.inside({"tcp", address, "80"}), ENETUNREACH)) << address;
    EXPECT_TRUE(blocked(workspace.inside({"udp", address, "53"}), ENETUNREACH)) << address;
  }
}

void expect_no_family(int family, int type, int protocol,
                      std::initializer_list<int> also_outside = {}) {
  const Workspace workspace;
  const Arguments attack{"socket", std::to_string(family), std::to_string(type),
                         std::to_string(protocol)};
  const Ran control = workspace.outside_with_capabilities(attack);
  EXPECT_TRUE(also_outside.size() == 0 ? escaped(control)
              : escaped(control)       ? testing::AssertionSuccess()
                                       : blocked(control, also_outside));
  EXPECT_TRUE(sandboxed(workspace));
  EXPECT_TRUE(blocked(workspace.inside(attack), EAFNOSUPPORT));
  EXPECT_TRUE(blocked(workspace.inside(attack, kHostNetwork), EAFNOSUPPORT));
}

KERNEL_TEST(EscapeSockets, RawSocket) { expect_no_family(AF_INET, SOCK_RAW, IPPROTO_ICMP); }
KERNEL_TEST(EscapeSockets, RawSocketOfTheNewerProtocol) {
  expect_no_family(AF_INET6, SOCK_RAW, 58);
}
KERNEL_TEST(EscapeSockets, RawSocketWithFlags) {
  expect_no_family(AF_INET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_ICMP);
}
KERNEL_TEST(EscapeSockets, PacketSocket) { expect_no_family(AF_PACKET, SOCK_DGRAM, 0); }
KERNEL_TEST(EscapeSockets, HypervisorSocket) {
  // Not every kernel has this family; without it the refusal inside proves less.
  expect_no_family(AF_VSOCK, SOCK_STREAM, 0, {EAFNOSUPPORT, ENODEV});
}
KERNEL_TEST(EscapeSockets, NetfilterSocket) {
  expect_no_family(AF_NETLINK, SOCK_DGRAM, 12, {EPROTONOSUPPORT});
}
KERNEL_TEST(EscapeSockets, AuditAndKernelEventSockets) {
  expect_no_family(AF_NETLINK, SOCK_DGRAM, 9, {EPROTONOSUPPORT});   // audit
  expect_no_family(AF_NETLINK, SOCK_DGRAM, 15, {EPROTONOSUPPORT});  // kernel events
  expect_no_family(AF_NETLINK, SOCK_DGRAM, 16, {EPROTONOSUPPORT});  // generic
}
KERNEL_TEST(EscapeSockets, KernelCryptography) {
  expect_no_family(AF_ALG, SOCK_SEQPACKET, 0, {EAFNOSUPPORT});
}
KERNEL_TEST(EscapeSockets, RouteSocketStillWorks) {
  // The control of the two above: NETLINK_ROUTE, which libc needs to list interfaces, is allowed.
  const Workspace workspace;
  EXPECT_TRUE(escaped(
      workspace.inside({"socket", std::to_string(AF_NETLINK), std::to_string(SOCK_RAW), "0"})));
}

}  // namespace
}  // namespace coop::tests
