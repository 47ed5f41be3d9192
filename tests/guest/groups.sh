# Sourced after checks.sh by the scripts about control groups: commands that need much, and what coop says of them.
# shellcheck shell=bash disable=SC2034,SC2154  # for those scripts, and from checks.sh
groups=/sys/fs/cgroup

in_group() {
  bash -c 'echo $$ > "$1/cgroup.procs" && shift && exec "$@"' in_group "$@"
}

# --- What is looked at ---

list_groups() { find "$groups" -mindepth 1 -type d | sort; }
same_groups() { diff "$scratch/groups" <(list_groups); }

# run_json WHO [FLAG...] -- COMMAND: what `coop run --json` prints, in $scratch/json.
run_json() {
  local who=$1
  shift
  "$who" "$COOP_BINARY" run --json "$@" > "$scratch/json" 2> "$scratch/errors"
  cat "$scratch/errors"
}
result() {
  local expression=$1
  shift
  run_json "$@"
  holds "$scratch/json" "$expression"
}

bomb=(dd if=/dev/zero of=/dev/null bs=128M count=1)  # one buffer, filled once
# Each blocks on opening a FIFO without a writer: no program to start, nothing that ends by itself.
# shellcheck disable=SC2016
forks=(/bin/dash -c 'mkfifo /tmp/gate; i=0
  while [ $i -lt 60 ]; do read line < /tmp/gate & i=$((i + 1)); echo started; done')
spin=(timeout 2 /bin/dash -c 'while :; do :; done')
started='it["stdout"]["text"].count("started")'
cpu='(it["usage"]["user_us"] + it["usage"]["system_us"])'

# start_nap WHO [FLAG...]: a sandbox that stays; leaves its group's directory in $nap_group.
start_nap() {
  local who=$1 process
  shift
  "$who" "$COOP_BINARY" run "$@" -- sleep "$naps" > "$scratch/nap" 2>&1 &
  nap=$! nap_group=/none
  within 10 pgrep -x -f "sleep $naps" > "$scratch/nap_pid" || { cat "$scratch/nap"; return 1; }
  process=$(head -n 1 "$scratch/nap_pid")
  nap_group=$groups$(sed -n 's/^0:://p' "/proc/$process/cgroup")
}
# The oldest of that name: the sandbox's init is a copy of it.
supervisor() { pgrep -o -f "^$COOP_BINARY run .*sleep $naps"; }
# end_nap SIGNAL: sends it to coop; everything must be gone soon after.
end_nap() {
  local process status=0
  process=$(supervisor) && kill "-$1" "$process" && within 10 not napping || status=$?
  pkill -KILL -f "sleep $naps"  # whatever was wrong, the next test begins afresh
  wait "$nap"
  return "$status"
}
group_has() {
  grep . "$nap_group"/{memory,memory.swap,pids,cpu}.max
  [ "$(cat "$nap_group/$1")" = "$2" ]
}
