#!/bin/bash
# Runs in a guest: the sandbox as a whole on this kernel, as root and as an ordinary user, and what
# coop says where the kernel was told to refuse user namespaces.
# shellcheck disable=SC2016,SC2317  # inner shells expand; most functions are called by `check`
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=checks.sh
. "$here/checks.sh"

case $COOP_GUEST_KERNEL in
  6.1) landlock_abi=2 ;;
  6.12) landlock_abi=6 ;;
  *) echo "no kernel $COOP_GUEST_KERNEL" && exit 1 ;;
esac

# Called as `box WHO [FLAG...] -- COMMAND`: coop run in that user's project.
box() {
  local who=$1
  shift
  "$who" "$COOP_BINARY" run -w "$project" "$@"
}
seen_inside() { box "$@" 2>/dev/null; }

make_project() {
  local who=$1 home=$2
  project=$home/guest_project
  "$who" mkdir -p "$project" "$home/.ssh"
  "$who" bash -c 'echo secret > "$1/.ssh/id_ed25519" && echo plain > "$1/guest_notes"' make "$home"
  "$who" git -C "$project" init --quiet --initial-branch=main
  "$who" git -C "$project" config user.name Tester
  "$who" git -C "$project" config user.email tester@example.invalid
  "$who" bash -c 'echo one > "$1/file"; printf "#!/bin/sh\n" > "$1/.git/hooks/pre-push"' make "$project"
}

knows_the_kernel() {
  local who=$1
  "$who" "$COOP_BINARY" status --json > "$scratch/json"
  check "$who: status succeeds" exits 0 "$who" "$COOP_BINARY" status
  check "$who: status knows Landlock ABI $landlock_abi" \
    holds "$scratch/json" "it['landlock_abi'] == $landlock_abi"
  "$who" "$COOP_BINARY" plan --json -w "$project" -- true > "$scratch/json"
  check "$who: the plan uses Landlock ABI $landlock_abi" \
    holds "$scratch/json" "[step['abi'] for step in it['steps'] if step['action'] == 'landlock'] == [$landlock_abi]"
}

passes_on_the_end() {
  local who=$1
  check "$who: exit status 0" exits 0 box "$who" -- true
  check "$who: exit status 7" exits 7 box "$who" -- sh -c 'exit 7'
  check "$who: a signal is 128 and its number" exits 137 box "$who" -- sh -c 'kill -9 $$'
  check "$who: a missing program is 127" exits 127 box "$who" -- no-such-program
  check "$who: what cannot be run is 126" exits 126 box "$who" -- /work/file
  check "$who: a flag that does not exist is 125" exits 125 box "$who" --no-such-flag -- true
  check "$who: the time limit is 124" exits 124 box "$who" --timeout 1s -- sleep "$naps"
  check "$who: and leaves no process" within 3 not napping
}

confines() {
  local who=$1 home=$2
  check "$who: the workspace can be written" box "$who" -- touch /work/made
  check "$who: and the host sees it" test -e "$project/made"
  check "$who: /usr cannot" exits_saying 1 'Read-only file system' box "$who" -- touch /usr/made
  check "$who: and is untouched" not test -e /usr/made
  check "$who: the root cannot" exits_saying 1 'Read-only file system' box "$who" -- touch /made
  check "$who: no filter outside (control)" prints $'Seccomp:\t0' "$who" grep Seccomp: /proc/self/status
  check "$who: a filter inside" prints $'Seccomp:\t2' box "$who" -- grep Seccomp: /proc/self/status
  check "$who: no new privileges" prints $'NoNewPrivs:\t1' box "$who" -- grep NoNewPrivs: /proc/self/status
  check "$who: no capability" prints $'CapEff:\t0000000000000000' \
    box "$who" -- grep CapEff: /proc/self/status
  check "$who: namespaces can be made outside (control)" "$who" unshare --user true
  check "$who: and not inside" refused box "$who" -- unshare --user true
  check "$who: the only network is lo" \
    test "$(seen_inside "$who" -- sh -c 'tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "')" = lo
  check "$who: no process of the host is seen" \
    test "$(seen_inside "$who" -- sh -c 'ls /proc | grep -c "^[0-9]"')" -le 6
}

# Called as `tool WHO NAME ARGUMENTS [FLAG...]`.
tool() {
  local who=$1
  shift
  "$who" "$COOP_BINARY" tool "$@" -w "$project"
}

# One server of tools keeps the root of its view: what is written to the upper layer there is what the next call reads.
reads_the_upper_layer() {
  local who=$1 ends file answer wrote=0
  local call='{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"layer/file"}}}'
  ends=$(mktemp -d)
  mkfifo -m 0666 "$ends/in" "$ends/out"
  "$who" "$COOP_BINARY" mcp -w "$project" --overlay "$project/layer" <"$ends/in" >"$ends/out" 2>/dev/null &
  exec 8>"$ends/in" 9<"$ends/out"
  printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}' "$call" >&8
  read -r -t 20 _ <&9
  read -r -t 20 answer <&9
  check "$who: a server reads the lower layer of an overlay (control)" test "${answer#*lower}" != "$answer"
  for file in /proc/[0-9]*/root/work/layer/file; do
    { echo upper >"$file" && wrote=1; } 2>/dev/null
  done
  check "$who: the upper layer is written (control)" test "$wrote" = 1
  printf '%s\n' "$call" >&8
  read -r -t 20 answer <&9
  check "$who: and the upper layer is read" test "${answer#*upper}" != "$answer"
  check "$who: the host's file is as it was" test "$(cat "$project/layer/file")" = lower
  exec 8>&-
  wait $!
  exec 9<&-
  rm -r "$ends"
}

serves_files() {
  local who=$1
  "$who" mkdir -p "$project/layer" "$project/closed"
  "$who" bash -c 'echo lower > "$1/layer/file"; echo secret > "$1/closed/key"' make "$project"
  check "$who: read_file reads the workspace" prints one tool "$who" read_file '{"path": "file"}'
  check "$who: write_file writes it" tool "$who" write_file '{"path": "a/b", "content": "x"}'
  check "$who: and the host sees it" test -e "$project/a/b"
  check "$who: what is hidden is not read" \
    exits_saying 1 'is hidden by' tool "$who" read_file '{"path": "closed/key"}' --hide "$project/closed"
  check "$who: an overlay is read" \
    prints lower tool "$who" read_file '{"path": "layer/file"}' --overlay "$project/layer"
  reads_the_upper_layer "$who"
  check "$who: a guarded file is not written" \
    exits_saying 1 'guard .git/hooks' tool "$who" write_file '{"path": ".git/hooks/x", "content": "x"}'
  check "$who: /usr is not written" \
    exits_saying 1 'is read-only by' tool "$who" write_file '{"path": "/usr/made", "content": "x"}'
  check "$who: /etc/shadow is not read" \
    exits_saying 1 "not in the sandbox's view" tool "$who" read_file '{"path": "/etc/shadow"}'
  "$who" ln -sfn /etc/shadow "$project/link"
  check "$who: nor through a link" \
    exits_saying 1 "not in the sandbox's view" tool "$who" read_file '{"path": "link"}'
}

hides_secrets() {
  local who=$1 home=$2
  check "$who: the home directory is readable with --show-home (control)" \
    prints plain box "$who" --view host --show-home -- cat "$home/guest_notes"
  check "$who: and not in the host view by itself" refused box "$who" --view host -- cat "$home/guest_notes"
  check "$who: the key is readable outside (control)" prints secret "$who" cat "$home/.ssh/id_ed25519"
  check "$who: and hidden inside" refused box "$who" --view host --show-home -- cat "$home/.ssh/id_ed25519"
  check "$who: the minimal view has no home directory" refused box "$who" -- ls "$home/guest_notes"
}

# A file of the host replaces one that is mounted inside, which ends the mount.
makes_lost_mounts_again() {
  local who=$1
  "$who" sh -c 'echo mine > "$1/.envrc"' make "$project"
  box "$who" -- sh -c 'touch ready; while [ ! -e go ]; do sleep 0.1; done
    echo evil > .envrc || echo refused > answer' 2>/dev/null &
  check "$who: the sandbox with a guarded file runs" within 20 test -e "$project/ready"
  sleep 1
  "$who" sh -c 'cp "$1/.envrc" "$1/new"; mv "$1/new" "$1/.envrc"' replace "$project"
  sleep 2
  "$who" touch "$project/go"
  wait $!
  check "$who: a lost mount is made again" test "$(cat "$project/answer")" = refused
  check "$who: and the file is the user's" test "$(cat "$project/.envrc")" = mine
  "$who" rm "$project/.envrc" "$project/ready" "$project/go" "$project/answer"
}

guards_the_workspace() {
  local who=$1
  check "$who: git commits inside" \
    box "$who" -- sh -c 'git add file && git commit --quiet -m first && git log --oneline'
  check "$who: and the commit is on the host" prints first "$who" git -C "$project" log --oneline
  check "$who: git's settings cannot be changed" \
    refused box "$who" -- git config core.fsmonitor /work/evil
  check "$who: a hook that exists cannot be changed" \
    refused box "$who" -- sh -c 'echo evil >> .git/hooks/pre-push'
  check "$who: and is as it was" not grep -r evil "$project/.git/hooks" "$project/.git/config"
  check "$who: a new guarded file is reported" \
    prints .mcp.json box "$who" -- sh -c 'echo evil > .mcp.json'
  check "$who: and gone from the workspace" not test -e "$project/.mcp.json"
  check "$who: --allow-guarded keeps it (control)" \
    box "$who" --allow-guarded .mcp.json -- sh -c 'echo fine > .mcp.json'
  check "$who: where it was written" test -e "$project/.mcp.json"
}

# shares_a_directory WHO: what the supervisor does for a command (ADR 26), with whatever calls this kernel has.
shares_a_directory() {
  box "$1" -- sh -c 'rm -rf shared && mkdir -m 2755 shared && cp -a shared copied && stat -c %a copied &&
    [ $(stat -c %a copied) = 2755 ] && rm -r copied && touch shared/file && ! chmod g+s shared/file'
}

works() {
  make_project "$1" "$2"
  knows_the_kernel "$1"
  passes_on_the_end "$1"
  confines "$1" "$2"
  hides_secrets "$1" "$2"
  serves_files "$1"
  guards_the_workspace "$1"
  makes_lost_mounts_again "$1"
  check "$1: a directory gets the set-group-id bit, a file does not" shares_a_directory "$1"
  check "$1: an overlay takes writes and forgets them" \
    box "$1" --view host --overlay "$2/.ssh" -- touch "$2/.ssh/made"
  check "$1: as the host sees" not test -e "$2/.ssh/made"
}

# refuses WHO NAME: coop does not start, and names the setting that is to blame.
refuses() {
  check "$1: without user namespaces run is 125 and names $2" exits_saying 125 "$2" box "$1" -- touch /work/ran
  check "$1: and did not run the command" not test -e "$project/ran"
  check "$1: status is 1 and names $2" exits_saying 1 "$2" "$1" "$COOP_BINARY" status
}

works as_root /root
works as_tester /home/tester

mounts=$(wc -l < /proc/self/mounts)
check "running leaves no mount" box as_tester -- true
check "as the table shows" test "$(wc -l < /proc/self/mounts)" = "$mounts"

sysctl -q user.max_user_namespaces=0
refuses as_tester user.max_user_namespaces
refuses as_root user.max_user_namespaces
sysctl -q user.max_user_namespaces=1000
check "with user.max_user_namespaces back it runs (control)" box as_tester -- true

sysctl -q kernel.unprivileged_userns_clone=0
refuses as_tester kernel.unprivileged_userns_clone
check "root may still (control)" box as_root -- true
sysctl -q kernel.unprivileged_userns_clone=1

for scope in 1 2 3; do  # 3 stays until the machine is started again
  sysctl -q "kernel.yama.ptrace_scope=$scope"
  check "Yama's ptrace_scope $scope does not matter to as_tester" box as_tester -- true
  check "nor to as_root" box as_root -- true
  # From 3 on no process may look into another one, not even its supervisor.
  [ "$scope" = 3 ] || check "nor to set-group-id" shares_a_directory as_tester
done

finish
