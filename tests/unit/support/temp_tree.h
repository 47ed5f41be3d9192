// A directory of our own on the real file system, and the real git, for tests.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/path.h"

namespace coop::test {

class TempTree {
 public:
  explicit TempTree(const std::string& parent = "/tmp") {
    std::string pattern = parent + "/coop-test-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) ADD_FAILURE() << "mkdtemp in " << parent;
    char* const real = ::realpath(pattern.c_str(), nullptr);
    path_ = real;
    ::free(real);
  }
  TempTree(const TempTree&) = delete;
  TempTree& operator=(const TempTree&) = delete;
  ~TempTree() { shell("chmod -R u+rwx . 2>/dev/null; cd / && rm -rf -- '" + path_ + "'"); }

  const Path& path() const { return path_; }
  Path operator/(const std::string& name) const { return join(path_, name); }

  // Runs a script in the directory, with a git that knows nothing of this machine.
  int shell(const std::string& script) const {
    return std::system(("cd '" + path_ +
                        "' && export HOME=/nonexistent GIT_CONFIG_GLOBAL=/dev/null "
                        "GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b "
                        "GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; { " +
                        script + "\n} >/dev/null 2>&1")
                           .c_str());
  }
  void must(const std::string& script) const { ASSERT_EQ(shell(script), 0) << script; }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(operator/(name), std::ios::binary) << text;
  }

 private:
  Path path_;
};

inline std::string read_text(const Path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

inline bool exists(const Path& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

inline mode_t mode_of(const Path& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

// Memory, where there is some to write to: another file system than /tmp, and quick with many files.
inline std::string fast_parent() { return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"; }

// `levels` directories called "d", one in another, made without long paths; returns the last.
inline int make_deep(const Path& top, int levels) {
  int directory = ::open(top.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int level = 0; level < levels; ++level) {
    if (::mkdirat(directory, "d", 0755) < 0) ADD_FAILURE() << "mkdirat at level " << level;
    const int below = ::openat(directory, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ::close(directory);
    directory = below;
  }
  return directory;
}

// The names in policies/guards.txt that these tests are about.
inline const std::vector<std::string> kGuards{
    ".git",    ".git/hooks", ".git/config",       ".git/config.worktree", ".git/info/attributes",
    ".vscode", ".envrc",     ".github/workflows", ".claude/settings.json"};

}  // namespace coop::test
