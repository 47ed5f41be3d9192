// The index of a git directory (".git/index", and ".git/sharedindex.*" of a split one). Parser only, fuzzed: the bytes come
// from inside a sandbox.
//
// git checks paths when it adds them to an index, not when it reads one. An index with the entry "../x" or
// ".git/hooks/pre-commit" makes `git checkout .` write that file, and `git commit -a` read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace coop::guards {

// The repository's, by its configuration: entries have another length in each.
enum class ObjectFormat : std::uint8_t { sha1, sha256 };

struct IndexBytes {
  std::uint64_t size = 0;
  // Fills the whole buffer from `offset` on; false when that fails.
  std::function<bool(std::uint64_t offset, std::span<char> buffer)> read{};
};

// Why git must not obey this index; nothing when all its paths are ones that git itself would add. Streams: memory does
// not depend on the size.
std::optional<std::string> danger_of_index(const IndexBytes& bytes, ObjectFormat format);

// Whether git would add such a path: no component is empty, ".", ".." or a form of ".git", in any case and by the rules of
// HFS+ and NTFS.
enum class IndexEntry : std::uint8_t { file, symlink, directory };
bool is_safe_index_path(std::string_view path, IndexEntry entry);

}  // namespace coop::guards
