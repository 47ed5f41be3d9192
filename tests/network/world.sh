#!/usr/bin/env bash
# The first process of the test's own namespaces, which simulate "the host": run.sh starts it. A second network
# namespace simulates "the internet" (internet.py), with addresses that belong to real hosts elsewhere.
set -euo pipefail

here=$(dirname -- "$(readlink -f -- "$0")")
cd "$SCRATCH"
mount --make-rprivate /

# With what RFC 5280 asks for: Python 3.13 and later refuse other ones.
make_certificates() {
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout ca.key -out ca.pem -subj /CN=test-authority -config <(
    printf '%s\n' '[req]' 'distinguished_name = name' 'x509_extensions = authority' '[name]' '[authority]' \
      'basicConstraints = critical,CA:true' 'keyUsage = critical,keyCertSign,cRLSign' 'subjectKeyIdentifier = hash'
  ) 2>/dev/null
  openssl req -newkey rsa:2048 -nodes -keyout server.key -out server.request -subj /CN=good.example 2>/dev/null
  openssl x509 -req -in server.request -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out server.pem -extfile <(
    printf '%s\n' 'basicConstraints = critical,CA:false' 'keyUsage = critical,digitalSignature,keyEncipherment' \
      'extendedKeyUsage = serverAuth' 'subjectKeyIdentifier = hash' 'authorityKeyIdentifier = keyid:always' \
      'subjectAltName = DNS:good.example,DNS:other.example,DNS:*.wild.example,DNS:rebind.example'
  ) 2>/dev/null
  ssh-keygen -q -t ed25519 -N "" -f host.key
  ssh-keygen -q -t ed25519 -N "" -f client.key
}

make_repository() {
  git init -q --bare repository.git
  git init -q work
  echo "from far away" >work/README
  git -C work add README
  git -C work -c user.name=test -c user.email=test@good.example commit -q -m first
  git -C work push -q ../repository.git HEAD:refs/heads/main
  git -C repository.git symbolic-ref HEAD refs/heads/main
  rm -rf work
}

# Host files in this mount namespace: the resolver asks our server.
make_host_files() {
  mkdir etc
  echo "nameserver 93.184.216.53" >etc/resolv.conf
  printf '127.0.0.1 localhost\n93.184.216.99 of-the-host.example\n' >etc/hosts
  echo "hosts: files dns" >etc/nsswitch.conf
  for file in resolv.conf hosts nsswitch.conf; do
    [[ -e /etc/$file ]] && mount --bind "etc/$file" "$(readlink -f "/etc/$file")"
  done
  # nscd would answer instead of our server.
  [[ ! -d /var/run/nscd ]] || mount -t tmpfs none /var/run/nscd
}

# /dev/net/tun. Where only root may open it, an ordinary user has none: the test makes a node for it, and another one
# with strict permissions.
make_tunnel_device() {
  [[ -e /dev/net/tun ]] || return 0
  mkdir devices
  mount -t tmpfs none devices
  mknod devices/tun c 10 200 2>/dev/null || return 0
  chmod 0666 devices/tun
  mount --bind devices/tun /dev/net/tun
}

# For tests of an ordinary user: what they write there, `ip` does.
make_changes() {
  local words
  mkfifo -m 0666 changes
  while read -r -a words; do ip "${words[@]}" || true; done <>changes &
}

join_networks() {
  local internet=$1
  ip link set lo up
  ip link add world type veth peer name world netns "$internet"
  ip address add 45.33.32.2/24 dev world
  ip -6 address add 2600:1234::2/64 dev world nodad
  ip link set world up
  nsenter --target "$internet" --net ip address add 45.33.32.1/24 dev world
  nsenter --target "$internet" --net ip -6 address add 2600:1234::1/64 dev world nodad
  nsenter --target "$internet" --net ip link set world up
  nsenter --target "$internet" --net ip address add 45.61.0.1/24 dev world
  nsenter --target "$internet" --net ip address add 45.61.0.70/24 dev world
  nsenter --target "$internet" --net ip -6 address add 2600:1234:61::1/64 dev world nodad
  ip route add default via 45.33.32.1
  ip -6 route add default via 2600:1234::1
}

run_test() {
  cd "$SCRATCH/home/project"  # not the home itself: coop does not take it unnamed
  export HOME=$SCRATCH/home PYTHONDONTWRITEBYTECODE=1
  [[ -n $COOP_TEST_USER ]] || { /usr/bin/env python3 "$here/$COOP_TEST.py"; return; }
  chown -R "$COOP_TEST_USER" "$SCRATCH/home"
  runuser -u "$COOP_TEST_USER" -- env -u XDG_RUNTIME_DIR USER="$COOP_TEST_USER" LOGNAME="$COOP_TEST_USER" \
    PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin python3 "$here/$COOP_TEST.py"
}

hide() {
  local program
  for program in "$@"; do
    [[ -z $(type -P "$program") ]] || mount --bind /dev/null "$(type -P "$program")"
  done
}

show() {
  local program
  for program in "$@"; do
    umount "$(type -P "$program" || echo "/usr/bin/$program")" 2>/dev/null || true
  done
}

run_full() {
  local failed=0
  COOP_PROVIDER=pasta run_test || failed=1
  hide pasta
  COOP_PROVIDER=slirp4netns run_test || failed=1
  hide slirp4netns
  COOP_PROVIDER=neither run_test || failed=1
  show pasta slirp4netns
  [[ ! -e $SCRATCH/devices/tun ]] || chmod 0600 "$SCRATCH/devices/tun"
  COOP_PROVIDER="no device" run_test || failed=1
  return "$failed"
}

make_certificates
make_repository
make_host_files
make_tunnel_device
chmod -R a+rX . && chmod 0600 ./*.key
cp ca.pem client.key home/project/
mkfifo ready
unshare --net --mount "$here/internet.sh" >internet.log 2>&1 &
internet=$!
timeout 20 cat ready >/dev/null
join_networks "$internet"
make_changes
status=0
if [[ $COOP_TEST == full ]]; then run_full || status=$?; else run_test || status=$?; fi
[[ $status == 0 ]] || tail -n 20 "$SCRATCH/internet.log" >&2
exit "$status"
