// The FUSE protocol: decodes one message of the kernel, asks the file system, encodes the answer.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sys/fuse/file_system.h"

namespace coop::fuse {

// Large enough for every message: the kernel refuses a read() with less than it may send.
inline constexpr std::size_t kMessageSize = (std::size_t{128} << 10) + 4096;

class Session {
 public:
  explicit Session(FileSystem& files) : files_(files) {}

  // The answer to send back; empty when none is due. Valid until the next call.
  std::span<const std::byte> answer(std::span<const std::byte> message);

 private:
  class Body;

  int dispatch(const fuse_in_header& header, Body body);
  int initialize(Body& body);
  int names(const fuse_in_header& header, Body& body);
  int contents(const fuse_in_header& header, Body& body);
  int forget(const fuse_in_header& header, Body& body);
  int rename(const fuse_in_header& header, Body& body);
  template <typename Value>
  void put(const Value& value);
  int put_found(const Answer<Found>& found);
  int put_attributes(const Answer<fuse_attr>& attributes);

  FileSystem& files_;
  std::vector<std::byte> reply_{};
};

// Answers what is waiting on `device`, a descriptor of /dev/fuse, without blocking. False once the file system is
// unmounted.
bool serve(int device, Session& session, std::span<std::byte> buffer);

}  // namespace coop::fuse
