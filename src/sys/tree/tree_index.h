// What a walk has seen of the directories of a tree, kept in a file, so that the next walk lists only those that have
// changed since. The ctime of a directory moves with every entry that is added, removed or renamed in it, and no program
// can set it.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "coop/path.h"

namespace coop {

// Which directory it is, and since when it is as it is. An inode number alone says little: ext4 gives that of a removed
// directory to the next one.
struct DirectoryState {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t born = 0;     // nanoseconds; 0 where the file system does not say
  std::int64_t changed = 0;  // ctime, in nanoseconds
  bool operator==(const DirectoryState&) const = default;
};

std::optional<DirectoryState> directory_state(int directory);

// Whether every change of a directory is known to move its ctime, and to be made on this machine. NFS and FUSE cache
// the ctime, and that of an overlay is one layer's.
bool has_good_ctime(int directory);

// When an index is trusted, and when it is worth its file.
struct IndexRules {
  // A change within the same tick of the clock, or on a file system that counts in seconds, does not move a ctime: a
  // directory that has changed within this time before a walk is listed again by the next.
  std::chrono::nanoseconds too_young = std::chrono::seconds(2);
  std::size_t fewest_rows = 100;      // smaller trees are listed in less than a millisecond
  std::uint32_t worth_writing = 256;  // if one directory in so many need not be listed next time
};

// Where the index of a tree is kept. `key` is what decides whether a directory is plain: with another key it is another
// index.
struct IndexPlace {
  Path directory{};  // of all indexes, made in one that exists; empty: there is none
  Path tree{};
  std::string key{};
};

// One directory. Rows are in depth-first order, a directory before those in it.
struct IndexRow {
  std::uint64_t inode = 0;
  std::int64_t born = 0;
  std::int64_t changed = 0;
  std::uint32_t parent = 0;
  std::uint32_t end = 0;   // the row after the last one below it
  std::uint32_t name = 0;  // where its name begins
  std::uint16_t kind = 0;  // of place, for the walk
  std::uint16_t plain =
      0;  // 1: nothing of interest was in it but directories, and it can be trusted
};

struct IndexRows {
  std::vector<IndexRow> rows{};
  std::string names{};  // each ends with a NUL
};

class TreeIndex {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  TreeIndex() = default;
  // Empty when there is none that fits the tree open as `root`, and on file systems whose ctime is not known to be good.
  static TreeIndex read(const IndexPlace& place, int root);

  std::uint32_t size() const { return rows_ ? static_cast<std::uint32_t>(rows_->rows.size()) : 0; }
  const IndexRow& row(std::uint32_t number) const { return rows_->rows[number]; }
  std::string_view name(std::uint32_t number) const {
    return rows_->names.c_str() + row(number).name;
  }

  // Whether the directory is plain and as it was.
  bool is_unchanged(std::uint32_t number) const { return unchanged_[number] != 0; }
  // The same for it and all below it.
  bool is_settled(std::uint32_t number) const { return settled_[number] != 0; }

  // Calls `visit(row)` for each directory in one.
  template <typename Visit>
  void for_each_child(std::uint32_t number, Visit visit) const {
    const std::uint32_t end = row(number).end;
    for (std::uint32_t child = number + 1; child < end; child = row(child).end) visit(child);
  }

 private:
  friend class IndexBuilder;
  friend class TreeWatch;
  bool is_sound() const;
  enum class Seen : std::uint8_t { nothing, in_place, unchanged };
  // Fills unchanged_ and settled_. `clean`: the directories of which events tell that they were not changed or moved
  // themselves; empty for none.
  void compare(int root, std::uint64_t device, const std::vector<std::uint8_t>& clean = {});
  void compare_rows(int root, std::uint64_t device, const std::vector<std::uint8_t>& clean,
                    std::vector<Seen>& seen, std::atomic<std::uint32_t>& next) const;
  Seen look_at(int root, std::uint64_t device, const std::string& path, std::uint32_t number) const;

  std::shared_ptr<const IndexRows> rows_{};
  std::vector<std::uint8_t> unchanged_{};
  std::vector<std::uint8_t> settled_{};
};

// Makes the index for the next walk, during a walk.
class IndexBuilder {
 public:
  // `began`: when the walk did, by the clock of file systems.
  IndexBuilder(const TreeIndex& known, std::int64_t began, const IndexRules& rules)
      : known_(&known), began_(began), rules_(rules) {}

  // Enters a directory in the one that was opened last and is not closed; returns its row.
  std::uint32_t open(std::string_view name, const DirectoryState& state, std::uint16_t kind);
  void close();
  bool has_state(std::uint32_t row, const IndexRow& other) const {
    return made_.rows[row].inode == other.inode && made_.rows[row].born == other.born &&
           made_.rows[row].changed == other.changed;
  }
  // The directory was listed, after its state was taken: only directories were of interest in it.
  void plain(std::uint32_t row);
  // The same, but it was not listed: the known index says so.
  void still_plain(std::uint32_t row) { made_.rows[row].plain = 1; }
  // Something in it was not entered: it has to be listed next time too.
  void not_plain(std::uint32_t row) { made_.rows[row].plain = 0; }
  // A directory and all below it, as they were.
  void copy(std::uint32_t known_row);

  // Writes it if it spares the next walk work that the known index does not. A failure costs time only.
  void save(const IndexPlace& place, int root) const;
  // Ends it.
  IndexRows take() && { return std::move(made_); }

 private:
  const TreeIndex* known_;
  std::int64_t began_;
  IndexRules rules_;
  IndexRows made_{};
  std::vector<std::uint32_t> open_{};
  std::vector<std::uint64_t> devices_{};  // of those that are open
  std::uint32_t learned_ = 0;             // directories that need not be listed next time
};

}  // namespace coop
