#!/bin/bash
# check.sh KERNEL BINARY: runs coop's tests in guests with that kernel; what ctest calls.
#
# Exit 0: all passed, 1: something failed, 77: this machine cannot run guests (a failure when
# COOP_TESTS_MUST_RUN=1).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$here/common.sh"

[ $# = 2 ] || fail "usage: check.sh KERNEL BINARY"
kernel=$1
COOP_BINARY=$(readlink -f "$2")
export COOP_BINARY
[ -x "$COOP_BINARY" ] || fail "no program $2"

need_programs qemu-system-x86_64
"$here/prepare.sh" "$kernel"

failed=()
# run_in_guest SCRIPT KERNEL-PARAMETERS
run_in_guest() {
  local status=0
  echo "=== kernel $kernel, $1${2:+ ($2)}"
  COOP_GUEST_APPEND=$2 "$here/run.sh" "$kernel" "$here/$1" || status=$?
  [ "$status" != 77 ] || exit 77
  [ "$status" = 0 ] || failed+=("$1: status $status")
}
# With and without AppArmor, which Debian's kernels switch on by themselves.
run_in_guest cgroup_v2.sh apparmor=0
run_in_guest scope.sh apparmor=0
run_in_guest kernels.sh ''
run_in_guest exploits.sh ''
run_in_guest file_tools.sh ''
run_in_guest without_landlock.sh lsm=capability,yama

echo "=== kernel $kernel: ${#failed[@]} of 6 scripts failed"
[ ${#failed[@]} = 0 ] || { printf 'guest: %s\n' "${failed[@]}" >&2; exit 1; }
