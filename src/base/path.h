// Absolute, normalised paths as plain strings: "/", "/a/b"; no trailing slash, no "." or "..".
// Purely textual: nothing here looks at a file system.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coop/path.h"

namespace coop {

// Makes `path` absolute against `base` (itself absolute) and removes "", "." and ".." textually.
Path normalize(std::string_view path, std::string_view base = "/");

// "/a" + "b/c" → "/a/b/c"; joining "" gives the first path back.
Path join(std::string_view directory, std::string_view name);

Path parent_of(std::string_view path);
std::string_view name_of(std::string_view path);

// True for the same path too: is_within("/a", "/a").
bool is_within(std::string_view path, std::string_view ancestor);

// The part of `path` below `ancestor`, without a leading slash; "" when they are equal.
std::string_view relative_to(std::string_view path, std::string_view ancestor);

// How many components: "/" has 0, "/a/b" has 2.
std::size_t depth_of(std::string_view path);

// Every ancestor from the one just below `top` down to the parent of `path`.
std::vector<Path> ancestors_below(std::string_view path, std::string_view top);

bool is_utf8(std::string_view text);

// Whether the character at the front of `text` (valid UTF-8) is invisible or changes the text
// direction: with such characters a name can read as another one.
bool is_deceptive(std::string_view text);

// Printable form for messages and listings: control bytes, deceptive characters and invalid UTF-8
// are escaped as \xNN, so that a hostile file name cannot control the reader's terminal.
std::string printable(std::string_view text);
// The same between quotation marks.
std::string in_quotes(std::string_view text);

}  // namespace coop
