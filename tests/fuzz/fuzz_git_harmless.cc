// What may stay of a repository that was made inside: its settings, and the state of a rebase.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "guards/git/harmless.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coop::guards;
  const std::string text(reinterpret_cast<const char*>(data), size);

  // A program behind any harmless text is seen.
  for (const ConfigFile file : {ConfigFile::repository, ConfigFile::worktree}) {
    if (judge_config(text, file).danger) continue;
    if (!judge_config(text + "\n[core]\nfsmonitor = x\n", file).danger) std::abort();
    if (!judge_config(text + "\n[include]\npath = x\n", file).danger) std::abort();
  }
  // What is harmless for one worktree is so for a repository.
  if (!judge_config(text, ConfigFile::worktree).danger &&
      judge_config(text, ConfigFile::repository).danger)
    std::abort();

  if (is_plain_remote(text)) {
    if (text.starts_with('-') || text.contains('\n') || text.contains('\0')) std::abort();
    if (is_plain_remote("ext::" + text) || is_plain_remote("ssh://-" + text)) std::abort();
  }

  const std::size_t found = programs_in_todo(text).size();
  if (programs_in_todo(text + "\nexec x\n").size() <= found) std::abort();
  if (programs_in_strategy(text).empty() && text.contains('/')) std::abort();
  if (programs_in_options(text + "\n[options]\nstrategy = /x\n").empty()) std::abort();
  if (programs_in_number(text).empty() && text.contains('$')) std::abort();
  if (programs_in_apply_options(text + " '--directory=x'").empty()) std::abort();
  return 0;
}
