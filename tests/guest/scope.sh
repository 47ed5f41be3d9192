#!/bin/bash
# Runs in a guest whose only control groups are version 2, as a user without a group of their own, but with systemd's user
# manager: it makes the groups of sandboxes.
# shellcheck disable=SC2317  # most functions are called by `check`
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=checks.sh
. "$here/checks.sh"
# shellcheck source-path=SCRIPTDIR source=groups.sh
. "$here/groups.sh"

runtime=/run/user/4321
if ! [ -x /lib/systemd/systemd ] || ! [ -e /usr/lib/systemd/user/dbus.socket ]; then
  echo "no systemd, or no dbus-user-session, on this machine"
  [ "${COOP_TESTS_MUST_RUN:-0}" != 1 ] || exit 1
  finish
fi

# As on a machine that systemd has booted: the session's group is root's, and the manager may move processes out of it (there
# PID 1 does that for it; here the group above lets it).
session() {
  in_group "$groups/user/session" runuser -u tester -- \
    env -C /home/tester/work HOME=/home/tester XDG_RUNTIME_DIR="$runtime" "$@"
}
without_manager() {
  in_group "$groups/user/session" runuser -u tester -- env -C /home/tester/work HOME=/home/tester "$@"
}
echo '+memory +pids +cpu' > "$groups/cgroup.subtree_control"
mkdir "$groups/user"
echo '+memory +pids +cpu' > "$groups/user/cgroup.subtree_control"
mkdir "$groups/user/session" "$groups/user/manager"
chown -R tester "$groups/user/manager"
chown tester "$groups/user/cgroup.procs"
mkdir -p /run/systemd/system  # what says that systemd has booted the machine
install --directory --owner=tester --group=tester --mode=700 /run/user "$runtime"
in_group "$groups/user/manager" runuser -u tester -- \
  env -C / HOME=/home/tester XDG_RUNTIME_DIR="$runtime" /lib/systemd/systemd --user > "$scratch/manager" 2>&1 &
manager=$!
check "systemd's user manager starts" within 60 test -S "$runtime/bus"
check "and answers" within 60 session systemctl --user is-active dbus.socket

without_manager "$COOP_BINARY" status --json > "$scratch/json"
check "without the manager there is no group (control)" holds "$scratch/json" 'it["cgroup"]["kind"] == "none"'
check "and a note says so" \
  result 'any("memory" in note for note in it["notes"])' without_manager --memory 64m -- true
session "$COOP_BINARY" status --json > "$scratch/json"
check "with it there is one" holds "$scratch/json" \
  'it["cgroup"]["kind"] == "scope" and {"memory", "pids", "cpu"} <= set(it["cgroup"]["directories"])'
scopes() { session systemctl --user list-units --all --no-legend 'coop-*.scope' | grep coop-; }
check "looking made no scope" not scopes

ok='it["outcome"] == "exited" and it["exit_code"] == 0'
check "a large buffer is possible without a limit (control)" result "$ok" session -- "${bomb[@]}"
check "with --memory 64m it ends as out_of_memory" \
  result 'it["outcome"] == "out_of_memory" and it["exit_code"] == 137' session --memory 64m -- "${bomb[@]}"
check "its peak is the group's" holds "$scratch/json" '(32 << 20) < it["usage"]["peak_memory"] <= (64 << 20)'
check "and nothing was weaker than asked" holds "$scratch/json" 'not it["notes"]'
check "a small program lives within 64m (control)" result "$ok" session --memory 64m -- true
check "--pids 32 stops a fork bomb" \
  result "5 < $started < 32 and it['exit_code'] != 0" session --pids 32 -- "${forks[@]}"
check "two seconds are two seconds of processor (control)" result "1500000 < $cpu" session -- "${spin[@]}"
check "with --cpus 0.5 they are one" result "400000 < $cpu < 1400000" session --cpus 0.5 -- "${spin[@]}"

for signal in TERM KILL; do
  check "a sandbox stays in a scope" start_nap session --memory 64m --pids 32 --cpus 0.5
  check "which is systemd's" test "${nap_group##*.}" = scope
  check "its memory.max is 64 MiB" group_has memory.max 67108864
  check "swap does not come on top" group_has memory.swap.max 0
  check "its pids.max is 32, and one for the process that holds the group" group_has pids.max 33
  check "its cpu.max is a half" group_has cpu.max '50000 100000'
  check "SIG$signal ends it" end_nap "$signal"
  check "and the scope is gone" within 5 not test -e "$nap_group"
done
check "no scope is left" within 5 not scopes

# The manager's own socket, where no bus is.
mv "$runtime/bus" "$runtime/bus.away"
check "without a bus: its own socket does" \
  result 'it["outcome"] == "out_of_memory" and not it["notes"]' session --memory 64m -- "${bomb[@]}"
mv "$runtime/bus.away" "$runtime/bus"

# A manager that does not answer: the limit is weaker, a note says why, and --require refuses.
kill -STOP "$manager" "$(pgrep -u tester -x systemd)"
check "a manager that hangs delays the start by seconds, not for ever" \
  result 'it["exit_code"] == 0 and any("memory" in note for note in it["notes"])' session --memory 64m -- true
check "and --require limits refuses" \
  exits 125 session "$COOP_BINARY" run --require limits --memory 64m -- true
kill -CONT "$manager" "$(pgrep -u tester -x systemd)"

finish
