// Changes and their undoing, whatever the format of the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "setup/change.h"

namespace coop::setup {

enum class Format : std::uint8_t { json, toml };

// The text of a file that has nothing in it yet.
std::string_view empty_text(Format format);
// Whether nothing is left in it that a program would read. False for what cannot be parsed.
bool says_nothing(Format format, std::string_view text);

// Whether it can be read at all.
Result<void> check_syntax(Format format, std::string_view text);

// Errors name the line and the column; callers name the file.
Result<Edited> edit(Format format, std::string_view text, const Change& change);
Result<Undone> undo(Format format, std::string_view text, const Done& done);

// "permissions.deny"
std::string path_text(const std::vector<std::string>& path);

}  // namespace coop::setup
