#include <algorithm>
#include <optional>

#include "host/probe.h"
#include "host/text.h"
#include "sys/fd.h"

namespace coop::host {
namespace {

bool is_octal(char digit) { return digit >= '0' && digit <= '7'; }

// The kernel writes space, tab, newline and backslash as \ooo. Anything else stays as it is.
std::string unescape(std::string_view text) {
  if (!text.contains('\\')) return std::string(text);
  std::string result;
  result.reserve(text.size());
  for (std::size_t index = 0; index < text.size();) {
    const std::string_view rest = text.substr(index);
    const bool escape = rest.size() >= 4 && rest[0] == '\\' && rest[1] >= '0' && rest[1] <= '3' &&
                        is_octal(rest[2]) && is_octal(rest[3]);
    if (!escape) {
      result += text[index++];
      continue;
    }
    result += static_cast<char>((rest[1] - '0') * 64 + (rest[2] - '0') * 8 + (rest[3] - '0'));
    index += 4;
  }
  return result;
}

bool has_option(std::string_view options, std::string_view wanted) {
  while (!options.empty())
    if (take_field(options, ',') == wanted) return true;
  return false;
}

// 36 35 98:0 /root /target rw,noatime master:1 - ext3 /dev/sda1 rw,errors=continue
std::optional<MountFact> parse_line(std::string_view line) {
  take_field(line, ' ');
  take_field(line, ' ');
  const std::string_view device = take_field(line, ' ');
  const std::string_view root = take_field(line, ' ');
  const std::string_view target = take_field(line, ' ');
  const std::string_view options = take_field(line, ' ');
  if (device.empty() || root.empty() || !target.starts_with('/') || options.empty())
    return std::nullopt;

  while (!line.empty() && take_field(line, ' ') != "-") continue;
  const std::string_view type = take_field(line, ' ');
  // The source may be empty: two spaces follow each other then.
  const std::string_view source = take_field(line, ' ');
  if (type.empty() || line.empty()) return std::nullopt;

  return MountFact{.device = std::string(device),
                   .root = unescape(root),
                   .target = unescape(target),
                   .type = unescape(type),
                   .source = unescape(source),
                   .read_only = has_option(options, "ro") || has_option(line, "ro")};
}

}  // namespace

std::vector<MountFact> parse_mountinfo(std::string_view text) {
  std::vector<MountFact> mounts;
  mounts.reserve(static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1);
  while (const auto line = take_line(text))
    if (std::optional<MountFact> mount = parse_line(*line)) mounts.push_back(std::move(*mount));
  return mounts;
}

Result<void> inspect_mounts(HostFacts& facts) {
  const std::string text = TRY(read_file("/proc/self/mountinfo"));
  facts.mounts = parse_mountinfo(text);
  return {};
}

}  // namespace coop::host
