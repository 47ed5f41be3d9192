#include "scratch.h"

#include <fcntl.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>
#include <utility>

#include "base/path.h"
#include "sys/fd.h"

namespace coop::bench {

Result<Scratch> Scratch::make() {
  const char* parent = std::getenv("TMPDIR");
  std::string name = join(parent == nullptr ? "/tmp" : parent, "coop-bench-XXXXXX");
  if (::mkdtemp(name.data()) == nullptr) return system_error("mkdtemp", name);
  return Scratch(std::move(name));
}

Scratch::Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, {})) {}

Scratch::~Scratch() {
  std::error_code ignored;  // leftovers in /tmp are harmless
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Result<Path> Scratch::directory(std::string_view name) const {
  Path path = join(path_, name);
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return system_error_of(error.value(), "mkdir", path);
  return path;
}

Result<Path> Scratch::file(std::string_view name, std::string_view contents) const {
  Path path = join(path_, name);
  TRY(directory(relative_to(parent_of(path), path_)));
  const UniqueFd fd = TRY(open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0644));
  TRY(write_all(fd.get(), contents, path));
  return path;
}

Result<Path> Scratch::repository(std::string_view name, std::size_t files) const {
  constexpr std::size_t kFilesInDirectory = 20;
  const std::string base(name);
  for (std::size_t index = 0; index < files; ++index) {
    const std::string place = "/source" + std::to_string(index / kFilesInDirectory) + "/file" +
                              std::to_string(index) + ".cc";
    TRY(file(base + place, "int nothing();\n"));
  }
  TRY(directory(base + "/.git/objects"));
  TRY(directory(base + "/.git/refs/heads"));
  TRY(file(base + "/.git/HEAD", "ref: refs/heads/main\n"));
  TRY(file(base + "/.git/config", "[core]\n\tbare = false\n"));
  TRY(file(base + "/.git/hooks/pre-commit.sample", "#!/bin/sh\n"));
  return join(path_, name);
}

Result<Repository> Scratch::large_repository(std::string_view name, std::size_t files) const {
  constexpr std::size_t kFilesInDirectory = 20;
  constexpr std::size_t kDirectoriesInOne = 25;
  Repository made{.path = TRY(directory(name))};
  if (files == 0) return made;
  std::set<std::string> directories;
  for (std::size_t index = 0; index < files; ++index) {
    const std::size_t leaf = index / kFilesInDirectory;
    const std::string top = "/module" + std::to_string(leaf / kDirectoriesInOne);
    const std::string place = top + "/source" + std::to_string(leaf % kDirectoriesInOne);
    if (directories.insert(place).second) {
      directories.insert(top);
      TRY(directory(std::string(name) + place));
    }
    const Path path = join(path_, std::string(name) + place + "/file" + std::to_string(index));
    const UniqueFd fd = TRY(open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0644));
    TRY(write_all(fd.get(), "int nothing();\n", path));
  }
  made.directories = directories.size();
  for (const char* const part : {"objects/info", "objects/pack", "refs/heads", "hooks", "logs"})
    TRY(directory(std::string(name) + "/.git/" + part));
  TRY(file(std::string(name) + "/.git/HEAD", "ref: refs/heads/main\n"));
  TRY(file(std::string(name) + "/.git/config", "[core]\n\tbare = false\n"));
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  return made;
}

std::string Scratch::shown(std::string text) const {
  for (std::size_t at = 0; (at = text.find(path_, at)) != std::string::npos;)
    text.replace(at, path_.size(), "SCRATCH");
  return text;
}

}  // namespace coop::bench
