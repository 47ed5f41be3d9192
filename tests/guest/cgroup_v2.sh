#!/bin/bash
# Runs in a guest whose only control groups are version 2: limits as the machine's root, as a user
# with a delegated subtree, and as a user without one.
# shellcheck disable=SC2317  # most functions are called by `check`
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=checks.sh
. "$here/checks.sh"
# shellcheck source-path=SCRIPTDIR source=groups.sh
. "$here/groups.sh"

# --- Who runs coop ---

# A subtree as systemd delegates it: controllers are enabled, the user may create groups and move processes in it, and
# the session's processes are in a leaf group.
delegate() {
  echo '+memory +pids +cpu' > "$groups/cgroup.subtree_control"
  mkdir "$groups/delegated"
  echo '+memory +pids +cpu' > "$groups/delegated/cgroup.subtree_control"
  mkdir "$groups/delegated/session"
  chown -R tester "$groups/delegated"
  chown root "$groups"/delegated/{memory,pids,cpu}.max  # the user's own limits are not the user's
}
as_delegated() {
  in_group "$groups/delegated/session" runuser -u tester -- env -C /home/tester/work HOME=/home/tester "$@"
}
as_delegated_above() {
  in_group "$groups/crowded" runuser -u tester -- env -C /home/tester/work HOME=/home/tester "$@"
}

# --- The same for everyone who has control groups ---

limits_hold() {
  local who=$1
  "$who" true
  list_groups > "$scratch/groups"
  "$who" "$COOP_BINARY" status --json > "$scratch/json"
  check "$who: status knows cgroup v2 with memory, pids and cpu" holds "$scratch/json" \
    'it["cgroup"]["kind"] == "v2" and {"memory", "pids", "cpu"} <= set(it["cgroup"]["directories"])'

  check "$who: a large buffer is possible without a limit (control)" \
    result 'it["outcome"] == "exited" and it["exit_code"] == 0' "$who" -- "${bomb[@]}"
  check "$who: with --memory 64m it ends as out_of_memory" \
    result 'it["outcome"] == "out_of_memory" and it["exit_code"] == 137' "$who" --memory 64m -- "${bomb[@]}"
  check "$who: its peak is the group's" \
    holds "$scratch/json" '(32 << 20) < it["usage"]["peak_memory"] <= (64 << 20)'
  check "$who: and nothing was weaker than asked" holds "$scratch/json" 'not it["notes"]'
  check "$who: the exit code says so without --json" \
    exits 137 "$who" "$COOP_BINARY" run --memory 64m -- "${bomb[@]}"
  check "$who: a small program lives within 64m (control)" \
    result 'it["outcome"] == "exited" and it["exit_code"] == 0' "$who" --memory 64m -- true

  check "$who: sixty processes are possible without a limit (control)" \
    result "$started == 60" "$who" -- "${forks[@]}"
  check "$who: --pids 32 stops a fork bomb" \
    result "5 < $started < 32 and it['exit_code'] != 0" "$who" --pids 32 -- "${forks[@]}"

  check "$who: two seconds are two seconds of processor (control)" \
    result "1500000 < $cpu" "$who" -- "${spin[@]}"
  check "$who: with --cpus 0.5 they are one" \
    result "400000 < $cpu < 1400000" "$who" --cpus 0.5 -- "${spin[@]}"

  check "$who: a sandbox stays in a group" start_nap "$who" --memory 64m --pids 32 --cpus 0.5
  check "$who: its memory.max is 64 MiB" group_has memory.max 67108864
  check "$who: swap does not come on top" group_has memory.swap.max 0
  check "$who: its pids.max is 32" group_has pids.max 32
  check "$who: its cpu.max is a half" group_has cpu.max '50000 100000'
  check "$who: the group is its own" not grep -qxF "$nap_group" "$scratch/groups"
  check "$who: SIGTERM ends it" end_nap TERM

  check "$who: no group is left" within 3 same_groups
  leaves_nothing_when_killed "$who"
}

leaves_nothing_when_killed() {
  local who=$1
  check "$who: another sandbox stays" start_nap "$who" --memory 64m
  check "$who: when coop is killed, what runs inside dies" end_nap KILL
  check "$who: and its group goes too" within 3 same_groups
}

# --- Without control groups ---

limits_without_groups() {
  "$1" "$COOP_BINARY" status --json > "$scratch/json"
  check "$1: status knows that there is no group, and why" \
    holds "$scratch/json" 'it["cgroup"]["kind"] == "none" and it["features"]["cgroup"]["reason"]'
  check "$1: a large buffer is possible without a limit (control)" \
    result 'it["outcome"] == "exited" and it["exit_code"] == 0' "$1" -- "${bomb[@]}"
  check "$1: with --memory 64m it fails" \
    result 'it["exit_code"] != 0' "$1" --memory 64m -- "${bomb[@]}"
  check "$1: and a note says that the limit is weaker" \
    holds "$scratch/json" 'any("memory" in note for note in it["notes"])'
  check "$1: a small program lives within 64m (control)" \
    result 'it["exit_code"] == 0' "$1" --memory 64m -- true
  check "$1: --pids 32 stops a fork bomb" \
    result "5 < $started < 32 and it['exit_code'] != 0" "$1" --pids 32 -- "${forks[@]}"
  check "$1: a note says that --cpus does nothing" \
    result 'any("the CPU limit is not applied" in note for note in it["notes"])' "$1" --cpus 0.5 -- true
  check "$1: --require limits refuses instead" \
    exits 125 "$1" "$COOP_BINARY" run --require limits --memory 64m -- true
}

# A name that is a prefix of another: a machine that offers cpuset does not thereby offer cpu.
echo +cpuset > "$groups/cgroup.subtree_control"
check "as_root: the first run of a machine has its limits, too" \
  result 'it["exit_code"] == 0 and not it["notes"]' as_root --cpus 0.5 -- true
limits_hold as_root

limits_without_groups as_tester

delegate
limits_hold as_delegated

# A group that has processes itself cannot enable controllers for its children.
mkdir "$groups/crowded"
chown -R tester "$groups/crowded"
check "in a delegated group with processes of its own, the limit holds or a note says why not" \
  result 'it["outcome"] == "out_of_memory" or any("memory" in note for note in it["notes"])' \
  as_delegated_above --memory 64m -- "${bomb[@]}"

finish
