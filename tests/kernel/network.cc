// The network of a sandbox on this kernel, without an outside: tests/network simulates one.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "kernel/support.h"

namespace coop::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

// A server on the host's loopback that answers every connection with one line.
class Server {
 public:
  Server() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(socket_, 16), 0);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      for (int client = 0; (client = ::accept(socket_, nullptr, nullptr)) >= 0; ::close(client))
        (void)!::write(client, "from the host\n", 14);
    });
  }
  ~Server() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  std::string port() const { return std::to_string(port_); }

 private:
  int socket_;
  int port_ = 0;
  std::thread thread_{};
};

// Reads from host:port directly, ignoring proxy variables.
Arguments connect_to(const std::string& host, const std::string& port) {
  return {"python3", "-c",
          "import socket,sys\n"
          "s=socket.create_connection((sys.argv[1],int(sys.argv[2])),timeout=5)\n"
          "print(s.recv(100).decode().strip())",
          host, port};
}

// The host and two sandboxes listen on the same port, and each sees its own sockets only.
KERNEL_TEST(KernelNetwork, EverySandboxHasThePortsToItself) {
  const Workspace workspace;
  const Server server;
  const std::string program =
      "import os, socket, sys, time\n"
      "port = int(sys.argv[1])\n"
      "server = socket.socket(); server.bind(('127.0.0.1', port)); server.listen()\n"
      "rows = [line.split()[1] for line in open('/proc/net/tcp').readlines()[1:]]\n"
      "print(len(rows), rows[0].endswith(':%04X' % port), flush=True)\n"
      "open(sys.argv[2], 'w').close()\n"
      "while not os.path.exists('done'): time.sleep(0.02)\n";
  const auto listening = [&](const std::string& name) {
    return Arguments{coop_binary(), "run", "-w",    workspace.path(), "--",
                     "python3",     "-c",  program, server.port(),    name};
  };
  Process first(listening("first"), workspace.options());
  Process second(listening("second"), workspace.options());
  EXPECT_TRUE(
      eventually([&] { return exists(workspace / "first") && exists(workspace / "second"); }));
  write_file(workspace / "done", "");
  const Ran one = first.finish();
  const Ran other = second.finish();
  EXPECT_EQ(one.out, "1 True\n") << one.err;
  EXPECT_EQ(other.out, "1 True\n") << other.err;
}

KERNEL_TEST(KernelNetwork, APortOfTheHostIsReachedOnlyWhenItIsNamed) {
  const Workspace workspace;
  const Server server;
  EXPECT_NE(workspace.run(connect_to("127.0.0.1", server.port())).exit_code, 0);
  const Ran named =
      workspace.run(connect_to("127.0.0.1", server.port()), {"--host-port", server.port()});
  EXPECT_EQ(named.out, "from the host\n") << named.err;
  const Ran six = workspace.run(connect_to("::1", server.port()), {"--host-port", server.port()});
  EXPECT_EQ(six.out, "from the host\n") << six.err;
}

KERNEL_TEST(KernelNetwork, AllowedNamesHaveAnAddressAndOthersDoNotExist) {
  const Workspace workspace;
  const Arguments flags{"--allow-net", "*.allowed.example"};
  for (const std::string& view : kViews) {
    const Ran known =
        workspace.run({"getent", "ahostsv4", "a.allowed.example"}, in_view(view, flags));
    EXPECT_THAT(known.out, HasSubstr("198.18.1.")) << known.err;
    EXPECT_NE(workspace.run({"getent", "ahosts", "denied.example"}, in_view(view, flags)).exit_code,
              0);
  }
  EXPECT_NE(workspace.run({"getent", "ahosts", "a.allowed.example"}).exit_code, 0);
}

// Refusals are immediate: a timeout would look like a broken program.
KERNEL_TEST(KernelNetwork, WhatIsNotAllowedIsRefusedAtOnce) {
  const Workspace workspace;
  const char* script =
      "import socket,time\n"
      "start=time.time()\n"
      "for target in "
      "(('9.9.9.9',443),('10.0.0.1',80),('169.254.169.254',80),('198.18.200.1',443)):\n"
      "  try:\n"
      "    s=socket.create_connection(target,timeout=20)\n"
      "    s.settimeout(20)\n"
      "    s.sendall(b'hello\\r\\n\\r\\n')\n"
      "    print('open' if s.recv(1) and target[1]==443 else 'closed')\n"
      "  except OSError as e: print('refused')\n"
      "u=socket.socket(socket.AF_INET,socket.SOCK_DGRAM)\n"
      "u.settimeout(20)\n"
      "u.connect(('9.9.9.9',443))\n"
      "try:\n"
      "  u.send(b'x'); u.recv(10); print('answer')\n"
      "except OSError as e: print(type(e).__name__)\n"
      "print('quick' if time.time()-start<15 else 'slow')\n";
  const Ran ran = workspace.run({"python3", "-c", script}, {"--network", "allowlist"});
  EXPECT_THAT(ran.out, Not(HasSubstr("open")));
  EXPECT_THAT(ran.out, HasSubstr("PermissionError\nquick")) << ran.err;
}

KERNEL_TEST(KernelNetwork, ADenialTellsItsRuleAndTheGrant) {
  const Workspace workspace;
  const Ran ran = workspace.run({"getent", "ahosts", "elsewhere.example"},
                                {"--json", "--allow-net", "allowed.example"});
  EXPECT_THAT(ran.out, HasSubstr("\"what\": \"looking up elsewhere.example\""));
  EXPECT_THAT(ran.out, HasSubstr("\"grant\": \"--allow-net elsewhere.example\""));
  EXPECT_THAT(ran.out, HasSubstr("\"verdict\": \"denied\""));
}

KERNEL_TEST(KernelNetwork, TheSandboxCannotChangeItsRoutes) {
  const Workspace workspace;
  for (const char* command :
       {"ip route flush table local", "ip link set lo down", "ip addr add 9.9.9.9 dev lo"})
    EXPECT_NE(workspace.run(shell(command), {"--network", "allowlist", "--as-root"}).exit_code, 0)
        << command;
  EXPECT_EQ(workspace.run(shell("ip route show table local"), {"--network", "allowlist"}).exit_code,
            0);  // control: looking is allowed
}

KERNEL_TEST(KernelNetwork, APublishedPortIsReachedFromTheHost) {
  const Workspace workspace;
  const Server placeholder;  // a port that is taken
  const Ran taken = workspace.run({"true"}, {"--publish", placeholder.port() + ":80"});
  EXPECT_EQ(taken.exit_code, 125);
  EXPECT_THAT(taken.err, HasSubstr("EADDRINUSE"));
}

KERNEL_TEST(KernelNetwork, ASocketOfTheHostIsThereWhenItIsListed) {
  const Workspace workspace;
  const TempDir place{visible_place()};
  const std::string path = place / "echo.sock";
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::copy(path.begin(), path.end(), address.sun_path);
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener, 4), 0);
  const Arguments connect{"python3", "-c",
                          "import socket,sys\n"
                          "socket.socket(socket.AF_UNIX).connect(sys.argv[1])\nprint('in')",
                          path};
  for (const std::string& view : kViews) {
    EXPECT_NE(workspace.run(connect, in_view(view)).exit_code, 0) << view;
    EXPECT_NE(workspace.run(connect, in_view(view, {"--ro", place / ""})).exit_code, 0) << view;
    const Ran ran = workspace.run(connect, in_view(view, {"--socket", path}));
    EXPECT_EQ(ran.out, "in\n") << view << ran.err;
  }
  ::close(listener);
}

}  // namespace
}  // namespace coop::tests
