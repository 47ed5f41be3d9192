// Memory shared with a child that is cloned before the memory is filled.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace coop::run {

// Only grows, and is freed as a whole. Untouched pages cost nothing.
class Region {
 public:
  Region() = default;
  Region(Region&& other) noexcept
      : start_(std::exchange(other.start_, nullptr)), used_(other.used_) {}
  Region& operator=(Region&& other) noexcept {
    std::swap(start_, other.start_);
    std::swap(used_, other.used_);
    return *this;
  }
  ~Region();

  static Result<Region> make();

  // Null when it is full: command and environment exceed what execve accepts.
  void* allocate(std::size_t size);
  // With a terminating NUL.
  const char* copy(std::string_view text);

 private:
  std::byte* start_ = nullptr;
  std::size_t used_ = 0;
};

}  // namespace coop::run
