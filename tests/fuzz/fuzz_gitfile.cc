// The texts that redirect git: a .git file, a pointer, a configuration.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/path.h"
#include "guards/git/directory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& target :
       {coop::guards::parse_gitfile(text), coop::guards::parse_pointer(text)}) {
    if (!target) continue;
    // What was accepted is a usable C string, and a path that normalising keeps absolute.
    if (target->empty() || target->find('\0') != std::string::npos) std::abort();
    if (!coop::normalize(*target, "/root/of/it").starts_with('/')) std::abort();
  }
  const auto worktree = coop::guards::config_value(text, "core", "worktree");
  if (worktree && worktree->find('\0') != std::string::npos) std::abort();

  // A value written in quotes comes back as it was.
  std::string quoted = "[core]\n\tworktree = \"";
  std::string plain;
  for (const char letter : text.substr(0, 256)) {
    if (letter == '\0' || letter == '\n') continue;
    if (letter == '"' || letter == '\\') quoted += '\\';
    quoted += letter;
    plain += letter;
  }
  if (coop::guards::config_value(quoted + "\"\n", "core", "worktree") != plain) std::abort();
  return 0;
}
