#!/usr/bin/env bash
# In its own network and mount namespaces: the addresses and servers of the internet. $SCRATCH/ready signals that the
# link can be attached.
set -euo pipefail

here=$(dirname -- "$(readlink -f -- "$0")")
ip link set lo up
for address in 93.184.216.34 93.184.216.35 93.184.216.53 8.8.8.8 8.8.8.9 10.99.0.1 10.99.0.2 169.254.169.254 169.254.170.2 \
  172.16.5.5 192.168.77.1 100.64.0.1 100.100.100.200 192.0.2.1 198.51.100.7 198.18.77.1 45.64.0.1; do
  ip address add "$address/32" dev lo
done
for address in 2600:1234:5::34 fd99::1 fd99::2 fd00:ec2::254 64:ff9b::a63:1; do
  ip -6 address add "$address/128" dev lo nodad
done
# Forwarding makes unused addresses answer with ICMP "unreachable", as routers do.
echo 1 >/proc/sys/net/ipv4/ip_forward
echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
ip route add unreachable default
ip -6 route add unreachable default

# Only here, and gone with this namespace.
mount -t tmpfs none /run
mkdir /run/sshd
cat >"$SCRATCH/sshd_config" <<END
ListenAddress 93.184.216.34
Port 22
HostKey $SCRATCH/host.key
AuthorizedKeysFile $SCRATCH/client.key.pub
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
PidFile none
END
"$(command -v sshd)" -D -e -f "$SCRATCH/sshd_config" &
exec python3 "$here/internet.py"
