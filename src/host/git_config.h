// Git's configuration format. A parser only, fuzzed: the text may come from inside a sandbox.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace coop::host {

struct GitSetting {
  std::string section{};                    // lower case: "core", "includeif"
  std::optional<std::string> subsection{};  // as written: "gitdir:~/work/"
  std::string key{};                        // lower case: "hookspath"
  std::optional<std::string> value{};       // nothing for a key alone, which git takes as "true"
};

enum class Syntax { good, malformed };

// Calls `visit` for each setting in its order, up to the first mistake. Git refuses a malformed file
// as a whole; what stands before the mistake is told all the same, for who would rather know too
// much. Memory and time are those of the text.
Syntax for_each_setting(std::string_view text, const std::function<void(const GitSetting&)>& visit);

}  // namespace coop::host
