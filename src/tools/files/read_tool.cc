#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/base64.h"
#include "base/path.h"
#include "base/quantity.h"
#include "tools/files/file_tools.h"
#include "tools/files/path_form.h"
#include "tools/mime_type.h"
#include "tools/shown.h"
#include "tools/values.h"

namespace coop::tools {

namespace {

constexpr std::int64_t kMostLines = 2000;
// Larger files are not for a conversation.
constexpr std::size_t kMostBinary = std::size_t{10} << 20;
// A sparse file costs nothing to create and hours to read.
constexpr std::size_t kMostSkipped = std::size_t{256} << 20;

struct Extract {
  std::string text{};
  std::size_t shown = 0;  // its size as the model sees it
  std::int64_t lines = 0;
  std::int64_t seen = 0;  // line ends passed, those before the first wanted line too
  bool cut = false;
  bool binary = false;
  bool too_far = false;
};

// Takes the wanted lines from one piece; false when done.
bool take(Extract& extract, std::string_view piece, std::int64_t first, std::int64_t limit) {
  while (!piece.empty()) {
    const std::size_t end = std::min(piece.find('\n'), piece.size());
    const bool whole = end < piece.size();
    const std::string_view line = piece.substr(0, whole ? end + 1 : end);
    if (extract.seen + 1 >= first) {
      const std::size_t size = json_characters_of(line);
      const bool full = extract.lines >= limit || extract.shown + size > kMostShownText;
      if (full) {
        // A line may be longer than the limit: show its beginning.
        if (extract.lines < limit)
          extract.text += beginning_of(line, kMostShownText - extract.shown, json_characters_of);
        extract.cut = true;
        return false;
      }
      extract.text += line;
      extract.shown += size;
      if (whole) ++extract.lines;
    }
    if (whole) ++extract.seen;
    piece.remove_prefix(line.size());
  }
  return true;
}

Result<Extract> extract_lines(const OpenedFile& file, std::int64_t first, std::int64_t limit) {
  Extract extract;
  std::array<char, 65536> buffer;
  for (std::size_t total = 0;;) {
    const ssize_t count = ::read(file.fd.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("read", printable(file.shown));
    if (count == 0) return extract;
    const std::string_view piece(buffer.data(), static_cast<std::size_t>(count));
    extract.binary = total == 0 && looks_binary(piece);
    total += piece.size();
    extract.too_far = total > kMostSkipped;
    if (extract.binary || extract.too_far || !take(extract, piece, first, limit)) return extract;
  }
}

// What the file is; its bytes, which clients get as an image or a blob, unless there are too many.
Result<void> describe_binary(const OpenedFile& file, ToolOutput& output) {
  const auto size = static_cast<std::uint64_t>(file.status.st_size);
  if (::lseek(file.fd.get(), 0, SEEK_SET) < 0) return system_error("lseek", printable(file.shown));
  const std::string bytes = TRY(read_at_most(file.fd.get(), kMostBinary, file.shown));
  const std::string_view type = mime_type_of(file.shown, bytes);
  output.text = printable(file.shown) + " is " +
                (is_seen_as_image(type) ? "an image" : "a binary file") + " of " +
                format_size(size) + " (" + std::to_string(size) + " bytes, " + std::string(type) +
                ")";
  output.structured["binary"] = true;
  output.structured["mime_type"] = type;
  if (bytes.size() <= kMostBinary) output.structured["data"] = base64(bytes);
  else output.text += "; its bytes are left out, being over 10 MB";
  return {};
}

Result<ToolOutput> read(const FileView& view, const Json& arguments) {
  const OpenedFile file = TRY(view.open(text_or(arguments, "path", "")));
  if (S_ISDIR(file.status.st_mode))
    return invalid("read", in_quotes(file.shown) + " is a directory", "use list_files");
  const std::int64_t first = std::max<std::int64_t>(1, number_or(arguments, "offset", 1));
  const std::int64_t limit =
      std::clamp<std::int64_t>(number_or(arguments, "limit", kMostLines), 1, kMostLines);
  const Extract found = TRY(extract_lines(file, first, limit));
  if (found.too_far)
    return invalid("read", in_quotes(file.shown) + " is too large to read that far",
                   "only the first 256 MB of a file are read");
  const auto size = static_cast<std::uint64_t>(file.status.st_size);
  ToolOutput output;
  output.structured = {{"outcome", "ok"}, {"path", printable(file.shown)}, {"size", size}};
  if (found.binary) {
    TRY(describe_binary(file, output));
    return output;
  }
  output.text = as_utf8(found.text);
  // A line longer than the limit is skipped: its rest has no line number.
  const std::int64_t next = first + std::max<std::int64_t>(found.lines, found.cut ? 1 : 0);
  if (found.text.empty() && first > 1)
    output.text = "[there is no line " + std::to_string(first) + ": the file has " +
                  std::to_string(found.seen) + " line ends]";
  if (found.cut) {
    output.text += "\n[cut: " + std::to_string(found.lines) +
                   " whole lines are shown; go on with offset " + std::to_string(next) + "]";
    output.structured["next_offset"] = next;
  }
  output.structured["truncated"] = found.cut;
  return output;
}

}  // namespace

ToolOutput read_file(const FileView& view, const Json& arguments) {
  return answer(read(view, arguments));
}

}  // namespace coop::tools
