#!/bin/sh
# In new user, network and mount namespaces: addresses of an internet, and our DNS server for everybody.
set -eu
here=$(dirname -- "$0")
ip link set lo up
ip address add 93.184.216.34/32 dev lo
ip address add 10.0.0.5/32 dev lo
names=$(mktemp -d)
echo "nameserver 127.0.0.1" >"$names/resolv.conf"
echo "hosts: files dns" >"$names/nsswitch.conf"
for file in resolv.conf nsswitch.conf; do
  mount --bind "$names/$file" "$(readlink -f "/etc/$file")"
done
# A cache of names would answer for our server.
[ ! -d /var/run/nscd ] || mount -t tmpfs none /var/run/nscd
status=0
python3 "$here/rebinding.py" || status=$?
rm -rf "$names"
exit "$status"
