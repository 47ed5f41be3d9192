#include "cli/plain_flags.h"

#include <algorithm>

#include "base/nearest.h"
#include "base/path.h"

namespace coop::cli {

namespace {

const PlainFlag* find(std::span<const PlainFlag> known, std::string_view name) {
  const auto found = std::ranges::find(known, name, &PlainFlag::name);
  return found == known.end() ? nullptr : &*found;
}

std::string suggestion(std::string_view command, std::string_view name,
                       std::span<const PlainFlag> known) {
  std::vector<std::string_view> names{"--help"};
  for (const PlainFlag& flag : known) names.push_back(flag.name);
  const std::string_view near = nearest(name, names);
  return near.empty() ? "see `coop " + std::string(command) + " --help`"
                      : "did you mean " + std::string(near) + "?";
}

}  // namespace

Result<PlainFlags> parse_plain(std::string_view command, std::span<const std::string> arguments,
                               std::span<const PlainFlag> known, std::size_t words) {
  PlainFlags parsed;
  bool only_words = false;
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    const std::string& word = arguments[index];
    if (!only_words && word == "--") {
      only_words = true;
      continue;
    }
    if (only_words || word == "-" || !word.starts_with('-')) {
      parsed.words.push_back(word);
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string name = word == "-h" ? "--help" : word.substr(0, equals);
    const PlainFlag* flag = find(known, name);
    if (flag == nullptr && name != "--help")
      return invalid(std::string(command), "unknown flag " + printable(name),
                     suggestion(command, name, known));
    std::string value;
    if (flag == nullptr || flag->value.empty()) {
      if (equals != std::string::npos) return invalid(name, "takes no value");
    } else if (equals != std::string::npos) {
      value = word.substr(equals + 1);
    } else if (index + 1 < arguments.size()) {
      value = arguments[++index];
    } else {
      return invalid(name, "needs a value: " + std::string(flag->value));
    }
    const bool has_value = flag != nullptr && !flag->value.empty();
    parsed.given.push_back({name, has_value ? std::optional(value) : std::nullopt});
    parsed.values[name] = std::move(value);
  }
  if (parsed.words.size() > words && !parsed.has("--help"))
    return invalid(std::string(command),
                   "one word too many: \"" + printable(parsed.words[words]) + "\"",
                   "see `coop " + std::string(command) + " --help`");
  return parsed;
}

}  // namespace coop::cli
