// Git's configuration format, and the paths in it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "guards/git/config.h"
#include "guards/git/settings.h"

namespace {

bool has_capital(std::string_view text) {
  for (const char letter : text)
    if (letter >= 'A' && letter <= 'Z') return true;
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coop::guards;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::size_t read = 0;
  for_each_setting(text, [&](const GitSetting& setting) {
    if (setting.key.empty() || has_capital(setting.key) || has_capital(setting.section))
      std::abort();
    ++read;
    if (!setting.value) return;
    if (setting.value->find('\0') != std::string::npos) std::abort();
    if (setting.value->size() > size) std::abort();
    const coop::Path path = expand_setting(*setting.value, "/base", "/home/ann");
    if (!path.empty() && !path.starts_with('/')) std::abort();
  });
  if (read > size) std::abort();

  // A setting behind any text without a mistake is found.
  std::size_t again = 0;
  if (for_each_setting(text, [](const GitSetting&) {}) == Syntax::malformed) return 0;
  std::string longer(text);
  longer += "\n\n[core]\nhooksPath = here\n";
  for_each_setting(longer, [&](const GitSetting& setting) {
    again += setting.section == "core" && setting.value == "here" ? 1 : 0;
  });
  if (again == 0) std::abort();
  return 0;
}
