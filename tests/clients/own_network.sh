#!/bin/sh
# In new user, network and mount namespaces: a machine with our DNS server, and behind a link the internet, in a network
# of its own ($INTERNET is its file).
set -eu
here=$(dirname -- "$0")
ip link set lo up
ip address add 10.0.0.5/32 dev lo
names=$(mktemp -d)
unshare --net sh -c 'ip link set lo up; echo up; exec sleep 300' >"$names/up" &
internet=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -s "$names/up" ] || sleep 0.1; done
ip link add world type veth peer name world netns "$internet"
ip address add 45.33.32.2/24 dev world
ip link set world up
ip route add default via 45.33.32.1
nsenter --target "$internet" --net sh -c '
  ip address add 45.33.32.1/24 dev world; ip link set world up; ip address add 93.184.216.34/32 dev lo'
export INTERNET="/proc/$internet/ns/net"
echo "nameserver 127.0.0.1" >"$names/resolv.conf"
echo "hosts: files dns" >"$names/nsswitch.conf"
for file in resolv.conf nsswitch.conf; do
  mount --bind "$names/$file" "$(readlink -f "/etc/$file")"
done
# nscd would answer instead of our server.
[ ! -d /var/run/nscd ] || mount -t tmpfs none /var/run/nscd
status=0
python3 "$here/rebinding.py" || status=$?
kill "$internet"
rm -rf "$names"
exit "$status"
