#!/usr/bin/env bash
# The release tarball: made twice it is the same, and coop runs from it in a root that has nothing but busybox.
# Needs COOP_PROGRAM; with COOP_TARBALL that one is tried instead.
set -euo pipefail

source_tree=$(dirname -- "$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")")

fail() { echo "FAILED: $*" >&2; exit 1; }
skip() {
  [[ -z ${COOP_TESTS_MUST_RUN:-} ]] || fail "$*"
  echo "skipped: $*"
  exit 77
}

# Runs as root of its own namespaces: busybox's root becomes "/", and the host's tree is gone. Not chroot: in one the kernel
# allows no user namespaces.
if [[ ${1:-} == --inside ]]; then
  cd -- "$2"
  mount --bind . .
  cd -- "$2"
  mount -t proc proc proc
  mount --rbind /dev dev
  bin/busybox pivot_root . old  # of util-linux it is in a package of its own on Debian testing
  exec /bin/busybox sh /try
fi

busybox=$(command -v busybox) || skip "busybox is not installed (busybox-static)"
! ldd "$busybox" >/dev/null 2>&1 || skip "busybox is not static (busybox-static)"
place=$(mktemp -d)
trap 'rm -rf --one-file-system -- "$place"' EXIT

tarball=${COOP_TARBALL:-}
if [[ -z $tarball ]]; then
  tree=${COOP_PROGRAM%/bin/coop}
  tarball=$("$source_tree/scripts/make_dist" "$tree" "$place/first")
  again=$("$source_tree/scripts/make_dist" "$tree" "$place/second")
  cmp -- "$tarball" "$again" || fail "two tarballs of the same programs differ"
fi
(cd -- "$(dirname -- "$tarball")" && sha256sum --check --quiet -- "${tarball##*/}.sha256") || fail "the SHA-256 is wrong"

root=$place/root
mkdir -p "$root"/{bin,dev,old,opt,proc,tmp,usr/bin,work}
cp -- "$busybox" "$root/bin/busybox"
cp -- "$busybox" "$root/usr/bin/true"
tar --extract --file="$tarball" --directory="$root/opt" --strip-components=1
for file in bin/coop libexec/coop/coop-tools LICENSE README.md share/man/man1/coop.1 share/man/man5/coop-policy.5 \
  share/bash-completion/completions/coop share/zsh/site-functions/_coop share/fish/vendor_completions.d/coop.fish; do
  [[ -s $root/opt/$file ]] || fail "the tarball lacks $file"
done
cat >"$root/try" <<'TRY'
/bin/busybox umount -l /old || exit 1
cd /work && /opt/bin/coop --version && /opt/bin/coop run --quiet -- true && echo "exit status $?" &&
  /opt/bin/coop run --quiet -- /bin/busybox sh -c 'echo $0 > inside' && /bin/busybox test -s /work/inside
TRY
user=()
((EUID == 0)) || user=(--map-root-user)
unshare "${user[@]}" --mount --pid --fork --kill-child "$0" --inside "$root" | tee "$place/out"
[[ $(tail -n 1 "$place/out") == "exit status 0" ]] || fail "coop run -- true did not work in an empty root"
[[ -s $root/work/inside ]] || fail "nothing was written to the workspace"
