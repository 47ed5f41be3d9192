// Paths of the directories of an index.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sys/tree/tree_index.h"

namespace coop {

// The directory of a row as text, relative to the root; goes from row to row in order.
class RowPath {
 public:
  explicit RowPath(const TreeIndex& index) : index_(index) {}

  const std::string& to(std::uint32_t row) {
    const std::uint32_t parent = index_.row(row).parent;
    while (at_ != parent && index_.row(at_).end <= row) leave();
    if (at_ != parent) climb(parent);
    enter(row);
    return path_;
  }

 private:
  void leave() {
    const std::size_t length = index_.name(at_).size();
    path_.erase(path_.size() - std::min(path_.size(), length + 1));
    at_ = index_.row(at_).parent;
  }
  void enter(std::uint32_t row) {
    if (!path_.empty()) path_ += '/';
    path_ += index_.name(row);
    at_ = row;
  }
  void climb(std::uint32_t row) {
    std::vector<std::uint32_t> above;
    for (; row != 0; row = index_.row(row).parent) above.push_back(row);
    path_.clear();
    at_ = 0;
    for (auto next = above.rbegin(); next != above.rend(); ++next) enter(*next);
  }

  const TreeIndex& index_;
  std::string path_{};
  std::uint32_t at_ = 0;
};

}  // namespace coop
