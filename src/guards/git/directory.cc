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

bool has_token(std::string_view text) {
  const auto names_user = [](std::string_view url) {
    const std::size_t at = url.find("://");
    if (at == std::string_view::npos || !url.starts_with("http")) return false;
    const std::string_view rest = url.substr(at + 3);
    return rest.substr(0, rest.find('/')).contains('@');
  };
  bool found = false;
  const Syntax syntax = for_each_setting(text, [&](const GitSetting& setting) {
    found = found || names_user(setting.value.value_or("")) ||
            names_user(setting.subsection.value_or("")) || setting.key == "extraheader";
  });
  return found || syntax != Syntax::good;
}

}  // namespace coop::guards
