#include "run/start/region.h"

#include <sys/mman.h>

#include <cstring>

namespace coop::run {

namespace {

// Larger than the kernel's limit on arguments and environment (6 MiB) plus the plan's strings.
constexpr std::size_t kSize = std::size_t{16} << 20;

}  // namespace

Result<Region> Region::make() {
  void* start = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return system_error("mmap");
  Region region;
  region.start_.reset(static_cast<std::byte*>(start));
  return region;
}

void Region::Unmap::operator()(std::byte* start) const { ::munmap(start, kSize); }

void* Region::allocate(std::size_t size) {
  constexpr std::size_t kAlign = alignof(std::max_align_t);
  if (size > kSize - used_) return nullptr;
  void* place = start_.get() + used_;
  used_ += (size + kAlign - 1) / kAlign * kAlign;
  if (used_ > kSize) used_ = kSize;
  return place;
}

const char* Region::copy(std::string_view text) {
  auto* place = static_cast<char*>(allocate(text.size() + 1));
  if (place == nullptr) return nullptr;
  std::memcpy(place, text.data(), text.size());
  place[text.size()] = '\0';
  return place;
}

}  // namespace coop::run
