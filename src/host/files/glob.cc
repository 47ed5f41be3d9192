#include "host/files/glob.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/path.h"
#include "base/wildcard.h"
#include "host/text.h"
#include "sys/fd.h"
#include "sys/tree/entries.h"

namespace coop::host {

namespace {

constexpr std::size_t kMostMatches = 1000;
constexpr std::size_t kMostEntries = 10000;

struct Pattern {
  Path base{};                       // before the first component with a wildcard
  std::vector<std::string> parts{};  // from there on
};

Result<Pattern> split(std::string_view text) {
  if (!text.starts_with('/') || text.contains('\0'))
    return invalid("wildcard", in_quotes(text) + " is not an absolute path");
  Pattern pattern{.base = "/"};
  const Path whole = normalize(text);
  std::string_view rest = std::string_view(whole).substr(1);
  while (!rest.empty()) {
    const std::string_view part = take_field(rest, '/');
    if (has_wildcard(part)) TRY(check_wildcard(part));
    if (pattern.parts.empty() && !has_wildcard(part)) pattern.base = join(pattern.base, part);
    else pattern.parts.emplace_back(part);
  }
  return pattern;
}

bool matches(const std::string& part, std::string_view name) {
  if (name.starts_with('.') && !part.starts_with('.')) return false;
  return matches_wildcard(part, name);
}

// ENOENT, ENOTDIR and ELOOP mean no match. Other errors could hide matches, and a rule that
// silently misses a file is worse than an error.
bool means_no_match(const Error& error) {
  return error.errno_value == ENOENT || error.errno_value == ENOTDIR || error.errno_value == ELOOP;
}

enum class Wanted : std::uint8_t { anything, directory };

// Matches the pattern component by component, for every path matched so far, kept as relative
// paths: each is reopened below the base, so that deep patterns hold few descriptors.
class Search {
 public:
  Search(UniqueFd base, const Pattern& pattern, std::string_view text)
      : base_(std::move(base)), pattern_(pattern), text_(text) {}

  Result<std::vector<Path>> run() {
    std::vector<std::string> found{""};
    for (const std::string& part : pattern_.parts) {
      const Wanted wanted = &part == &pattern_.parts.back() ? Wanted::anything : Wanted::directory;
      std::vector<std::string> next;
      for (const std::string& directory : found) {
        if (has_wildcard(part)) TRY(add_matches(directory, part, wanted, next));
        else TRY(add_if_there(directory, part, next));
      }
      found = std::move(next);
    }
    if (found.size() > kMostMatches) return too_many("matches more than 1000 paths");
    std::vector<Path> paths;
    paths.reserve(found.size());
    for (const std::string& relative : found) paths.push_back(join(pattern_.base, relative));
    std::ranges::sort(paths);
    return paths;
  }

 private:
  Result<void> add_matches(const std::string& directory, const std::string& part, Wanted wanted,
                           std::vector<std::string>& found) {
    Result<UniqueFd> opened =
        open_beneath(base_.get(), directory.empty() ? "." : directory, O_RDONLY | O_DIRECTORY);
    if (!opened) return unless_no_match(opened.error(), directory);
    const Result<void> read =
        for_each_entry(opened->get(), *buffer_, [&](std::string_view name, unsigned char type) {
          if (++entries_ > kMostEntries) return Next::stop;
          // Some file systems report DT_UNKNOWN; opening it decides.
          const bool may_be = wanted == Wanted::anything || type == DT_DIR || type == DT_UNKNOWN;
          if (may_be && matches(part, name)) found.push_back(below(directory, name));
          return Next::go_on;
        });
    if (!read) return system_error_of(read.error().errno_value, "read", shown(directory));
    if (entries_ > kMostEntries) return too_many("has more than 10000 names to compare with");
    return {};
  }

  Result<void> add_if_there(const std::string& directory, const std::string& part,
                            std::vector<std::string>& found) const {
    std::string path = below(directory, part);
    const Result<UniqueFd> opened = open_beneath(base_.get(), path, O_PATH | O_NOFOLLOW);
    if (!opened) return unless_no_match(opened.error(), path);
    found.push_back(std::move(path));
    return {};
  }

  Result<void> unless_no_match(const Error& error, const std::string& relative) const {
    if (means_no_match(error)) return {};
    return system_error_of(error.errno_value, "open", shown(relative));
  }

  std::unexpected<Error> too_many(std::string_view why) const {
    return invalid("wildcard", in_quotes(text_) + " " + std::string(why),
                   "name the directory itself");
  }

  static std::string below(const std::string& directory, std::string_view name) {
    return directory.empty() ? std::string(name) : join(directory, name);
  }

  std::string shown(const std::string& relative) const {
    return printable(join(pattern_.base, relative));
  }

  UniqueFd base_;
  const Pattern& pattern_;
  std::string_view text_;
  std::unique_ptr<EntryBuffer> buffer_ = make_entry_buffer();
  std::size_t entries_ = 0;
};

}  // namespace

Result<std::vector<Path>> glob(std::string_view pattern) {
  const Pattern parts = TRY(split(pattern));
  if (parts.parts.empty()) {
    struct stat status{};
    if (::lstat(parts.base.c_str(), &status) == 0) return std::vector{parts.base};
    if (errno == ENOENT || errno == ENOTDIR) return std::vector<Path>{};
    return system_error("lstat", printable(parts.base));
  }
  Result<UniqueFd> base = open_file(parts.base, O_PATH | O_DIRECTORY);
  if (!base && (base.error().errno_value == ENOENT || base.error().errno_value == ENOTDIR))
    return std::vector<Path>{};
  if (!base) return system_error_of(base.error().errno_value, "open", printable(parts.base));
  return Search(std::move(*base), parts, pattern).run();
}

}  // namespace coop::host
