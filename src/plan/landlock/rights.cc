#include "plan/landlock/rights.h"

#include <linux/landlock.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "abi/landlock.h"
#include "base/path.h"

namespace coop::landlock {

namespace {

struct Right {
  std::uint64_t bit;
  int since_abi;
  std::string_view name;
};

constexpr int kNewestAbi = 7;

constexpr std::array kRights{
    Right{LANDLOCK_ACCESS_FS_EXECUTE, 1, "execute"},
    Right{LANDLOCK_ACCESS_FS_WRITE_FILE, 1, "write_file"},
    Right{LANDLOCK_ACCESS_FS_READ_FILE, 1, "read_file"},
    Right{LANDLOCK_ACCESS_FS_READ_DIR, 1, "read_dir"},
    Right{LANDLOCK_ACCESS_FS_REMOVE_DIR, 1, "remove_dir"},
    Right{LANDLOCK_ACCESS_FS_REMOVE_FILE, 1, "remove_file"},
    Right{LANDLOCK_ACCESS_FS_MAKE_CHAR, 1, "make_char"},
    Right{LANDLOCK_ACCESS_FS_MAKE_DIR, 1, "make_dir"},
    Right{LANDLOCK_ACCESS_FS_MAKE_REG, 1, "make_reg"},
    Right{LANDLOCK_ACCESS_FS_MAKE_SOCK, 1, "make_sock"},
    Right{LANDLOCK_ACCESS_FS_MAKE_FIFO, 1, "make_fifo"},
    Right{LANDLOCK_ACCESS_FS_MAKE_BLOCK, 1, "make_block"},
    Right{LANDLOCK_ACCESS_FS_MAKE_SYM, 1, "make_sym"},
    Right{LANDLOCK_ACCESS_FS_REFER, 2, "refer"},
    Right{abi::kLandlockTruncate, 3, "truncate"},
    Right{abi::kLandlockIoctlDev, 5, "ioctl_dev"},
};

constexpr std::uint64_t kDirectoryOnly =
    LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
    LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
    LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
    LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER;

// Every file system right a kernel with this ABI can handle.
std::uint64_t handled(int abi) {
  std::uint64_t bits = 0;
  for (const Right& right : kRights)
    if (right.since_abi <= abi) bits |= right.bit;
  return bits;
}

std::uint64_t scopes(int abi) {
  return abi >= 6 ? abi::kLandlockScopeAbstractUnixSocket | abi::kLandlockScopeSignal : 0;
}

// All except making device nodes.
std::uint64_t write_rights(int abi) {
  return handled(abi) & ~(LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK);
}

// To use existing files, ioctl included.
std::uint64_t device_rights(int abi) {
  return handled(abi) &
         (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
          LANDLOCK_ACCESS_FS_WRITE_FILE | abi::kLandlockTruncate | abi::kLandlockIoctlDev);
}

}  // namespace

std::string names_of(std::uint64_t rights) {
  std::string text;
  for (const Right& right : kRights)
    if ((rights & right.bit) != 0) text += (text.empty() ? "" : " ") + std::string(right.name);
  return text;
}

RestrictLandlock rules_for(int host_abi, const std::vector<Step>& steps) {
  const int abi = std::min(host_abi, kNewestAbi);
  std::map<Path, std::uint64_t> rights;
  rights["/"] =
      LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
  for (const Step& step : steps) {
    if (const auto* bind = std::get_if<BindMount>(&step.action)) {
      if (bind->flags.devices) continue;  // /dev as a whole is listed below
      if (bind->flags.access != Access::read_write) continue;
      const bool directory = bind->kind == PathKind::directory;
      rights[bind->target] |= write_rights(abi) & ~(directory ? 0 : kDirectoryOnly);
    } else if (const auto* tmpfs = std::get_if<TmpfsMount>(&step.action)) {
      if (tmpfs->target != "/dev" && tmpfs->flags.exec) rights[tmpfs->target] |= write_rights(abi);
    } else if (const auto* overlay = std::get_if<OverlayMount>(&step.action)) {
      rights[overlay->target] |= write_rights(abi);
    } else if (std::holds_alternative<ProcFilesystem>(step.action)) {
      rights["/proc"] |= device_rights(abi) & ~abi::kLandlockIoctlDev;
    } else if (std::holds_alternative<DevptsMount>(step.action)) {
      rights["/dev"] |= device_rights(abi);
    } else if (std::holds_alternative<MqueueMount>(step.action)) {
      // mq_open() opens a file below the root of this file system, in a mount that no path leads to. The rule holds there too,
      // because it is about the directory's inode.
      rights["/dev/mqueue"] |= LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                               LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                               LANDLOCK_ACCESS_FS_MAKE_REG;
    }
  }
  // Rights hold for all that is below, through mounts as well. A rule that adds none is left out: its path may lie in a home, where
  // another sandbox renames directories while we open it.
  std::erase_if(rights, [&](const auto& rule) {
    return std::ranges::any_of(rights, [&](const auto& above) {
      return above.first != "/" && above.first != rule.first &&
             is_within(rule.first, above.first) && (rule.second & ~above.second) == 0;
    });
  });
  RestrictLandlock result{.abi = abi, .handled = handled(abi), .scoped = scopes(abi)};
  for (const auto& [path, bits] : rights) result.rules.push_back(LandlockRule{path, bits});
  return result;
}

}  // namespace coop::landlock
