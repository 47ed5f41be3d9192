#!/usr/bin/env bash
# Tests the sandbox's network with real clients: run.sh [--as-user NAME] TEST
#   clients     curl, git, ssh, node, openssl, dig, redis-cli and a program without a proxy, through --network allowlist
#   attacks     names, addresses, DNS, TLS and HTTP that try to get past the allow-list
#   neighbours  services of the host, other sandboxes, sockets, the sandbox's own network
#   modes       none, veth and host; files of the view; that nothing stays behind; networks that the machine joins
#   full        the same for pasta and slirp4netns, and without them
#   explain     what `policy explain` says of 100 destinations is what a sandbox and fetch_url do, in every mode
#   load        many connections, large streams, slow clients, kill -9
# COOP_PROGRAM is bin/coop of a build or installation. Root makes the world of the test (world.sh), in namespaces of its
# own: nothing here touches the machine's network, and all of it ends with this script. Exits with 77 where that is
# not possible.
set -euo pipefail

here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
user=
[[ ${1:-} != --as-user ]] || { user=$2; shift 2; }
test=${1:?a test is needed}

skip() {
  printf 'skipped: %s\n' "$*" >&2
  exit 77
}

((EUID == 0)) || skip "only root makes networks that can be joined"
for program in ip nft openssl curl git sshd python3 gcc; do
  command -v "$program" >/dev/null || skip "there is no $program"
done
unshare --net --mount true 2>/dev/null || skip "there are no network namespaces"

scratch=$(mktemp -d /tmp/coop-network.XXXXXX)
trap 'rm -rf -- "$scratch"' EXIT
# Where an ordinary user can read and run everything.
mkdir -p "$scratch/bin" "$scratch/home/project"
cp "$COOP_PROGRAM" "$scratch/bin/coop"
cp -r "$(dirname -- "$COOP_PROGRAM")/../libexec" "$scratch/libexec"
cp -r "$here" "$scratch/network"
cp "$here/../support/run_tests.py" "$scratch/network/"
gcc -static -O1 -w -o "$scratch/home/project/plain_client" "$here/plain_client.c"
export COOP_PROGRAM=$scratch/bin/coop COOP_TEST_USER=$user COOP_TEST=$test SCRATCH=$scratch
# In its own PID namespace: everything the test leaves running is killed with it, and no other process is counted.
unshare --pid --fork --kill-child --mount --mount-proc --net "$scratch/network/world.sh"
