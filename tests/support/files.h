// Temporary directories and whole-file reads and writes, for tests.
#pragma once

#include <string>
#include <string_view>

namespace coop::tests {

// A fresh directory, mode 0755, removed with everything in it at the end. The path is canonical.
class TempDir {
 public:
  explicit TempDir(std::string_view parent = "/tmp");
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

// A parent directory for TempDir that the host view shows: that view replaces /tmp and /var/tmp,
// where files would be hidden for the wrong reason. COOP_TEST_PLACE, else the first one this user
// may write.
const std::string& visible_place();

// These abort the test program on failure: without its fixture a test proves nothing.
void write_file(const std::string& path, std::string_view text);
void make_directories(const std::string& path);
void make_symlink(const std::string& target, const std::string& path);
void copy_program(const std::string& source, const std::string& target);

// What the file holds; "" when it cannot be read.
std::string read_file(const std::string& path);

// True for a dangling symlink too.
bool exists(const std::string& path);

}  // namespace coop::tests
