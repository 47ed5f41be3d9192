#include "plan/landlock/rights.h"

#include <array>
#include <map>

#include "abi/landlock.h"

namespace coop::landlock {

namespace {

constexpr std::array kRights{
    Right{abi::kLandlockExecute, 1, "execute"},
    Right{abi::kLandlockWriteFile, 1, "write_file"},
    Right{abi::kLandlockReadFile, 1, "read_file"},
    Right{abi::kLandlockReadDir, 1, "read_dir"},
    Right{abi::kLandlockRemoveDir, 1, "remove_dir"},
    Right{abi::kLandlockRemoveFile, 1, "remove_file"},
    Right{abi::kLandlockMakeChar, 1, "make_char"},
    Right{abi::kLandlockMakeDir, 1, "make_dir"},
    Right{abi::kLandlockMakeReg, 1, "make_reg"},
    Right{abi::kLandlockMakeSock, 1, "make_sock"},
    Right{abi::kLandlockMakeFifo, 1, "make_fifo"},
    Right{abi::kLandlockMakeBlock, 1, "make_block"},
    Right{abi::kLandlockMakeSym, 1, "make_sym"},
    Right{abi::kLandlockRefer, 2, "refer"},
    Right{abi::kLandlockTruncate, 3, "truncate"},
    Right{abi::kLandlockIoctlDev, 5, "ioctl_dev"},
};

constexpr std::array kScopes{
    Right{abi::kLandlockScopeAbstractUnixSocket, 6, "abstract_unix_socket"},
    Right{abi::kLandlockScopeSignal, 6, "signal"},
};

constexpr std::uint64_t kDirectoryOnly =
    abi::kLandlockReadDir | abi::kLandlockRemoveDir | abi::kLandlockRemoveFile |
    abi::kLandlockMakeChar | abi::kLandlockMakeDir | abi::kLandlockMakeReg |
    abi::kLandlockMakeSock | abi::kLandlockMakeFifo | abi::kLandlockMakeBlock |
    abi::kLandlockMakeSym | abi::kLandlockRefer;

template <typename Table>
std::uint64_t up_to(const Table& table, int abi) {
  std::uint64_t bits = 0;
  for (const Right& right : table)
    if (right.since_abi <= abi) bits |= right.bit;
  return bits;
}

}  // namespace

std::uint64_t handled(int abi) { return up_to(kRights, abi); }
std::uint64_t scopes(int abi) { return up_to(kScopes, abi); }

std::uint64_t read_rights(int) {
  return abi::kLandlockExecute | abi::kLandlockReadFile | abi::kLandlockReadDir;
}

std::uint64_t write_rights(int abi) {
  return handled(abi) & ~(abi::kLandlockMakeChar | abi::kLandlockMakeBlock);
}

std::uint64_t device_rights(int abi) {
  return handled(abi) & (abi::kLandlockReadFile | abi::kLandlockReadDir | abi::kLandlockWriteFile |
                         abi::kLandlockTruncate | abi::kLandlockIoctlDev);
}

std::string names_of(std::uint64_t rights) {
  std::string text;
  for (const Right& right : kRights)
    if ((rights & right.bit) != 0) text += (text.empty() ? "" : " ") + std::string(right.name);
  return text;
}

RestrictLandlock rules_for(int host_abi, const std::vector<Step>& steps) {
  const int abi = host_abi < kNewestAbi ? host_abi : kNewestAbi;
  std::map<Path, std::uint64_t> rights;
  rights["/"] = read_rights(abi);
  for (const Step& step : steps) {
    if (const auto* bind = std::get_if<BindMount>(&step.action)) {
      if (bind->flags.devices) continue;  // /dev as a whole is listed below
      if (bind->flags.access != Access::read_write) continue;
      rights[bind->target] |= bind->kind == PathKind::directory
                                  ? write_rights(abi)
                                  : write_rights(abi) & ~kDirectoryOnly;
    } else if (const auto* tmpfs = std::get_if<TmpfsMount>(&step.action)) {
      if (tmpfs->target != "/dev" && tmpfs->flags.exec) rights[tmpfs->target] |= write_rights(abi);
    } else if (const auto* overlay = std::get_if<OverlayMount>(&step.action)) {
      rights[overlay->target] |= write_rights(abi);
    } else if (std::holds_alternative<ProcFilesystem>(step.action)) {
      rights["/proc"] |= device_rights(abi) & ~abi::kLandlockIoctlDev;
    } else if (std::holds_alternative<DevptsMount>(step.action)) {
      rights["/dev"] |= device_rights(abi);
    }
  }
  RestrictLandlock result{.abi = abi, .handled = handled(abi), .scoped = scopes(abi)};
  for (const auto& [path, bits] : rights) result.rules.push_back(LandlockRule{path, bits});
  return result;
}

}  // namespace coop::landlock
