// The files and directories that the kernel knows of a served file system.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include "guards/served/git_rules.h"
#include "sys/fd.h"
#include "sys/fuse/file_system.h"

namespace coop::guards {

struct ServedNode {
  UniqueFd fd{};  // O_PATH: keeps the inode, so that its number is not used again
  std::pair<std::uint64_t, std::uint64_t> identity{};  // device, inode
  std::uint32_t type = 0;                              // S_IFMT of its mode
  std::uint64_t references = 0;
  bool hidden = false;  // neither its contents nor what is below can be had
  // Of a file: `guard` stays once it was found under a guarded name; other hard links are the same inode.
  ServedPlace place{};
};

class NodeTable {
 public:
  ServedNode* find(fuse::Node node);
  // The node of this inode, made if it is new. Counts one reference.
  std::pair<fuse::Node, ServedNode*> enter(UniqueFd fd, const struct stat& status);
  void set_root(UniqueFd fd, const struct stat& status, ServedPlace place);
  void forget(fuse::Node node, std::uint64_t count);

 private:
  std::unordered_map<fuse::Node, ServedNode> nodes_{};
  std::map<std::pair<std::uint64_t, std::uint64_t>, fuse::Node> by_inode_{};
  fuse::Node next_ = fuse::kRoot + 1;
};

}  // namespace coop::guards
