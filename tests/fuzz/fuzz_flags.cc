// The command line, one word per line of the input: never crashes, never drops a rule or a word.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "../unit/support/run_options.h"

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
  // The command is the unchanged end of the input.
  const auto& command = options->command;
  if (command.size() > words.size() ||
      !std::equal(command.rbegin(), command.rend(), words.rbegin()))
    std::abort();
  const coop::request::Wanted& wanted = options->wanted;
  for (const coop::PathRule& rule : wanted.unkeyed.rules)
    if (rule.path.empty() || rule.origin.flag.empty()) std::abort();
  // The host's network needs two flags.
  const auto mode = wanted.flags.find(coop::policy::Key::network);
  if (mode != wanted.flags.end() && mode->second.value == coop::policy::Scalar("host") &&
      !wanted.flags.contains(coop::policy::Key::unsafe_grants))
    std::abort();
  return 0;
}
