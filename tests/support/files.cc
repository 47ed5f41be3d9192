#include "support/files.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace coop::tests {
namespace {

namespace fs = std::filesystem;

void must(bool done, const std::string& what) {
  if (done) return;
  std::perror(("test fixture: " + what).c_str());
  std::abort();
}

// An attack may have left directories without permissions; the owner can restore them.
void unlock(const fs::path& directory) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
    if (!entry.is_directory(ignored) || entry.is_symlink(ignored)) continue;
    ::chmod(entry.path().c_str(), 0700);
    unlock(entry.path());
  }
}

}  // namespace

TempDir::TempDir(std::string_view parent) {
  std::string pattern = fs::canonical(fs::path(parent)).native() + "/coop-test-XXXXXX";
  must(::mkdtemp(pattern.data()) != nullptr, pattern);
  must(::chmod(pattern.c_str(), 0755) == 0, pattern);
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code failed;
  fs::remove_all(path_, failed);
  if (!failed) return;
  unlock(path_);
  fs::remove_all(path_, failed);
}

const std::string& visible_place() {
  static const std::string place = [] {
    const char* chosen = std::getenv("COOP_TEST_PLACE");
    if (chosen != nullptr && *chosen != '\0') return std::string(chosen);
    for (const char* candidate : {"/srv", "/opt", "/home"})
      if (::access(candidate, W_OK) == 0) return std::string(candidate);
    const passwd* account = ::getpwuid(::geteuid());
    must(account != nullptr && ::access(account->pw_dir, W_OK) == 0,
         "no directory outside /tmp to write to; set COOP_TEST_PLACE");
    return std::string(account->pw_dir);
  }();
  return place;
}

void write_file(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  must(file.good(), path);
}

void make_directories(const std::string& path) {
  std::error_code failed;
  fs::create_directories(path, failed);
  must(!failed, path);
}

void make_symlink(const std::string& target, const std::string& path) {
  must(::symlink(target.c_str(), path.c_str()) == 0, path);
}

void copy_program(const std::string& source, const std::string& target) {
  std::error_code failed;
  fs::copy_file(source, target, fs::copy_options::overwrite_existing, failed);
  must(!failed, source + " to " + target);
  must(::chmod(target.c_str(), 0755) == 0, target);
}

std::string read_file(const std::string& path) {
  std::string text;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char buffer[65536];
  // An error ends it too: a file of /proc disappears with its process.
  for (ssize_t size; (size = ::read(fd, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(size));
  if (fd >= 0) ::close(fd);
  return text;
}

bool exists(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

}  // namespace coop::tests
