// The command line, one word per line of the input: never crashes, never drops a rule or a word.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const auto options = coop::cli::parse(words);
  if (!options) {
    if (coop::to_text(options.error()).empty()) std::abort();
    return 0;
  }
  // The command is the end of what was typed, unchanged.
  const auto& command = options->command;
  if (command.size() > words.size() ||
      !std::equal(command.rbegin(), command.rend(), words.rbegin()))
    std::abort();
  for (const coop::PathRule& rule : options->policy.rules)
    if (rule.path.empty() || rule.origin.empty()) std::abort();
  // Nobody gets the host's network by accident.
  if (options->policy.network == coop::NetworkMode::host && options->unsafe.empty()) std::abort();
  return 0;
}
