# Sourced by the test scripts that run inside a guest. Ends with `finish`.
# shellcheck shell=bash

: "${COOP_BINARY:?names the program to test}"
set -u
umask 022

passed=0 failed=0
scratch=$(mktemp -d /tmp/checks.XXXXXX)
chmod 755 "$scratch"

# check SENTENCE COMMAND...: the sentence holds when the command succeeds. Only a failure shows
# what the command printed.
check() {
  local sentence=$1 status=0
  shift
  "$@" > "$scratch/said" 2>&1 || status=$?
  if [ "$status" = 0 ]; then
    passed=$((passed + 1))
    printf 'ok     %4ds  %s\n' "$SECONDS" "$sentence"
  else
    failed=$((failed + 1))
    printf 'FAILED %4ds  %s\n' "$SECONDS" "$sentence"
    echo "              status $status of: $*"
    sed 's/^/              | /' "$scratch/said"
  fi
}

finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
  exit
}

not() { ! "$@"; }

# refused COMMAND...: coop ran it, and it failed. Status 125 is coop's own failure, which proves nothing.
refused() {
  local status=0
  "$@" || status=$?
  echo "exit status $status, wanted a refusal"
  [ "$status" != 0 ] && [ "$status" != 125 ]
}

# exits STATUS COMMAND...
exits() {
  local wanted=$1 status=0
  shift
  "$@" || status=$?
  echo "exit status $status, wanted $wanted"
  [ "$status" = "$wanted" ]
}

# prints TEXT COMMAND...: the output (both streams) has the text somewhere, whatever the status.
prints() {
  local wanted=$1 output
  shift
  output=$("$@" 2>&1)
  printf '%s\n' "$output" "wanted: $wanted"
  [[ $output == *"$wanted"* ]]
}

# exits_saying STATUS TEXT COMMAND...
exits_saying() {
  local wanted=$1 text=$2 status=0 output
  shift 2
  output=$("$@" 2>&1) || status=$?
  printf '%s\n' "$output" "exit status $status, wanted $wanted and: $text"
  [ "$status" = "$wanted" ] && [[ $output == *"$text"* ]]
}

# One Python for all questions about JSON: starting it takes a second in a guest.
coproc judge {
  exec /usr/bin/python3 -I -u -c '
import json, sys
for line in sys.stdin:
    file, expression = line.rstrip("\n").split("\t")
    try:
        print("yes" if eval(expression, {"it": json.load(open(file))}) else "no")
    except Exception as error:
        print(repr(error))'
}

# holds FILE EXPRESSION: the expression is true of the file's JSON, in Python, as `it`.
holds() {
  local answer
  printf '%s\t%s\n' "$1" "$2" >&"${judge[1]}"
  read -r answer <&"${judge[0]}"
  echo "$2: $answer"
  tr -s ' \n' ' ' < "$1"
  [ "$answer" = yes ]
}

# within SECONDS COMMAND...: tries until it succeeds.
within() {
  local tries=$(($1 * 10))
  shift
  while ! "$@"; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || return 1
    sleep 0.1
  done
}

# Accounts of the guest's own: root and an ordinary user with a home. Not by useradd, as the host's
# files, which lie below the guest's, may change at any moment: then the kernel finds them stale.
replace_file() {
  cat > "$1.new" && chmod "$2" "$1.new" && mv "$1.new" "$1"
}
printf '%s\n' root:x:0:0::/root:/bin/bash nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin \
  tester:x:4321:4321::/home/tester:/bin/bash | replace_file /etc/passwd 644
printf '%s:*:19000:0:99999:7:::\n' root nobody tester | replace_file /etc/shadow 600
printf '%s\n' root:x:0: tty:x:5: nogroup:x:65534: tester:x:4321: | replace_file /etc/group 644
for file in /etc/subuid /etc/subgid; do
  echo tester:100000:65536 | replace_file "$file" 644
done
install --directory --owner=tester --group=tester /home/tester /home/tester/work
as_tester() { runuser -u tester -- env -C /home/tester/work HOME=/home/tester "$@"; }
# Not in /root: the host's may be large, the workspace is looked through, and virtiofsd keeps a
# descriptor for every file that was looked at.
mkdir "$scratch/here"
as_root() { env -C "$scratch/here" HOME=/root "$@"; }

# Nothing of a test may outlive it: processes are looked for by a number no other program sleeps.
naps=$((600000 + RANDOM))
napping() { pgrep -f "sleep $naps" > /dev/null; }
