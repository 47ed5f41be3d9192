// Whether the text of a settings file looks like it holds a password or a token.
#pragma once

#include <string_view>

namespace coop::policy {

// A word such as "password" or "token" in any case, or a URL with a user in it. Comments (lines that start with # or ;, <!-- -->) do
// not count: the settings that tools are shipped with have examples in them. Errs towards "yes".
bool holds_credentials(std::string_view text);

}  // namespace coop::policy
