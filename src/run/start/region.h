// Memory shared with a child that is cloned before the memory is filled.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace coop::run {

// Only grows, and is freed as a whole. Untouched pages cost nothing.
class Region {
 public:
  static Result<Region> make();

  // Null when it is full: command and environment exceed what execve accepts.
  void* allocate(std::size_t size);
  // With a terminating NUL.
  const char* copy(std::string_view text);

 private:
  struct Unmap {
    void operator()(std::byte* start) const;
  };
  std::unique_ptr<std::byte, Unmap> start_{};
  std::size_t used_ = 0;
};

}  // namespace coop::run
