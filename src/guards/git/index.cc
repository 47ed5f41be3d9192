#include "guards/git/index.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/path.h"
#include "guards/names.h"

namespace coop::guards {

namespace {

constexpr std::size_t kHeader = 12;              // signature, version, number of entries
constexpr std::size_t kStatus = 40;              // times, device, inode, mode, owner, size
constexpr std::size_t kModeAt = 24;              // in an entry
constexpr std::size_t kLongestName = 1U << 16U;  // no system call takes a path of 4,096 bytes
constexpr std::size_t kMostBlocks = 1U << 16U;
constexpr std::uint64_t kLargestIndex = std::uint64_t{2} << 30U;
constexpr std::uint32_t kNameMask = 0xfff;
constexpr std::uint32_t kExtended = 0x4000;

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint32_t number = 0;
  for (std::size_t index = 0; index < width; ++index)
    number = number << 8U | static_cast<unsigned char>(bytes[at + index]);
  return number;
}

// Reads forward through a buffer.
class ByteStream {
 public:
  ByteStream(const IndexBytes& bytes, std::uint64_t from, std::uint64_t end)
      : bytes_(bytes), read_to_(from), end_(end) {}

  std::uint64_t position() const { return read_to_ - (buffer_.size() - at_); }

  // The next `count` bytes, valid until the next call; nothing when there are fewer.
  std::optional<std::string_view> take(std::size_t count) {
    if (!fill(count)) return std::nullopt;
    at_ += count;
    return std::string_view(buffer_).substr(at_ - count, count);
  }

  // Up to a zero byte, which is taken too.
  std::optional<std::string_view> take_text() {
    for (std::size_t wanted = 256;; wanted *= 2) {
      const bool more = fill(wanted);
      const std::size_t end = buffer_.find('\0', at_);
      if (end != std::string::npos && end - at_ <= kLongestName) {
        const std::string_view text = std::string_view(buffer_).substr(at_, end - at_);
        at_ = end + 1;
        return text;
      }
      if (!more || wanted > kLongestName) return std::nullopt;
    }
  }

 private:
  bool fill(std::size_t count) {
    constexpr std::size_t kChunk = std::size_t{256} << 10U;
    if (buffer_.size() - at_ >= count) return true;
    buffer_.erase(0, at_);
    at_ = 0;
    const std::size_t had = buffer_.size();
    const std::uint64_t size =
        std::min<std::uint64_t>(std::max(kChunk, count - had), end_ - read_to_);
    buffer_.resize(had + size);
    if (size > 0 && !bytes_.read(read_to_, std::span(buffer_).subspan(had))) {
      buffer_.resize(had);
      return false;
    }
    read_to_ += size;
    return buffer_.size() >= count;
  }

  const IndexBytes& bytes_;
  std::uint64_t read_to_;
  std::uint64_t end_;
  std::string buffer_{};
  std::size_t at_ = 0;
};

// git can load entries in several threads, from the offsets of this table instead of one after the other.
struct Block {
  std::uint64_t offset = 0;
  std::uint32_t entries = 0;
};

struct Extensions {
  bool linked = false;               // to a shared index, which has the names of nameless entries
  std::optional<Block> first_table;  // offset and size of the first table of blocks
};

class IndexJudge {
 public:
  IndexJudge(const IndexBytes& bytes, ObjectFormat format)
      : bytes_(bytes),
        hash_(format == ObjectFormat::sha1 ? 20 : 32),
        end_(bytes.size < hash_ ? 0 : bytes.size - hash_) {}

  std::optional<std::string> judge() {
    if (bytes_.size > kLargestIndex) return "it is too large to be judged";
    ByteStream stream(bytes_, 0, end_);
    const auto header = end_ < kHeader ? std::nullopt : stream.take(kHeader);
    if (!header || !header->starts_with("DIRC")) return "it is not an index of git";
    version_ = number_at(*header, 4, 4);
    count_ = number_at(*header, 8, 4);
    if (version_ < 2 || version_ > 4) return "its version is not known";
    if (auto danger = find_blocks()) return danger;
    for (std::uint32_t index = 0; index < count_; ++index)
      if (auto danger = judge_entry(stream, index)) return danger;
    if (next_block_ != blocks_.size()) return kMisplaced;
    if (extensions_at_ && *extensions_at_ != stream.position()) return kMisplaced;
    Extensions extensions;
    if (auto danger = judge_extensions(stream.position(), extensions)) return danger;
    if (nameless_ && !extensions.linked) return "it has an entry without a path";
    return std::nullopt;
  }

 private:
  static constexpr const char* kMisplaced = "its entries are not where its table says";
  static constexpr const char* kCutOff = "it is malformed, so git may read it in another way";

  // The end of the entries is named at the end of the file, and the table of blocks is found from there.
  std::optional<std::string> find_blocks() {
    for (const std::size_t hash : {std::size_t{20}, hash_}) {
      const std::size_t size = 8 + 4 + hash;
      std::array<char, 12> bytes{};
      if (end_ < kHeader + size) continue;
      if (!bytes_.read(end_ - size, bytes)) return kCutOff;
      const std::string_view text(bytes.data(), bytes.size());
      if (!text.starts_with("EOIE")) continue;
      const std::uint64_t at = number_at(text, 8, 4);
      if (extensions_at_ && *extensions_at_ != at) return kMisplaced;
      extensions_at_ = at;
    }
    if (!extensions_at_) return std::nullopt;
    Extensions extensions;
    if (*extensions_at_ < kHeader || *extensions_at_ > end_) return kMisplaced;
    if (auto danger = judge_extensions(*extensions_at_, extensions)) return danger;
    if (!extensions.first_table) return std::nullopt;
    const auto [offset, size] = *extensions.first_table;
    if (size < 4 || (size - 4) / 8 > kMostBlocks) return kMisplaced;
    std::string table(size, '\0');
    if (!bytes_.read(offset, table)) return kCutOff;
    for (std::size_t at = 4; at + 8 <= table.size(); at += 8)
      blocks_.push_back({number_at(table, at, 4), number_at(table, at + 4, 4)});
    std::uint64_t total = 0;
    for (const Block& block : blocks_) total += block.entries;
    return total == count_ ? std::nullopt : std::optional<std::string>(kMisplaced);
  }

  std::optional<std::string> judge_extensions(std::uint64_t at, Extensions& found) const {
    constexpr int kMost = 1000;
    int count = 0;
    for (; at + 8 <= end_; ++count) {
      std::array<char, 8> bytes{};
      if (count == kMost || !bytes_.read(at, bytes)) return kCutOff;
      const std::string_view header(bytes.data(), bytes.size());
      const std::string_view name = header.substr(0, 4);
      const std::uint32_t size = number_at(header, 4, 4);
      if (size > end_ - at - 8) return kCutOff;
      if (name == "link") found.linked = true;
      if (name == "IEOT" && !found.first_table) found.first_table = Block{at + 8, size};
      const bool optional = name.front() >= 'A' && name.front() <= 'Z';
      if (!optional && name != "link" && name != "sdir")
        return "it has an extension that is not known: " + printable(name);
      at += 8 + std::uint64_t{size};
    }
    return at == end_ ? std::nullopt : std::optional<std::string>(kCutOff);
  }

  std::optional<std::string> judge_entry(ByteStream& stream, std::uint32_t index) {
    const std::uint64_t start = stream.position();
    const bool first_of_block = next_block_ < blocks_.size() && index == block_begins_;
    if (first_of_block) {
      if (blocks_[next_block_].offset != start || blocks_[next_block_].entries == 0)
        return kMisplaced;
      block_begins_ += blocks_[next_block_++].entries;
    }
    const auto fixed = stream.take(kStatus + hash_ + 2);
    if (!fixed) return kCutOff;
    const std::uint32_t mode = number_at(*fixed, kModeAt, 4);
    const std::uint32_t flags = number_at(*fixed, kStatus + hash_, 2);
    const bool extended = (flags & kExtended) != 0;
    if (extended && !stream.take(2)) return kCutOff;
    if (version_ == 4) {
      const std::optional<std::uint64_t> stripped = take_varint(stream);
      // A thread that begins at a block has no previous name, and takes the rest as a whole one.
      if (!stripped || *stripped > name_.size() || (first_of_block && *stripped != name_.size()))
        return kCutOff;
      name_.resize(name_.size() - *stripped);
    } else {
      name_.clear();
    }
    const auto text = stream.take_text();
    if (!text) return kCutOff;
    name_ += *text;
    const std::size_t length = flags & kNameMask;
    if (name_.size() > kLongestName || length != std::min<std::size_t>(name_.size(), kNameMask))
      return kCutOff;
    if (version_ != 4) {
      const std::size_t size = kStatus + hash_ + (extended ? 4 : 2) + name_.size();
      const std::size_t padding = (size + 8) / 8 * 8 - size - 1;  // one zero byte is taken
      if (!stream.take(padding)) return kCutOff;
    }
    return judge_path(mode);
  }

  std::optional<std::string> judge_path(std::uint32_t mode) {
    if (name_.empty()) {
      nameless_ = true;
      return std::nullopt;
    }
    constexpr std::uint32_t kGitLink = 0160000;
    const std::uint32_t type = mode & S_IFMT;
    if (type != S_IFREG && type != S_IFLNK && type != S_IFDIR && type != kGitLink)
      return "an entry is neither file nor symlink: " + shown();
    const IndexEntry entry = type == S_IFLNK   ? IndexEntry::symlink
                             : type == S_IFDIR ? IndexEntry::directory
                                               : IndexEntry::file;
    if (is_safe_index_path(name_, entry)) return std::nullopt;
    return "git would write or read " + shown();
  }

  static std::optional<std::uint64_t> take_varint(ByteStream& stream) {
    std::uint64_t number = 0;
    for (int count = 0; count < 5; ++count) {
      const auto next = stream.take(1);
      if (!next) return std::nullopt;
      const auto byte = static_cast<unsigned char>(next->front());
      number = (count == 0 ? 0 : (number + 1) << 7U) | (byte & 0x7fU);
      if ((byte & 0x80U) == 0) return number;
    }
    return std::nullopt;
  }

  std::string shown() const { return "\"" + printable(name_.substr(0, 100)) + "\""; }

  const IndexBytes& bytes_;
  std::size_t hash_;
  std::uint64_t end_;  // where the checksum begins, which git does not verify
  std::uint32_t version_ = 0;
  std::uint32_t count_ = 0;
  std::optional<std::uint64_t> extensions_at_{};
  std::vector<Block> blocks_{};
  std::size_t next_block_ = 0;
  std::uint64_t block_begins_ = 0;  // number of the first entry of that block
  std::string name_{};              // of the last entry
  bool nameless_ = false;
};

// HFS+ ignores these code points in names.
std::string without_ignored(std::string_view name) {
  std::string text;
  for (std::size_t at = 0; at < name.size();) {
    const std::string_view rest = name.substr(at);
    const unsigned char last = rest.size() > 2 ? static_cast<unsigned char>(rest[2]) : 0;
    const bool ignored = (rest.starts_with("\xe2\x80") &&
                          ((last >= 0x8c && last <= 0x8f) || (last >= 0xaa && last <= 0xae))) ||
                         (rest.starts_with("\xe2\x81") && last >= 0xaa && last <= 0xaf) ||
                         rest.starts_with("\xef\xbb\xbf");
    if (!ignored) text += rest.front();
    at += ignored ? 3 : 1;
  }
  return text;
}

// The part of a component between backslashes, which NTFS takes for separators; a stream's name follows a colon.
bool is_dot_git(std::string_view part, IndexEntry entry) {
  const std::string name = folded(without_ignored(part.substr(0, part.find(':'))));
  if (name == ".git" || name == "git~1") return true;
  return entry == IndexEntry::symlink && (name == ".gitmodules" || name == "gitmod~1");
}

bool is_safe_component(std::string_view name, IndexEntry entry) {
  if (name.empty() || name == "." || name == "..") return false;
  // Most names end here.
  const char first = name.front();
  const bool suspicious = first == '.' || first == 'g' || first == 'G' || first == '\xe2' ||
                          first == '\xef' || name.contains('\\');
  if (!suspicious) return true;
  for (;;) {
    const std::size_t end = name.find('\\');
    if (is_dot_git(name.substr(0, end), entry)) return false;
    if (end == std::string_view::npos) return true;
    name.remove_prefix(end + 1);
  }
}

}  // namespace

bool is_safe_index_path(std::string_view path, IndexEntry entry) {
  if (path.contains('\0')) return false;
  // Of a sparse index.
  if (entry == IndexEntry::directory && path.ends_with('/')) path.remove_suffix(1);
  for (;;) {
    const std::size_t end = path.find('/');
    if (!is_safe_component(path.substr(0, end), entry)) return false;
    if (end == std::string_view::npos) return true;
    path.remove_prefix(end + 1);
  }
}

std::optional<std::string> danger_of_index(const IndexBytes& bytes, ObjectFormat format) {
  return IndexJudge(bytes, format).judge();
}

}  // namespace coop::guards
