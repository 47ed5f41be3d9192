#include "guards/served/node_table.h"

namespace coop::guards {

ServedNode* NodeTable::find(fuse::Node node) {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? nullptr : &found->second;
}

std::pair<fuse::Node, ServedNode*> NodeTable::enter(UniqueFd fd, const struct stat& status) {
  const std::pair<std::uint64_t, std::uint64_t> identity(status.st_dev, status.st_ino);
  const auto [place, added] = by_inode_.try_emplace(identity, next_);
  if (added) {
    ServedNode& node = nodes_[next_++];
    node.fd = std::move(fd);
    node.identity = identity;
    node.type = status.st_mode & S_IFMT;
  }
  ServedNode& node = nodes_[place->second];
  ++node.references;
  return {place->second, &node};
}

void NodeTable::set_root(UniqueFd fd, const struct stat& status, ServedPlace place) {
  const std::pair<std::uint64_t, std::uint64_t> identity(status.st_dev, status.st_ino);
  by_inode_[identity] = fuse::kRoot;
  nodes_[fuse::kRoot] = ServedNode{.fd = std::move(fd),
                                   .identity = identity,
                                   .type = S_IFDIR,
                                   .references = 1,
                                   .place = std::move(place)};
}

void NodeTable::forget(fuse::Node node, std::uint64_t count) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end() || node == fuse::kRoot) return;
  if (found->second.references > count) {
    found->second.references -= count;
    return;
  }
  by_inode_.erase(found->second.identity);
  nodes_.erase(found);
}

}  // namespace coop::guards
