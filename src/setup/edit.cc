#include "setup/edit.h"

#include "base/text.h"
#include "setup/json/json_edit.h"
#include "setup/toml/toml_edit.h"

namespace coop::setup {

std::string_view empty_text(Format format) { return format == Format::json ? "{}\n" : ""; }

bool says_nothing(Format format, std::string_view text) {
  return format == Format::json ? json_says_nothing(text) : toml_says_nothing(text);
}

Result<void> check_syntax(Format format, std::string_view text) {
  return format == Format::json ? check_json(text) : check_toml(text);
}

Result<Edited> edit(Format format, std::string_view text, const Change& change) {
  return format == Format::json ? edit_json(text, change) : edit_toml(text, change);
}

Result<Undone> undo(Format format, std::string_view text, const Done& done) {
  return format == Format::json ? undo_json(text, done) : undo_toml(text, done);
}

std::string path_text(const std::vector<std::string>& path) { return joined(path, "."); }

}  // namespace coop::setup
