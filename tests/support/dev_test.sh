#!/usr/bin/env bash
# ./dev on machines that this one is not: what it installs where a package has no candidate, and what it lists without dpkg.
set -euo pipefail

source_tree=$(dirname -- "$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")")
place=$(mktemp -d)
trap 'rm -rf -- "$place"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }

# A copy: it writes its logs beside itself.
mkdir -p "$place/coop/scripts" "$place/bin"
cp -- "$source_tree/dev" "$place/coop/"
cp -- "$source_tree/scripts/packages.txt" "$place/coop/scripts/"
for name in bash env awk sort dirname readlink cat sed grep mkdir sleep tail tr cut; do
  ln -s "$(command -v "$name")" "$place/bin/$name"
done
dev() { status=0; output=$(PATH=$place/bin CXX=no-compiler "$place/coop/dev" "$@" 2>&1) || status=$?; }

dev deps build
((status == 1)) || fail "without dpkg and cmake: status $status"
for text in "neither Debian nor Ubuntu" "program cmake (Debian: cmake)" "program ninja (Debian: ninja-build)" "program c++"; do
  [[ $output == *"$text"* ]] || fail "no \"$text\" in: $output"
done

# Nothing is installed; as in Debian 13, libboost1.81-dev is a name that others only mention.
printf '#!/bin/sh\nexit 1\n' >"$place/bin/dpkg-query"
cat >"$place/bin/apt-cache" <<'SH'
#!/bin/sh
case $2 in
  libboost1.81-dev) printf 'libboost1.81-dev:\n  Installed: (none)\n  Candidate: (none)\n' ;;
  nosuch) ;;
  *) printf '%s:\n  Installed: (none)\n  Candidate: 1.0\n' "$2" ;;
esac
SH
printf '#!/bin/sh\nprintf "%%s\\n" "$*" >>"%s/asked"\n' "$place" >"$place/bin/apt-get"
printf '#!/bin/sh\nshift; exec "$@"\n' >"$place/bin/sudo"
chmod +x "$place"/bin/{dpkg-query,apt-cache,apt-get,sudo}
printf '[some]\nplain\nlibboost1.81-dev|libboost-dev   <boost/beast.hpp>\nnosuch?\nperhaps?\n' >"$place/coop/scripts/packages.txt"
dev deps some
((status == 0)) || fail "installing: status $status: $output"
asked=" $(cat "$place/asked") "
for name in plain libboost-dev perhaps; do
  [[ $asked == *" $name "* ]] || fail "$name is not installed: $asked"
done
for name in libboost1.81-dev nosuch; do
  [[ $asked != *" $name "* ]] || fail "$name is asked for, and cannot be had: $asked"
done
