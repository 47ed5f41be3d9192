// Changing names: renames, links, modes, special files.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "payload/payload.h"

namespace payload {
namespace {

int rename_path(Arguments a) { return judge(::rename(a[0], a[1])); }
int exchange(Arguments a) {
  return judge(::renameat2(AT_FDCWD, a[0], AT_FDCWD, a[1], RENAME_EXCHANGE));
}
int hard_link(Arguments a) { return judge(::link(a[0], a[1])); }
int symbolic_link(Arguments a) { return judge(::symlink(a[0], a[1])); }
int unlink_path(Arguments a) { return judge(::unlink(a[0])); }
int make_directory(Arguments a) { return judge(::mkdir(a[0], 0755)); }
int change_mode(Arguments a) { return judge(::chmod(a[0], static_cast<mode_t>(number(a[1])))); }
int make_fifo(Arguments a) { return judge(::mkfifo(a[0], 0644)); }
int truncate_path(Arguments a) { return judge(::truncate(a[0], 0)); }

// device PATH: /dev/zero under another name; a disk node would be made the same way
int make_device(Arguments a) { return judge(::mknod(a[0], S_IFCHR | 0666, ::makedev(1, 5))); }

// capability PATH: cap_sys_admin on a file, effective for every user who runs it
int file_capability(Arguments a) {
  constexpr std::array<std::uint32_t, 5> kAll{0x02000001, 1u << 21, 0, 0, 0};
  return judge(::setxattr(a[0], "security.capability", kAll.data(), sizeof kAll, 0));
}

constexpr std::array kAttacks{
    Attack{"rename", 2, rename_path},
    Attack{"exchange", 2, exchange},
    Attack{"link", 2, hard_link},
    Attack{"symlink", 2, symbolic_link},
    Attack{"unlink", 1, unlink_path},
    Attack{"mkdir", 1, make_directory},
    Attack{"chmod", 2, change_mode},
    Attack{"fifo", 1, make_fifo},
    Attack{"truncate", 1, truncate_path},
    Attack{"device", 1, make_device},
    Attack{"file-capability", 1, file_capability},
};

}  // namespace

std::span<const Attack> naming_attacks() { return kAttacks; }

}  // namespace payload
