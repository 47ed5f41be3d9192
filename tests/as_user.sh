#!/bin/bash
# Runs a test program as an ordinary user: as_user.sh [name|setup|cleanup|PROGRAM ARGUMENTS…]
# The build tree may lie where that user cannot look, so what it needs is copied to a place of its own.
set -eu
# One for each source tree: two trees tested at once must not run each other's programs, nor remove each other's user.
key=$(readlink -f "${BASH_SOURCE[0]}" | cksum | cut -d ' ' -f 1)
name=coop-test-$key
# A place that the host view shows, which the home is not.
place=/srv/coop-as-user-$key
stage=/tmp/coop-as-user-$(id -u)-$key

setup() {
  [[ $EUID -eq 0 ]] || return 0
  getent passwd "$name" >/dev/null || useradd --create-home --shell /bin/bash "$name"
  mkdir -p "$stage" "$place"
  chmod 0755 "$stage"
  chown "$name:" "$place"
}

cleanup() {
  [[ $EUID -eq 0 ]] || return 0
  rm -rf "$stage" "$place"
  getent passwd "$name" >/dev/null && userdel --remove "$name" 2>/dev/null
  return 0
}

# stage_copy FILE [DIRECTORY]: copies under another name, then renames, so that a running test keeps the old copy.
stage_copy() {
  local from=$1 to=$stage/${2:-.}/${1##*/}
  (umask 022 && mkdir -p "${to%/*}")
  if [[ ! $to -nt $from ]]; then
    cp "$from" "$to.$$" && chmod 0755 "$to.$$" && mv -f "$to.$$" "$to"
  fi
  printf '%s' "$to"
}

case ${1:-} in
  name) echo "$name"; exit ;;
  setup) setup; exit ;;
  cleanup) cleanup; exit ;;
esac
if [[ $EUID -ne 0 ]]; then exec "$@"; fi
# Tests of served git directories get a /dev/fuse that any user may open, the others none: in a mount namespace of their own.
if [[ -z ${COOP_TEST_IN_NAMESPACE:-} ]]; then
  # shellcheck disable=SC2016 # the inner shell expands it
  exec env COOP_TEST_IN_NAMESPACE=1 unshare --mount sh -ec '
    if [ -n "${COOP_TEST_OPEN_FUSE:-}" ]; then
      place=$(mktemp -d /tmp/coop-fuse.XXXXXX)
      mount -t tmpfs none "$place"
      mknod -m 0666 "$place/fuse" c 10 229
      mount --bind "$place/fuse" /dev/fuse
      umount --lazy "$place"
      rmdir "$place"
    elif [ -e /dev/fuse ]; then
      mount --bind /dev/null /dev/fuse
    fi
    exec "$@"' sh "${BASH_SOURCE[0]}" "$@"
fi
(flock 9; setup) 9>"/tmp/.coop-as-user.lock"
staged() { flock /tmp/.coop-as-user.lock bash -c "$(declare -f stage_copy); stage=$stage; stage_copy \"\$@\"" stage_copy "$@"; }
program=$(staged "$1")
coop=$(staged "$COOP_BINARY" bin)
payload=$(staged "$COOP_PAYLOAD")
# coop finds its other programs beside itself.
tools=${COOP_BINARY%/bin/*}/libexec/coop/coop-tools
[[ ! -e $tools ]] || staged "$tools" libexec/coop >/dev/null
[[ $1 != *.py ]] || staged "$(dirname -- "${BASH_SOURCE[0]}")/support/run_tests.py" >/dev/null
shift
cd /tmp
exec runuser -u "$name" -- env -u XDG_RUNTIME_DIR HOME="/home/$name" USER="$name" LOGNAME="$name" \
  COOP_TEST_PLACE="$place" COOP_BINARY="$coop" COOP_PAYLOAD="$payload" COOP_TESTS_MUST_RUN="${COOP_TESTS_MUST_RUN:-}" "$program" "$@"
