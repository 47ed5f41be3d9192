#!/bin/bash
# prepare.sh KERNEL...: fetches Debian kernels ("6.1", "6.12") and makes an initramfs for each.
#
# Everything lands in $COOP_GUEST_CACHE (default: build/guest of this repository). What is there
# already is kept, so a second call takes no time. Exit 77: this machine lacks what is needed.
# $COOP_GUEST_ARCHIVE names a Debian archive where the machine itself installs from none.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$here/common.sh"

# What the initramfs needs to reach its root; later modules come by modprobe from the guest's root.
modules=(overlay virtio_pci virtiofs)

# A kernel's Debian suite. Both suites are served by the archive this machine installs from.
suite_of() {
  case $1 in
    6.1) echo bookworm ;;
    6.12) echo bookworm-backports ;;
    *) fail "no kernel \"$1\": known are 6.1 and 6.12" ;;
  esac
}

# Where this machine gets its Debian packages from, in whatever format its sources are written.
archive() {
  local codename uris
  [ -z "${COOP_GUEST_ARCHIVE:-}" ] || { echo "$COOP_GUEST_ARCHIVE" && return; }
  # shellcheck source=/dev/null
  codename=$(. /etc/os-release && [ "$ID" = debian ] && echo "${VERSION_CODENAME:-}") ||
    cannot "this is no Debian: set COOP_GUEST_ARCHIVE to a Debian archive to fetch kernels from"
  uris=$(apt-get update --print-uris 2>/dev/null |
    sed -n "s|^'\(.*\)/dists/$codename/InRelease'.*|\1|p")
  [ -n "$uris" ] || fail "apt's sources name no Debian archive for \"$codename\""
  echo "${uris%%$'\n'*}"  # the first
}

# Leaves DIRECTORY/root with the unpacked kernel package of SUITE. apt gets a configuration of its
# own, so that the machine's lists, sources and pins are neither used nor changed.
download() {
  local suite=$1 directory=$2 uri keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  uri=$(archive)
  mkdir -p "$directory"/{lists,cache/archives}/partial "$directory"/{root,none}
  {
    printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nArchitectures: amd64\n' "$uri" "$suite"
    [ ! -e "$keyring" ] || printf 'Signed-By: %s\n' "$keyring"
  } > "$directory/guest.sources"
  local options=(
    -qq
    -o Dir::Etc::SourceList="$directory/guest.sources" -o Dir::Etc::SourceParts="$directory/none"
    -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts="$directory/none"
    -o Dir::State::Lists="$directory/lists" -o Dir::Cache="$directory/cache"
    -o Acquire::Check-Valid-Until=false  # a pinned snapshot of the archive is as good
    -o Acquire::Retries=3
    -o Acquire::Languages=none
    -o APT::Sandbox::User=root  # apt's own user may not be able to reach the cache directory
  )
  apt-get "${options[@]}" update || fail "cannot read the package lists of $suite"
  local package
  package=$(apt-cache "${options[@]}" depends linux-image-cloud-amd64 |
    sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p')
  [ -n "$package" ] || fail "$suite has no linux-image-cloud-amd64"
  (cd "$directory" && apt-get "${options[@]}" download "$package") ||
    fail "cannot download $package from $suite"
  dpkg-deb --extract "$directory/$package"_*.deb "$directory/root"
}

# Fills $cache/KERNEL with vmlinuz, release and modules/RELEASE, all or nothing.
fetch_kernel() {
  local kernel=$1 target=$2 scratch release
  [ ! -e "$target/release" ] || return 0
  echo "guest: fetching kernel $kernel" >&2
  scratch=$(mktemp -d "$cache/fetch.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  download "$(suite_of "$kernel")" "$scratch"

  local tree=$scratch/root
  # Newer packages know only /usr/lib; depmod and modprobe look in /lib.
  [ -d "$tree/lib/modules" ] || { mkdir -p "$tree/lib" && mv "$tree/usr/lib/modules" "$tree/lib/"; }
  release=$(ls "$tree/lib/modules")
  case $release in "$kernel".*) ;; *) fail "wanted kernel $kernel, the archive has $release" ;; esac
  depmod --basedir "$tree" "$release"

  rm -rf "$target"
  mkdir -p "$target/lib"
  mv "$tree/lib/modules" "$target/lib/modules"
  cp "$tree/boot/vmlinuz-$release" "$target/vmlinuz"
  echo "$release" > "$target/release"  # last: its presence means the rest is complete
  rm -rf "$scratch"
  trap - EXIT
}

# Prints the module files to insert, dependencies first, each once.
module_files() {
  local target=$1 release=$2 module
  for module in "${modules[@]}"; do
    modprobe --dirname "$target" --set-version "$release" --show-depends "$module" ||
      fail "kernel $release has no module $module"
  done | sed -n 's/^insmod \(.*\.ko[.a-z]*\).*/\1/p' | awk '!seen[$0]++'
}

unpack_module() {
  case $1 in
    *.xz) xz --decompress --stdout "$1" ;;
    *.zst) zstd --decompress --stdout --quiet "$1" ;;
    *) cat "$1" ;;
  esac
}

build_initramfs() {
  local target=$1 release fingerprint tree file number=100 name
  release=$(cat "$target/release")
  fingerprint=$(cat "$here/init" "$here/prepare.sh" | sha256sum)
  [ "$(cat "$target/initramfs.made_from" 2>/dev/null)" != "$fingerprint" ] || return 0
  tree=$(mktemp -d "$cache/initramfs.XXXXXX")
  trap 'rm -rf "$tree"' EXIT

  mkdir -p "$tree"/{bin,proc,sys,dev,modules,host,upper,root}
  cp "$(command -v busybox)" "$tree/bin/busybox"
  for name in sh mount umount mkdir cat cp ln ip hostname insmod poweroff switch_root; do
    ln -s busybox "$tree/bin/$name"
  done
  install -m 755 "$here/init" "$tree/init"
  module_files "$target" "$release" | while read -r file; do
    number=$((number + 1))
    name=${file##*/}
    unpack_module "$file" > "$tree/modules/$number-${name%%.*}.ko"
  done
  (cd "$tree" && find . | cpio --create --format=newc --owner=0:0 --quiet) > "$target/initramfs"
  echo "$fingerprint" > "$target/initramfs.made_from"
  rm -rf "$tree"
  trap - EXIT
}

[ $# -gt 0 ] || fail "usage: prepare.sh KERNEL..."
need_programs apt-get apt-cache dpkg-deb busybox cpio depmod modprobe xz flock
ldd "$(command -v busybox)" >/dev/null 2>&1 && cannot "busybox is not static: install busybox-static"
mkdir -p "$cache"
for kernel in "$@"; do
  suite_of "$kernel" >/dev/null
  (
    flock 9  # two test programs may start at once
    fetch_kernel "$kernel" "$cache/$kernel"
    build_initramfs "$cache/$kernel"
  ) 9> "$cache/$kernel.lock"
done
