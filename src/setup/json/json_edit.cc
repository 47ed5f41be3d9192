#include "setup/json/json_edit.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "base/path.h"
#include "setup/json/json_style.h"

namespace coop::setup {

namespace {

using Names = std::span<const std::string>;

// The node that the most of `path` leads to, and how many names that were.
struct Reached {
  const JsonNode* node = nullptr;
  std::size_t names = 0;
};

Reached follow(const JsonNode& root, Names path) {
  Reached reached{&root, 0};
  for (const std::string& name : path) {
    const JsonNode* next = find_member(*reached.node, name);
    if (next == nullptr) break;
    reached = {next, reached.names + 1};
  }
  return reached;
}

std::unexpected<Error> wrong_kind(Names path, std::string_view wanted) {
  std::string name;
  for (const std::string& part : path) name += (name.empty() ? "" : ".") + part;
  return invalid("", (name.empty() ? "the file" : "\"" + printable(name) + "\"") + " is not " +
                         std::string(wanted));
}

Json* find_in(Json& root, Names path) {
  Json* at = &root;
  for (const std::string& name : path) {
    if (!at->is_object() || !at->contains(name)) return nullptr;
    at = &(*at)[name];
  }
  return at;
}

Json with_change(Json root, const Change& change) {
  Json* at = &root;
  for (const std::string& name : change.path) at = &(*at)[name];
  if (change.kind == ChangeKind::set) *at = change.value;
  else at->push_back(change.value);
  return root;
}

// What the objects and lists that are still missing look like with the value in them.
Json wrapped(const Change& change, Names missing) {
  Json value = change.kind == ChangeKind::add ? Json::array({change.value}) : change.value;
  for (auto name = missing.rbegin(); name != missing.rend(); ++name) {
    Json outer = Json::object();
    outer[*name] = std::move(value);
    value = std::move(outer);
  }
  return value;
}

const JsonNode* find_item(const JsonNode& list, std::string_view text, const Json& value) {
  const JsonNode* found = nullptr;
  for (const JsonNode& item : list.items)
    if (json_of(item, text) == value) found = &item;
  return found;
}

// Where the value of `change` is; null if it is not there. Of an item, one that is like it.
const JsonNode* find_value(const JsonNode& root, std::string_view text, const Change& change) {
  const Reached reached = follow(root, change.path);
  if (reached.names < change.path.size()) return nullptr;
  if (change.kind == ChangeKind::set) return reached.node;
  return reached.node->kind == JsonKind::list ? find_item(*reached.node, text, change.value)
                                              : nullptr;
}

// Nothing but what was meant has another meaning now: the one check that every edit passes.
Result<JsonNode> checked(const std::string& result, const Json& expected) {
  JsonNode root = TRY(with_context("the changed text", scan_json(result)));
  if (json_of(root, result) == expected) return root;
  return invalid("", "it is written in a way that coop cannot change", "change it by hand");
}

Result<Edited> finish(std::string_view text, const Replacement& replacement, Done done,
                      const Json& expected) {
  Edited edited{.text = replaced(text, replacement)};
  const JsonNode root = TRY(checked(edited.text, expected));
  const JsonNode* value = find_value(root, edited.text, done.change);
  done.removed = piece(text, replacement.span);
  done.inserted = replacement.text;
  done.value_at = value->span.begin - replacement.span.begin;
  edited.done.push_back(std::move(done));
  return edited;
}

Result<Edited> replace_value(std::string_view text, const JsonNode& root, const JsonNode& old,
                             const Change& change) {
  const JsonStyle style = style_of(text, root);
  const std::string indentation = indentation_at(text, old.member.begin);
  return finish(text, {old.span, written(change.value, style, indentation)},
                {.change = change, .replaced = true}, with_change(json_of(root, text), change));
}

Result<Edited> insert_value(std::string_view text, const JsonNode& root, const Reached& reached,
                            const Change& change) {
  const bool is_item = reached.names == change.path.size();  // of a list that is there
  const Names missing = Names(change.path).subspan(reached.names);
  const JsonKind wanted = is_item ? JsonKind::list : JsonKind::object;
  if (reached.node->kind != wanted)
    return wrong_kind(Names(change.path).first(reached.names), is_item ? "a list" : "an object");
  const std::string name = is_item ? "" : Json(missing.front()).dump() + ": ";
  const Json value = is_item ? change.value : wrapped(change, missing.subspan(1));
  const std::size_t made = is_item ? 0 : missing.size() - (change.kind == ChangeKind::add ? 0 : 1);
  return finish(text, insertion(text, *reached.node, style_of(text, root), name, value),
                {.change = change, .made = made}, with_change(json_of(root, text), change));
}

// --- Taking back -------------------------------------------------------------------------------

// With and without the blanks before it: those may belong to a comment.
std::optional<std::string> without_item(std::string_view text, const JsonNode& container,
                                        const JsonNode& item, const Json& expected) {
  const std::size_t next = skip_blanks(text, item.member.end);
  std::size_t comma = text[next] == ',' ? next : std::string_view::npos;
  const auto place = static_cast<std::size_t>(&item - container.items.data());
  if (comma == std::string_view::npos && place > 0)
    comma = skip_blanks(text, container.items[place - 1].member.end);
  const std::size_t blanks = text.find_last_not_of(" \t\r\n", item.member.begin - 1) + 1;
  for (const std::size_t begin : {blanks, item.member.begin}) {
    std::string result;
    for (std::size_t at = 0; at < text.size(); ++at)
      if (at != comma && (at < begin || at >= item.member.end)) result += text[at];
    if (checked(result, expected)) return result;
  }
  return std::nullopt;
}

// An object or list of the file, by the names that lead to it, without one of its items.
Result<std::string> remove_from(std::string_view text, const JsonNode& root, Names path,
                                const JsonNode& item, Json expected) {
  const Reached reached = follow(root, path);
  Json* container = find_in(expected, path);
  if (container->is_object()) container->erase(item.key);
  else container->erase(static_cast<std::size_t>(&item - reached.node->items.data()));
  const std::optional<std::string> result = without_item(text, *reached.node, item, expected);
  if (result) return *result;
  return invalid("", "it is written in a way that coop cannot change", "change it by hand");
}

Result<std::string> remove_value(std::string_view text, const JsonNode& root, const Done& done) {
  const JsonNode* value = find_value(root, text, done.change);
  Names path = done.change.path;
  if (done.change.kind == ChangeKind::set) path = path.first(path.size() - 1);
  std::string result = TRY(remove_from(text, root, path, *value, json_of(root, text)));
  for (std::size_t made = done.made; made > 0 && !path.empty(); --made) {
    const JsonNode now = TRY(scan_json(result));
    const Reached emptied = follow(now, path);
    if (!emptied.node->items.empty()) break;
    path = path.first(path.size() - 1);
    result = TRY(remove_from(result, now, path, *emptied.node, json_of(now, result)));
  }
  return result;
}

// What the file means without the value, and without the objects and lists that were made for it.
Json meaning_without(Json root, const Done& done) {
  Names path = done.change.path;
  if (done.change.kind == ChangeKind::add) {
    Json* list = find_in(root, path);
    for (std::size_t at = list->size(); at-- > 0;)
      if ((*list)[at] == done.change.value) {
        list->erase(at);
        break;
      }
  } else {
    find_in(root, path.first(path.size() - 1))->erase(path.back());
    path = path.first(path.size() - 1);
  }
  for (std::size_t made = done.made; made > 0 && !path.empty(); --made) {
    if (!find_in(root, path)->empty()) break;
    const std::string& name = path.back();
    path = path.first(path.size() - 1);
    find_in(root, path)->erase(name);
  }
  return root;
}

// The old value again. A record that another program has written could hold more than one value.
Result<Undone> old_value_back(std::string_view text, const JsonNode& root, const JsonNode& value,
                              const Done& done) {
  const JsonNode old = TRY(with_context("the recorded value", scan_json(done.removed)));
  Change back = done.change;
  back.value = json_of(old, done.removed);
  std::string result = replaced(text, {value.span, done.removed});
  TRY(checked(result, with_change(json_of(root, text), back)));
  return Undone{std::move(result), Undoing::taken_back};
}

// The text as it was, when what the edit inserted still stands there letter by letter. Of a record that another program has
// written, that could be more than the value.
std::optional<std::string> exactly_back(std::string_view text, const JsonNode& root,
                                        const JsonNode& value, const Done& done) {
  if (value.span.begin < done.value_at) return std::nullopt;
  const std::size_t begin = value.span.begin - done.value_at;
  if (!text.substr(begin).starts_with(done.inserted)) return std::nullopt;
  std::string result = replaced(text, {{begin, begin + done.inserted.size()}, done.removed});
  if (!checked(result, meaning_without(json_of(root, text), done))) return std::nullopt;
  return result;
}

}  // namespace

Result<void> check_json(std::string_view text) {
  TRY(scan_json(text));
  return {};
}

Result<Edited> edit_json(std::string_view text, const Change& change) {
  const JsonNode root = TRY(scan_json(text));
  const Reached reached = follow(root, change.path);
  const bool is_there = reached.names == change.path.size();
  if (is_there && change.kind == ChangeKind::set) {
    if (json_of(*reached.node, text) == change.value) return Edited{.text = std::string(text)};
    return replace_value(text, root, *reached.node, change);
  }
  if (is_there && find_value(root, text, change) != nullptr)
    return Edited{.text = std::string(text)};
  return insert_value(text, root, reached, change);
}

Result<Undone> undo_json(std::string_view text, const Done& done) {
  const JsonNode root = TRY(scan_json(text));
  const JsonNode* value = find_value(root, text, done.change);
  if (value == nullptr) return Undone{std::string(text), Undoing::gone};
  if (json_of(*value, text) != done.change.value)
    return Undone{std::string(text), Undoing::changed};
  if (done.replaced && done.change.kind == ChangeKind::set)
    return old_value_back(text, root, *value, done);
  if (std::optional<std::string> before = exactly_back(text, root, *value, done))
    return Undone{std::move(*before), Undoing::taken_back};
  std::string result = TRY(remove_value(text, root, done));
  return Undone{std::move(result), Undoing::taken_back};
}

bool json_says_nothing(std::string_view text) {
  const Result<JsonNode> root = scan_json(text);
  return root && root->kind == JsonKind::object && root->items.empty() &&
         text.find_first_not_of(" \t\r\n{}") == std::string_view::npos;
}

}  // namespace coop::setup
