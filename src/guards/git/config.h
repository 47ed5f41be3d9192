// Git's configuration format. A parser only, fuzzed: the text may come from inside a sandbox.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace coop::guards {

struct GitSetting {
  std::string section{};                    // lower case: "core", "includeif"
  std::optional<std::string> subsection{};  // as written: "gitdir:~/work/"
  std::string key{};                        // lower case: "hookspath"
  std::optional<std::string> value{};       // nothing for a key alone, which git takes as "true"
};

enum class Syntax { good, malformed };

// Calls `visit` for each setting in order, up to the first syntax error. Git refuses a malformed
// file as a whole; settings before the error are reported nevertheless, which errs on the safe
// side. Time and memory are linear in the text.
Syntax for_each_setting(std::string_view text, const std::function<void(const GitSetting&)>& visit);

}  // namespace coop::guards
