#!/usr/bin/env bash
# In network and mount namespaces of its own: the addresses and servers of the internet. $SCRATCH/ready tells when the
# link to it may come.
set -euo pipefail

here=$(dirname -- "$(readlink -f -- "$0")")
ip link set lo up
for address in 93.184.216.34 93.184.216.35 93.184.216.53 8.8.8.8 10.99.0.1 169.254.169.254; do
  ip address add "$address/32" dev lo
done
ip -6 address add 2600:1234:5::34/128 dev lo nodad
ip -6 address add fd99::1/128 dev lo nodad
# Where nobody lives one is told so; routers do that.
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
