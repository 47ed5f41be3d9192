// A file system that this process serves to the kernel over /dev/fuse: what it answers, without the protocol.
#pragma once

#include <linux/fuse.h>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coop::fuse {

using Node = std::uint64_t;
using Handle = std::uint64_t;

inline constexpr Node kRoot = FUSE_ROOT_ID;

// The error is an errno.
template <typename Value>
using Answer = std::expected<Value, int>;

// A name that was found. The kernel counts one more reference to the node and returns them with forget().
struct Found {
  Node node = 0;
  fuse_attr attributes{};
};

struct Opened {
  Handle handle = 0;
  std::uint32_t flags = 0;  // FOPEN_*
};

struct NewName {
  Node parent = 0;
  std::string_view name{};  // one component: not empty, "." or "..", and without "/"
};

// Collects directory entries until the kernel's buffer is full.
class EntrySink {
 public:
  EntrySink(std::vector<std::byte>& buffer, std::size_t limit) : buffer_(buffer), limit_(limit) {}
  // False when it does not fit any more. `next` is the offset of the entry after this one.
  bool add(std::string_view name, std::uint64_t inode, std::uint32_t type, std::uint64_t next);

 private:
  std::vector<std::byte>& buffer_;
  std::size_t limit_;
  std::size_t used_ = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual Answer<Found> look_up(NewName at) = 0;
  virtual void forget(Node node, std::uint64_t count) = 0;
  virtual Answer<fuse_attr> attributes(Node node) = 0;
  virtual Answer<fuse_attr> set_attributes(Node node, const fuse_setattr_in& wanted) = 0;
  virtual Answer<std::string> read_link(Node node) = 0;
  virtual Answer<Found> make_symlink(NewName at, const std::string& text) = 0;
  virtual Answer<Found> make_node(NewName at, std::uint32_t mode) = 0;
  virtual Answer<Found> make_directory(NewName at, std::uint32_t mode) = 0;
  virtual Answer<void> remove(NewName at, int flags) = 0;  // flags of unlinkat
  virtual Answer<void> rename(NewName from, NewName to, std::uint32_t flags) = 0;
  virtual Answer<Found> link(Node node, NewName at) = 0;
  virtual Answer<Opened> open(Node node, std::uint32_t flags) = 0;
  virtual Answer<std::pair<Found, Opened>> create(NewName at, std::uint32_t flags,
                                                  std::uint32_t mode) = 0;
  virtual Answer<std::size_t> read(Handle handle, std::uint64_t offset,
                                   std::span<std::byte> buffer) = 0;
  virtual Answer<std::size_t> write(Handle handle, std::uint64_t offset,
                                    std::span<const std::byte> data) = 0;
  virtual Answer<void> sync(Handle handle) = 0;
  virtual void release(Handle handle) = 0;
  virtual Answer<Opened> open_directory(Node node) = 0;
  virtual Answer<void> read_directory(Handle handle, std::uint64_t offset, EntrySink& sink) = 0;
  virtual Answer<fuse_kstatfs> statistics(Node node) = 0;
};

}  // namespace coop::fuse
