#!/usr/bin/env bash
# coop inside podman: with the default profile, with an unmasked /proc, without the seccomp filter, with neither, and with a
# filter that refuses mounts. What is refused is named with the flag that helps, and works with that flag.
# Needs COOP_PROGRAM, root, podman and runc.
set -euo pipefail

fail() { echo "FAILED: $*" >&2; exit 1; }
skip() {
  [[ -z ${COOP_TESTS_MUST_RUN:-} ]] || fail "$*"
  echo "skipped: $*"
  exit 77
}

((EUID == 0)) || skip "needs root"
for program in podman runc busybox; do
  command -v "$program" >/dev/null || skip "$program is not installed"
done
! ldd "$(command -v busybox)" >/dev/null 2>&1 || skip "busybox is not static (busybox-static)"

place=$(mktemp -d)
group=coop-test-containers-$$
# Storage, mounts, state and control groups are all below names of our own.
clean_up() {
  podman_here kill --all >"$place/cleanup" 2>&1 || true
  find /sys/fs/cgroup -depth -type d -path "*/$group*" -exec rmdir -- {} + 2>/dev/null || true
  rm -rf --one-file-system -- "$place"
}
trap clean_up EXIT

# At most the hard limits as they are: raising them, as podman's defaults do, needs CAP_SYS_RESOURCE.
limit_of() {
  local limit
  limit=$(ulimit -H "$1")
  [[ $limit != unlimited ]] && ((limit < $2)) || limit=$2
  echo "$limit:$limit"
}
cat >"$place/containers.conf" <<CONF
[containers]
default_ulimits = ["nofile=$(limit_of -n 16384)", "nproc=$(limit_of -u 16384)"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
CONF
# A filter like docker's, which refuses the calls that build a view.
cat >"$place/no-mounts.json" <<'FILTER'
{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"action": "SCMP_ACT_ERRNO", "errnoRet": 1,
  "names": ["mount", "fsopen", "fsmount", "open_tree", "move_mount", "mount_setattr", "pivot_root", "sethostname"]}]}
FILTER
podman_here() {
  CONTAINERS_CONF=$place/containers.conf TMPDIR=$place timeout --kill-after=5 30 podman --root "$place/root" \
    --runroot "$place/run" --tmpdir "$place/tmp" --storage-driver vfs --runtime runc "$@"
}

root=$place/rootfs
mkdir -p "$root"/{bin,dev,etc,opt/bin,proc,run,sys,tmp,usr/bin,work}
chmod 0777 "$root/work" "$root/tmp"
cp -- "$(command -v busybox)" "$root/bin/busybox"
ln -s busybox "$root/bin/sh"
cp -- "$root/bin/busybox" "$root/usr/bin/true"
cp -- "$COOP_PROGRAM" "$root/opt/bin/coop"
cat >"$root/try" <<'TRY'
export HOME=/tmp XDG_STATE_HOME=/tmp/state
cd /work
# Each with its own heading, what it printed, and its exit status.
try() { echo "[$1]"; shift; "$@" 2>&1; echo "status $?"; }
try status /opt/bin/coop status
try plan /opt/bin/coop plan
try run /opt/bin/coop run -- /bin/busybox hostname
try named /opt/bin/coop run --hostname box -- /bin/busybox hostname
try without-proc /opt/bin/coop run --best-effort proc -- /bin/busybox hostname
echo "[end]"
TRY

# inside NAME FLAGS…: runs all commands in a container with these flags, as root and as another user there.
inside() {
  what=$1
  shift
  for who in 0 1000; do
    podman_here run --rm --network none --cgroup-parent "/$group" --hostname outer --user "$who" "$@" \
      --rootfs "$root" /bin/sh /try >"$place/$what.$who" 2>&1 || fail "podman run $*: $(cat "$place/$what.$who")"
  done
}
# part COMMAND: what it printed, in the container that is looked at.
part() { awk -v part="[$1]" '/^\[/ { shown = $0 == part; next } shown' "$place/$what.$who"; }
# has COMMAND TEXT, lacks COMMAND TEXT
has() { part "$1" | grep --quiet --fixed-strings -- "$2" || fail "$what, uid $who: $1 does not say \"$2\":"$'\n'"$(part "$1")"; }
lacks() { ! part "$1" | grep --quiet --fixed-strings -- "$2" || fail "$what, uid $who: $1 says \"$2\":"$'\n'"$(part "$1")"; }

refused_name="the host name inside is \"outer\", as outside: podman's seccomp profile blocks sethostname"
proc_flag="podman run --security-opt unmask=ALL"
filter_flag="podman run --security-opt seccomp=unconfined"

inside default
for who in 0 1000; do
  has status "The default sandbox cannot run here, it lacks: a fresh /proc"
  has status "fix: $proc_flag"
  has status "✗ host name             podman's seccomp profile blocks sethostname"
  has status "fix: $filter_flag"
  has status "fix: podman run --device /dev/fuse"
  for command in plan run; do
    has "$command" "refuses a fresh /proc"
    has "$command" "hint: $proc_flag"
    has "$command" "status 125"
    lacks "$command" "step "
  done
  has without-proc "$refused_name"
  has without-proc "status 0"
done

inside unmasked --security-opt unmask=ALL
for who in 0 1000; do
  has status "The default sandbox can run here."
  has status "degraded: the host name inside is the one outside"
  has plan "$refused_name"
  lacks plan "set the hostname"
  has run "$refused_name"
  part run | grep --quiet --line-regexp outer || fail "the host name inside: $(part run)"
  has run "status 0"
  has named "the host name cannot be set: podman's seccomp profile blocks sethostname"
  has named "hint: $filter_flag"
  has named "status 125"
done

inside unfiltered --security-opt seccomp=unconfined
for who in 0 1000; do
  has status "fix: $proc_flag"
  lacks status "✗ host name"
  has run "hint: $proc_flag"
  has run "status 125"
  lacks run "step "
  has without-proc "coop-"
  has without-proc "status 0"
done

inside both --security-opt seccomp=unconfined --security-opt unmask=ALL
for who in 0 1000; do
  has status "The default sandbox can run here."
  lacks status "✗ host name"
  lacks run "host name"
  has run "coop-"
  has run "status 0"
  part named | grep --quiet --line-regexp box || fail "--hostname box: $(part named)"
done

inside no-mounts --security-opt "seccomp=$place/no-mounts.json" --security-opt unmask=ALL
for who in 0 1000; do
  has status "✗ mount namespaces      podman's seccomp profile blocks fsopen"
  has run "mount namespaces are not available: podman's seccomp profile blocks fsopen"
  has run "hint: $filter_flag --security-opt unmask=ALL"
  has run "status 125"
done

left=$(find /sys/fs/cgroup -depth -type d -path "*/$group/*" -name 'libpod-*' 2>/dev/null || true)
[[ -z $left ]] || fail "control groups of containers are left: $left"
echo "coop runs in podman where it can, and says what is missing where it cannot"
