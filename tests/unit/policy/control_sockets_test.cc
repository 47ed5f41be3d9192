// Which sockets control the machine.
#include <gmock/gmock.h>

#include "policy/builtin.h"

namespace coop::policy {
namespace {

TEST(ControlSocketsTest, SocketsThatControlTheMachineAreKnownByName) {
  for (const char* path : {"/run/docker.sock",
                           "/var/run/docker.sock",
                           "/home/ann/.docker/run/docker.sock",
                           "docker.sock",
                           "~/docker.sock",
                           "/run/user/1000/podman/podman.sock",
                           "/run/containerd/containerd.sock",
                           "/run/crio/crio.sock",
                           "/run/buildkit/buildkitd.sock",
                           "/run/dbus/system_bus_socket",
                           "/var/run/dbus/system_bus_socket",
                           "/run/systemd/private",
                           "/run/systemd/journal/io.systemd.journal",
                           "/var/run/systemd/private",
                           "/run/systemd",
                           "/run/user/1000/systemd/private",
                           "/run/libvirt/libvirt-sock",
                           "/run/libvirt/virtqemud-sock",
                           "/var/lib/lxd/unix.socket",
                           "/var/snap/lxd/common/lxd/unix.socket",
                           "/var/lib/incus/unix.socket",
                           "/run/snapd.socket",
                           "/run/user/1000/bus",
                           "/run/../run//docker.sock",
                           "/tmp/tmux-1000/default",
                           "/run/multipathd.socket"})
    EXPECT_TRUE(control_socket_reason(path).has_value()) << path;
  EXPECT_EQ(control_socket_reason("/run/docker.sock"),
            "starts containers with any part of the host in them");
}

TEST(ControlSocketsTest, OthersAreNot) {
  for (const char* path :
       {"", "/", "/tmp/.X11-unix/X0", "/run/user/1000/gnupg/S.gpg-agent",
        "/run/postgresql/.s.PGSQL.5432", "/run/user/1000/wayland-0", "/tmp/my-docker.sock",
        "/run/docker.sock.txt", "/run/unix.socket", "/run/docker.sock/x",
        "/run/systemd-x/private-x", "/opt/run/systemd/x", "/run/mysqld/mysqld.sock"})
    EXPECT_EQ(control_socket_reason(path), std::nullopt) << path;
}

TEST(ControlSocketsTest, EachHasItsReason) {
  EXPECT_GT(control_sockets().size(), 20u);
  for (const NamedReason& socket : control_sockets()) EXPECT_FALSE(socket.reason.empty());
}

}  // namespace
}  // namespace coop::policy
