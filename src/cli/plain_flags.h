// The few flags of the commands that start no sandbox.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace coop::cli {

struct PlainFlag {
  std::string_view name;        // "--scope"
  std::string_view value = {};  // "SCOPE"; "" for a switch
};

// What the flags said; `--help` and `-h` are always known.
struct PlainFlags {
  std::map<std::string, std::string, std::less<>> values{};
  std::vector<std::string> words{};
  struct Given {
    std::string name{};
    std::optional<std::string> value{};
  };
  std::vector<Given> given{};  // as they came, repeated ones too

  bool has(std::string_view name) const { return values.contains(name); }
  std::string get(std::string_view name, std::string_view otherwise = {}) const {
    const auto found = values.find(name);
    return found == values.end() ? std::string(otherwise) : found->second;
  }
};

// Flags and words in any order; after "--" only words. At most `words` of those.
Result<PlainFlags> parse_plain(std::string_view command, std::span<const std::string> arguments,
                               std::span<const PlainFlag> known, std::size_t words);

}  // namespace coop::cli
