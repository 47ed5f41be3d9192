// Reads one file after the other into the same memory.
#pragma once

#include <memory>
#include <string_view>

namespace coop::tools {

enum class Readable : std::uint8_t { text, passed, gone };

class FileReader {
 public:
  // Larger files are passed over.
  static constexpr std::size_t kMost = std::size_t{10} << 20;

  // Looks at the first bytes before it reads the rest. Not by mmap(2): a file that is truncated meanwhile would kill us.
  Readable read(int fd);
  // Until the next read().
  std::string_view text() const { return {memory_.get(), size_}; }

 private:
  bool fill(int fd, std::size_t up_to);

  std::unique_ptr<char[]> memory_{};
  std::size_t room_ = 0;
  std::size_t size_ = 0;
  bool ended_ = false;
};

}  // namespace coop::tools
