// Policy files and [sandbox] tables: settings without errors are written and read back the same,
// and every error is reported.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "policy/settings/settings.h"

namespace {

using namespace coop::policy;

Settings without_origins(Settings settings) {
  for (auto& [key, setting] : settings) {
    setting.origin = {};
    for (Item& item : setting.items) item.origin = {};
  }
  return settings;
}

void check(std::string_view text, Shape shape) {
  const Source source{.file = "p.toml",
                      .shape = shape,
                      .surroundings = {.home = "/home/ann",
                                       .environment = {{"A", "/a"}, {"B", "b*"}, {"C", "/$A/~"}},
                                       .base = "/base"}};
  Findings findings;
  const Settings settings = read_policy(text, source, findings);
  for (const Finding& finding : findings) {
    if (finding.message.empty() || finding.check.empty() || finding.file != "p.toml") std::abort();
    // No terminal control characters come out of a file.
    if (finding.message.find_first_of("\x1b\n\r\a\b") != std::string::npos) std::abort();
  }
  for (const auto& [key, setting] : settings)
    for (const Item& item : setting.items)
      if (info(key).type == KeyType::paths &&
          (!item.path.starts_with('/') || (item.path + "/").find("/../") != std::string::npos))
        std::abort();
  if (has_errors(findings)) return;

  Findings again;
  const Settings second = read_policy(to_toml(settings), source, again);
  if (!again.empty() || without_origins(second) != without_origins(settings)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const Shape shape : {Shape::policy_file, Shape::config, Shape::override}) check(text, shape);
  return 0;
}
