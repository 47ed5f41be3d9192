// Two things by the first byte: any bytes as the file of an index are read without a fault; and any changes of a tree
// are seen by a walk with an index as by one without.
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "guards/workspace.h"
#include "sys/fd.h"
#include "sys/tree/tree_index.h"

namespace {

namespace fs = std::filesystem;

// Never destroyed: the handler at the exit uses it.
const std::string& directory() {
  static const std::string* const path = [] {
    const char* const parent = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    auto* const name = new std::string(std::string(parent) + "/fuzz_tree_index.XXXXXX");
    if (::mkdtemp(name->data()) == nullptr) std::abort();
    std::atexit([] {
      std::error_code ignored;
      fs::remove_all(directory(), ignored);
    });
    return name;
  }();
  return *path;
}

void read_any_file(const std::uint8_t* data, std::size_t size) {
  const coop::IndexPlace place{directory() + "/indexes", directory() + "/w", "k"};
  fs::create_directories(place.directory);
  fs::create_directories(place.tree + "/a/b");
  const std::string key = coop::sha256_hex(place.tree + '\0' + place.key);
  const auto root = coop::open_file(place.tree, O_RDONLY | O_DIRECTORY);
  const std::uint64_t device = coop::directory_state(root->get())->device;
  const auto rows = static_cast<std::uint32_t>(size / sizeof(coop::IndexRow));
  const auto names = static_cast<std::uint32_t>(size - rows * sizeof(coop::IndexRow));
  const std::string name = place.directory + "/" + key.substr(0, 32) + ".index";
  {
    std::ofstream file(name, std::ios::binary);
    file << "coopidx2" << key;
    file.write(reinterpret_cast<const char*>(&device), sizeof device);
    file.write(reinterpret_cast<const char*>(&rows), sizeof rows);
    file.write(reinterpret_cast<const char*>(&names), sizeof names);
    file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  ::chmod(name.c_str(), 0600);
  const coop::TreeIndex index = coop::TreeIndex::read(place, root->get());
  for (std::uint32_t row = 0; row < index.size(); ++row)
    index.for_each_child(row, [&](std::uint32_t child) {
      if (child >= index.size() || index.name(child).empty()) std::abort();
    });
}

const std::vector<std::string>& names() {
  static const std::vector<std::string> kNames{"a",       "b",      "c",       "node_modules",
                                               ".git",    "HEAD",   "objects", "refs",
                                               ".vscode", "config", "modules", ".envrc"};
  return kNames;
}

std::string path_of(std::uint8_t first, std::uint8_t second) {
  std::string path = directory() + "/t";
  path += "/" + names()[first % 12];
  if (first >= 128) path += "/" + names()[(first / 12) % 12];
  if (second % 2 == 1) path += "/" + names()[(second / 2) % 12];
  return path;
}

void change(const std::uint8_t* step) {
  static const std::vector<std::string> kTargets{"../a", "node_modules/a", "../node_modules/b",
                                                 "a/../b"};
  std::error_code ignored;
  const std::string path = path_of(step[1], step[2]);
  switch (step[0] % 5) {
    case 0: fs::create_directories(path, ignored); break;
    case 1: std::ofstream(path) << "x"; break;
    case 2: fs::remove_all(path, ignored); break;
    case 3: fs::rename(path, path_of(step[2], step[1]), ignored); break;
    case 4: fs::create_symlink(kTargets[step[2] % 4], path, ignored); break;
    default: break;
  }
}

coop::WorkspaceFacts look(const coop::guards::TreeMemory& memory) {
  static const std::vector<std::string> kGuards{".git", ".git/config", ".git/hooks", ".vscode",
                                                ".envrc"};
  auto facts = coop::guards::inspect_workspace(directory() + "/t", kGuards, {}, {}, memory);
  if (!facts) std::abort();
  facts->started = 0;
  return *std::move(facts);
}

void compare_walks(const std::uint8_t* data, std::size_t size) {
  using coop::guards::TreeMemory;
  std::error_code ignored;
  fs::remove_all(directory() + "/t", ignored);
  fs::remove_all(directory() + "/seen", ignored);
  fs::create_directories(directory() + "/t");
  const TreeMemory memory{
      .directory = directory() + "/seen",
      .writing = TreeMemory::Writing::yes,
      .rules = {
          .too_young = std::chrono::nanoseconds(1), .fewest_rows = 1, .worth_writing = 100'000}};
  for (std::size_t at = 0; at + 3 <= size && at < 60; at += 3) {
    change(data + at);
    if (at % 12 != 9) continue;
    ::usleep(11'000);  // a tick of the kernel's clock
    if (look(memory) != look({})) std::abort();
    ::usleep(11'000);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The second costs a tick of the clock for each look.
  if (data[0] % 16 != 0) read_any_file(data + 1, size - 1);
  else compare_walks(data + 1, size - 1);
  return 0;
}
