#!/bin/bash
# run.sh KERNEL SCRIPT [ARGUMENT...]: runs a bash script as root in a throw-away guest.
#
# The guest has the host's files below a layer of its own: it sees the repository at its usual
# path and can change nothing. Its only control groups are version 2. The script's output comes
# out here; the exit status is the script's, or 124 when the guest did not end in time.
#
#   COOP_GUEST_TIMEOUT   seconds for the whole guest (400)
#   COOP_GUEST_MEMORY    mebibytes (2048)
#   COOP_GUEST_APPEND    more kernel parameters
#   COOP_BINARY and COOP_TESTS_MUST_RUN are handed on to the script.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$here/common.sh"

[ $# -ge 2 ] || fail "usage: run.sh KERNEL SCRIPT [ARGUMENT...]"
kernel=$1
script=$(readlink -f "$2")
shift 2
[ -f "$script" ] || fail "no script $script"
[ "$(id -u)" = 0 ] || cannot "sharing the host's files with a guest needs root"
need_programs qemu-system-x86_64 cpio setpriv unshare findmnt
[ -x /usr/lib/qemu/virtiofsd ] || [ -x /usr/libexec/virtiofsd ] || cannot "no virtiofsd on this machine"
[ -e "$cache/$kernel/initramfs" ] || fail "kernel $kernel is not prepared: run prepare.sh $kernel"

# The directory's name carries our process id, so that what a killed run left can be told apart.
for old in "$cache/$kernel"/run.*; do
  [ ! -d "$old" ] || kill -0 "${old##*.}" 2>/dev/null || rm -rf "$old"
done
scratch=$cache/$kernel/run.$$
mkdir "$scratch" "$scratch/host"

server='' guest=''
# shellcheck disable=SC2317  # called by the trap
clean_up() {
  local process
  for process in $guest $server; do  # in this order: a guest that loses its root complains at length
    kill "$process" 2>/dev/null || true
    wait "$process" || true
  done
  rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# --- What the guest is to do ---
{
  printf 'export COOP_GUEST_KERNEL=%q\n' "$kernel"
  for name in COOP_BINARY COOP_TESTS_MUST_RUN; do
    [ -z "${!name:-}" ] || printf 'export %s=%q\n' "$name" "${!name}"
  done
  printf 'cd %q && exec bash' "$repository"
  printf ' %q' "$script" "$@"
  echo
} > "$scratch/job"

visible=
for path in "$repository" "$script" "${COOP_BINARY:-}"; do
  case $path in /tmp/* | /run/* | /dev/*) visible+=$path$'\n' ;; esac  # the guest's own cover these
done
printf 'modules=%q\nvisible=%q\n' "$cache/$kernel/lib/modules" "$visible" > "$scratch/job.settings"
(cd "$scratch" && printf 'job\njob.settings\n' | cpio --create --format=newc --quiet) |
  cat "$cache/$kernel/initramfs" - > "$scratch/initramfs"

# --- The host's files ---
cd "$scratch"  # a socket's path may have 107 bytes, and QEMU has its own ideas about commas
setpriv --pdeathsig KILL unshare --mount "$here/serve.sh" host socket > virtiofsd.log 2>&1 &
server=$!
for ((tries = 0; tries < 100; tries++)); do
  [ ! -S socket ] || break
  kill -0 "$server" 2>/dev/null || break
  sleep 0.05
done
[ -S socket ] || { cat virtiofsd.log >&2; fail "virtiofsd did not start"; }

# --- The guest ---
memory=${COOP_GUEST_MEMORY:-2048}
# One processor and no cmpxchg16b: with others, QEMU 7.2's TCG sometimes panics these kernels.
# shellcheck disable=SC2054  # the commas are QEMU's
machine=(
  -machine q35,memory-backend=memory -accel tcg -cpu max,-cx16 -smp 1
  -m "$memory" -object memory-backend-memfd,id=memory,size="${memory}M",share=on
  -nodefaults -no-user-config -display none -no-reboot
  -chardev socket,id=host,path=socket -device vhost-user-fs-pci,chardev=host,tag=host
  -serial file:console
  -chardev stdio,id=output,signal=off -serial chardev:output
  -serial file:status
  -kernel ../vmlinuz -initrd initramfs
  -append "console=ttyS0 quiet loglevel=4 panic=-1 ${COOP_GUEST_APPEND:-}"
)
setpriv --pdeathsig TERM timeout --kill-after=5 "${COOP_GUEST_TIMEOUT:-400}" \
  qemu-system-x86_64 "${machine[@]}" < /dev/null &
guest=$!
wait "$guest" || true

result=
[ ! -s status ] || read -r result < status
if [ -z "$result" ]; then
  echo "guest: kernel $kernel ended without a result; virtiofsd and the console say:" >&2
  tail -n 40 virtiofsd.log console >&2
  exit 124
fi
exit "$result"
