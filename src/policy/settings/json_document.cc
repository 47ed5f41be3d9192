#include "policy/settings/json_document.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/path.h"

namespace coop::policy {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostJsonBytes = std::size_t{1} << 20U;
constexpr int kMostLevels = 32;

std::unexpected<Error> bad(std::string_view name, const std::string& place, std::string_view why) {
  return invalid(name, "\"" + printable(place) + "\" " + std::string(why));
}

Result<Table> table_of(const Json& json, std::string_view name, const std::string& place,
                       int depth);

Result<Node> node_of(const Json& json, std::string_view name, const std::string& place, int depth) {
  if (depth > kMostLevels) return bad(name, place, "is nested too deeply");
  if (json.is_boolean()) return Node{.value = json.get<bool>()};
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::uint64_t{INT64_MAX})
    return bad(name, place, "is too large a number");
  if (json.is_number_integer()) return Node{.value = json.get<std::int64_t>()};
  if (json.is_number()) return Node{.value = json.get<double>()};
  if (json.is_string()) return Node{.value = json.get<std::string>()};
  if (json.is_null()) return bad(name, place, "is null: leave it out instead");
  if (json.is_object()) {
    Table entries = TRY(table_of(json, name, place, depth + 1));
    return Node{.value = std::move(entries)};
  }
  List list;
  for (const Json& item : json) {
    Node one = TRY(node_of(item, name, place, depth + 1));
    list.push_back(std::move(one));
  }
  return Node{.value = std::move(list)};
}

Result<Table> table_of(const Json& json, std::string_view name, const std::string& place,
                       int depth) {
  Table entries;
  for (const auto& [key, value] : json.items()) {
    Node one = TRY(node_of(value, name, place.empty() ? key : place + "." + key, depth));
    entries.push_back(Entry{.key = key, .value = std::move(one)});
  }
  return entries;
}

}  // namespace

Result<Table> parse_json_document(std::string_view text, std::string_view name) {
  if (text.size() > kMostJsonBytes) return invalid(name, "is longer than 1 MiB");
  if (nests_too_deeply(text)) return invalid(name, "is nested too deeply");
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return invalid(name, "is not JSON");
  if (!json.is_object()) return invalid(name, "must be an object");
  return table_of(json, name, "", 0);
}

}  // namespace coop::policy
