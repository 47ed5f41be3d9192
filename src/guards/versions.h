// What guarded files contained before a run: to tell whether they are the same afterwards, and to put them back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "coop/path.h"
#include "guards/git/touched_files.h"

namespace coop::guards {

struct VersionEntry {
  std::string path{};  // below the guarded path; empty for that itself
  std::uint32_t mode = 0;
  std::uint32_t owner = 0;
  std::uint32_t group = 0;
  std::string content{};  // a file's bytes, a symlink's text
  bool operator==(const VersionEntry&) const = default;
};

// A guarded file, or a guarded directory with all that is in it.
struct Version {
  Path path{};  // on the host
  std::vector<VersionEntry>
      entries{};             // sorted by path, so that a directory comes before what is in it
  std::int64_t changed = 0;  // the latest ctime among them, in nanoseconds
  bool operator==(const Version&) const = default;
};

// Sorted by path.
using Versions = std::vector<Version>;

// Keeps the contents of `mounted`, up to a few MiB and a few thousand files in all: what is larger is left out. Call it
// before a command can run.
Versions keep_versions(const std::vector<Path>& mounted);

// Whether it is a file with several names, or a directory with such a file in it.
bool has_other_names(const Path& path);

// Everything below a directory; nothing when it has more than `most` entries or cannot be read.
std::optional<std::vector<BornFile>> files_below(const Path& directory, std::size_t most);

// What is at `name` in an open directory now. Nothing when it is too large to be kept, or is or contains a device, a FIFO
// or a socket.
std::optional<Version> read_version(int directory, const std::string& name, const Path& path);

// Makes it again, where nothing is.
Result<void> put_back(const Version& version, int directory, const std::string& name);

const Version* find_version(const Versions& versions, const Path& path);

}  // namespace coop::guards
