#include "guards/git/directory.h"

#include "guards/git/config.h"

namespace coop::guards {

std::optional<std::string> parse_pointer(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  // git treats the text as a C string: it would not see what we check after a NUL.
  if (text.empty() || text.find('\0') != std::string_view::npos) return std::nullopt;
  return std::string(text);
}

std::optional<std::string> parse_gitfile(std::string_view text) {
  constexpr std::string_view kPrefix = "gitdir: ";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  return parse_pointer(text.substr(kPrefix.size()));
}

std::optional<std::string> config_value(std::string_view text, std::string_view section,
                                        std::string_view key) {
  std::optional<std::string> found;
  const Syntax syntax = for_each_setting(text, [&](const GitSetting& setting) {
    if (!setting.subsection && setting.section == section && setting.key == key)
      found = setting.value.value_or("");
  });
  return syntax == Syntax::good ? found : std::nullopt;
}

}  // namespace coop::guards
