# Sourced by the scripts that run on the host: where things are, and how they end.
# shellcheck shell=bash

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${COOP_GUEST_CACHE:-$repository/build/guest}
case $cache in /*) ;; *) cache=$PWD/$cache ;; esac
PATH=$PATH:/usr/sbin:/sbin  # depmod and modprobe; an ordinary user's PATH leaves them out

# Something is wrong.
fail() {
  echo "guest: $*" >&2
  exit 1
}

# This machine cannot run guests: a skipped test, unless it was said that none may be skipped.
cannot() {
  echo "guest: $*" >&2
  [ "${COOP_TESTS_MUST_RUN:-0}" != 1 ] || exit 1
  exit 77
}

need_programs() {
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null || cannot "no $program on this machine"
  done
}
