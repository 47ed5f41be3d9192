#!/bin/bash
# Runs in a guest started without Landlock (kernel parameter lsm=…): the second check is missing, the
# mounts must hold, and --require landlock fails.
# shellcheck disable=SC2317  # functions are called by `check`
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=checks.sh
. "$here/checks.sh"

check "the kernel has no Landlock (control)" not grep -qw landlock /sys/kernel/security/lsm
as_tester "$COOP_BINARY" status --json > "$scratch/json"
check "status knows" holds "$scratch/json" \
  'it["landlock_abi"] == 0 and it["can_sandbox"] and any("Landlock" in line for line in it["degraded"])'
as_tester "$COOP_BINARY" run --json -- touch made > "$scratch/json"
check "a sandbox runs, and a note says what is missing" holds "$scratch/json" \
  'it["exit_code"] == 0 and any("landlock" in note for note in it["notes"])'
check "the workspace can be written (control)" test -e /home/tester/work/made
check "the rest cannot" exits_saying 1 'Read-only file system' as_root "$COOP_BINARY" run -- touch /usr/made
check "--require landlock refuses, and names the boot parameter" \
  exits_saying 125 lsm= as_tester "$COOP_BINARY" run --require landlock -- touch ran
check "and does not run the command" not test -e /home/tester/work/ran

finish
