#include "setup/toml/toml_edit.h"

#include <algorithm>
#include <optional>
#include <span>

#include "base/path.h"
#include "policy/settings/document.h"
#include "setup/edit.h"
#include "setup/toml/toml_scan.h"
#include "setup/toml/toml_value.h"

namespace coop::setup {

namespace {

using Names = std::span<const std::string>;

Result<Json> meaning_of(std::string_view text) {
  const auto document = policy::parse_document(text, "");
  if (document) return json_of(*document);
  const policy::Finding& finding = document.error();
  return invalid(
      "line " + std::to_string(finding.at.line) + ", column " + std::to_string(finding.at.column),
      finding.message);
}

const Json* find_in(const Json& root, Names path) {
  const Json* at = &root;
  for (const std::string& name : path) {
    if (!at->is_object() || !at->contains(name)) return nullptr;
    at = &at->at(name);
  }
  return at;
}

bool is_the_same(Names one, Names other) { return std::ranges::equal(one, other); }
bool begins_with(Names path, Names front) {
  return path.size() >= front.size() && is_the_same(path.first(front.size()), front);
}

const Statement* find_value(const std::vector<Statement>& statements, Names path) {
  for (const Statement& statement : statements)
    if (statement.kind == StatementKind::value && !statement.in_list &&
        is_the_same(statement.path, path))
      return &statement;
  return nullptr;
}

std::unexpected<Error> cannot(const Change& change) {
  return invalid(
      "",
      "\"" + printable(path_text(change.path)) + "\" is written in a way that coop cannot change",
      "change it by hand");
}

// --- Where a new value goes --------------------------------------------------------------------

struct Place {
  std::size_t at = 0;
  std::string text{};
};

// A line of its own behind `line`, which may be the last of the file without an end.
Place behind(std::string_view text, const Statement& before, const std::string& line) {
  const bool has_end = before.line.end > 0 && text[before.line.end - 1] == '\n';
  const std::string blanks = indentation_at(text, text.find_first_not_of(" \t", before.line.begin));
  return {before.line.end, (has_end ? "" : "\n") + blanks + line + (has_end ? "\n" : "")};
}

std::optional<Place> in_table(std::string_view text, const std::vector<Statement>& statements,
                              Names table, const std::string& line) {
  const auto header = std::ranges::find_if(statements, [&](const Statement& statement) {
    return statement.kind == StatementKind::table && !statement.in_list &&
           is_the_same(statement.path, table);
  });
  if (header == statements.end()) return std::nullopt;
  auto last = header;
  while (std::next(last) != statements.end() && std::next(last)->kind == StatementKind::value)
    ++last;
  return behind(text, *last, line);
}

// `features.x = true` among the first statements of the file or of a table: ours goes behind, written the same way.
std::optional<Place> among_dotted(std::string_view text, const std::vector<Statement>& statements,
                                  Names path, const std::string& value) {
  const Names table = path.first(path.size() - 1);
  const Statement* last = nullptr;
  for (const Statement& statement : statements)
    if (statement.kind == StatementKind::value && !statement.in_list &&
        statement.table < table.size() && begins_with(statement.path, table) &&
        statement.path.size() > table.size())
      last = &statement;
  if (last == nullptr) return std::nullopt;
  return behind(text, *last, key_text(path.subspan(last->table)) + " = " + value);
}

// `features = { x = true }`: as its last item.
std::optional<Place> in_inline_table(std::string_view text, const Statement* table,
                                     const std::string& line) {
  if (table == nullptr || text[table->value.begin] != '{') return std::nullopt;
  const std::size_t close = table->value.end - 1;
  const std::size_t last = text.find_last_not_of(" \t\r\n", close - 1);
  const bool is_empty = text[last] == '{';
  return Place{last + 1,
               (is_empty ? " " : ", ") + line + (is_empty && last + 1 == close ? " " : "")};
}

// Before the first table: at the top, or behind the last value there.
Place at_the_top(std::string_view text, const std::vector<Statement>& statements,
                 const std::string& line) {
  const Statement* last = nullptr;
  for (const Statement& statement : statements) {
    if (statement.kind != StatementKind::value) break;
    last = &statement;
  }
  if (last != nullptr) return behind(text, *last, line);
  return {0, line + "\n" + (text.empty() ? "" : "\n")};
}

Place at_the_end(std::string_view text, Names table, const std::string& line) {
  const std::string gap = text.empty()             ? ""
                          : text.ends_with("\n\n") ? ""
                          : text.ends_with('\n')   ? "\n"
                                                   : "\n\n";
  return {text.size(), gap + "[" + key_text(table) + "]\n" + line + "\n"};
}

Place place_for(std::string_view text, const Change& change) {
  const std::vector<Statement> statements = scan_toml(text);
  const Names path = change.path;
  const Names table = path.first(path.size() - 1);
  const std::string value = value_text(change.value);
  const std::string line = key_text(path.last(1)) + " = " + value;
  if (table.empty()) return at_the_top(text, statements, line);
  if (auto place = in_table(text, statements, table, line)) return *place;
  if (auto place = in_inline_table(text, find_value(statements, table), line)) return *place;
  if (auto place = among_dotted(text, statements, path, value)) return *place;
  return at_the_end(text, table, line);
}

// --- Edits, with the check that nothing else has changed its meaning ---------------------------

Result<Edited> finish(std::string_view text, const Replacement& replacement, Done done,
                      Json expected) {
  Json* at = &expected;
  for (const std::string& name : done.change.path) {
    if (!at->is_object() && !at->is_null()) return cannot(done.change);
    at = &(*at)[name];
  }
  *at = done.change.value;
  Edited edited{.text = replaced(text, replacement)};
  const Result<Json> now = meaning_of(edited.text);
  if (!now || !is_alike(*now, expected)) return cannot(done.change);
  const std::vector<Statement> statements = scan_toml(edited.text);
  const Statement* value = find_value(statements, done.change.path);
  // In an inline table the value has no statement of its own.
  done.value_at = value == nullptr ? 0 : value->value.begin - replacement.span.begin;
  done.removed = piece(text, replacement.span);
  done.inserted = replacement.text;
  edited.done.push_back(std::move(done));
  return edited;
}

// The line of the value, and the header that was made for it if nothing is below that any more.
std::string without_lines(std::string_view text, const std::vector<Statement>& statements,
                          const Statement& value, const Done& done) {
  Span span = value.line;
  const auto at = static_cast<std::size_t>(&value - statements.data());
  const bool has_header =
      at > 0 && done.made > 0 && statements[at - 1].kind == StatementKind::table &&
      is_the_same(statements[at - 1].path, Names(value.path).first(value.table));
  const bool is_last =
      at + 1 == statements.size() || statements[at + 1].kind != StatementKind::value;
  if (has_header && is_last) span.begin = statements[at - 1].line.begin;
  return replaced(text, {span, ""});
}

bool is_without(const Json& now, Json before, Names path) {
  Json* table = &before;
  for (const std::string& name : path.first(path.size() - 1)) table = &(*table)[name];
  table->erase(path.back());
  if (is_alike(now, before)) return true;
  // The tables that have become empty may be gone too.
  for (std::size_t size = path.size() - 1; size > 0; --size) {
    Json* outer = &before;
    for (const std::string& name : path.first(size - 1)) outer = &(*outer)[name];
    if (!(*outer)[path[size - 1]].empty()) return false;
    outer->erase(path[size - 1]);
    if (is_alike(now, before)) return true;
  }
  return false;
}

// Of the statement that says most of the path: in an inline table the value has none of its own.
std::size_t line_of(std::string_view text, const std::vector<Statement>& statements, Names path) {
  const Statement* best = nullptr;
  for (const Statement& statement : statements)
    if (begins_with(path, statement.path) &&
        (best == nullptr || statement.path.size() > best->path.size()))
      best = &statement;
  if (best == nullptr) return 0;
  // Blank lines and comments before it may belong to its line.
  const std::size_t begin =
      best->kind == StatementKind::value ? best->value.begin : best->line.begin;
  return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, begin), '\n'));
}

void collect(const Json& at, Names pattern, std::vector<std::string>& path,
             std::vector<TomlPlace>& found) {
  if (pattern.empty()) {
    found.push_back({.path = path, .value = at});
    return;
  }
  if (!at.is_object()) return;
  for (const auto& [name, value] : at.items()) {
    if (pattern.front() != "*" && pattern.front() != name) continue;
    path.push_back(name);
    collect(value, pattern.subspan(1), path, found);
    path.pop_back();
  }
}

std::optional<std::string> exactly_back(std::string_view text, std::size_t value,
                                        const Done& done) {
  if (value < done.value_at) return std::nullopt;
  const std::size_t begin = value - done.value_at;
  if (!text.substr(begin).starts_with(done.inserted)) return std::nullopt;
  return replaced(text, {{begin, begin + done.inserted.size()}, done.removed});
}

}  // namespace

Result<void> check_toml(std::string_view text) {
  TRY(meaning_of(text));
  return {};
}

Result<Edited> edit_toml(std::string_view text, const Change& change) {
  Json before = TRY(meaning_of(text));
  if (change.kind != ChangeKind::set || change.value.is_object()) return cannot(change);
  const Json* old = find_in(before, change.path);
  if (old != nullptr && *old == change.value) return Edited{.text = std::string(text)};
  if (old != nullptr) {
    const std::vector<Statement> statements = scan_toml(text);
    const Statement* value = find_value(statements, change.path);
    if (value == nullptr || old->is_object()) return cannot(change);
    return finish(text, {value->value, value_text(change.value)},
                  {.change = change, .replaced = true}, std::move(before));
  }
  const Place place = place_for(text, change);
  const std::size_t made = place.text.contains('[') && place.at == text.size() ? 1 : 0;
  return finish(text, {{place.at, place.at}, place.text}, {.change = change, .made = made},
                std::move(before));
}

Result<Undone> undo_toml(std::string_view text, const Done& done) {
  const Json before = TRY(meaning_of(text));
  const Json* old = find_in(before, done.change.path);
  if (old == nullptr) return Undone{std::string(text), Undoing::gone};
  if (*old != done.change.value) return Undone{std::string(text), Undoing::changed};
  const std::vector<Statement> statements = scan_toml(text);
  const Statement* value = find_value(statements, done.change.path);
  std::optional<std::string> result;
  if (value != nullptr && done.replaced) {
    // A record that another program has written could hold more than one value.
    const Result<Json> old = meaning_of("value = " + done.removed + "\n");
    result = replaced(text, {value->value, done.removed});
    const Result<Json> now = meaning_of(*result);
    if (!old || old->size() != 1 || !now) return cannot(done.change);
    Json expected = before;
    Json* at = &expected;
    for (const std::string& name : done.change.path) at = &(*at)[name];
    *at = old->at("value");
    if (!is_alike(*now, expected)) return cannot(done.change);
    return Undone{std::move(*result), Undoing::taken_back};
  }
  const auto is_right = [&](const std::optional<std::string>& candidate) {
    const Result<Json> now = candidate ? meaning_of(*candidate) : cannot(done.change);
    return now && is_without(*now, before, done.change.path);
  };
  if (value != nullptr) {
    result = exactly_back(text, value->value.begin, done);
    if (!is_right(result)) result = without_lines(text, statements, *value, done);
  } else if (const std::size_t at = text.find(done.inserted); at != std::string_view::npos) {
    result = exactly_back(text, at, done);  // in an inline table
  }
  if (!is_right(result)) return cannot(done.change);
  return Undone{std::move(*result), Undoing::taken_back};
}

std::vector<TomlPlace> find_toml(std::string_view text, std::span<const std::string> pattern) {
  std::vector<TomlPlace> found;
  const Result<Json> document = meaning_of(text);
  if (!document) return found;
  std::vector<std::string> path;
  collect(*document, pattern, path, found);
  const std::vector<Statement> statements = scan_toml(text);
  for (TomlPlace& place : found) place.line = line_of(text, statements, place.path);
  return found;
}

bool toml_says_nothing(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace coop::setup
