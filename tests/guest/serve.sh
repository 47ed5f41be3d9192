#!/bin/bash
# serve.sh DIRECTORY SOCKET: offers the host's files to a guest, read-only, until it disconnects.
# Both are names in the current directory.
#
# Runs in a mount namespace of its own and becomes virtiofsd. Root in the guest could mount its side
# writable again, so the side that is served is read-only too: a copy of the mount tree at DIRECTORY.
set -euo pipefail
directory=$1 socket=$2
virtiofsd=/usr/lib/qemu/virtiofsd
[ -x "$virtiofsd" ] || virtiofsd=/usr/libexec/virtiofsd

mount --rbind / "$directory"
for covered in proc sys dev; do  # the guest has its own, and the host's are none of its business
  umount --recursive --lazy "$directory/$covered" 2>/dev/null || true
done
findmnt --raw --noheadings --output TARGET --submounts "$PWD/$directory" | while read -r target; do
  mount -o remount,bind,ro "$(printf '%b' "$target")"  # raw output writes a space as \x20
done

# Raising the soft limit to the hard one is all that is possible without CAP_SYS_RESOURCE;
# --rlimit-nofile=0 keeps virtiofsd from trying for more. Its usual sandbox makes a pivot_root,
# which is refused in many containers.
ulimit -n "$(ulimit -H -n)"
exec "$virtiofsd" --rlimit-nofile=0 --socket-path="$socket" \
  -o source="$PWD/$directory" -o cache=always -o sandbox=chroot
