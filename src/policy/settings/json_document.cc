#include "policy/settings/json_document.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/path.h"

namespace coop::policy {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostJsonBytes = std::size_t{1} << 20U;
constexpr int kMostLevels = 32;

class Reader {
 public:
  explicit Reader(std::string_view name) : name_(name) {}

  Result<Node> node(const Json& json, const std::string& place, int depth) const {
    if (depth > kMostLevels) return bad(place, "is nested too deeply");
    if (json.is_boolean()) return Node{.value = json.get<bool>()};
    if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::uint64_t{INT64_MAX})
      return bad(place, "is too large a number");
    if (json.is_number_integer()) return Node{.value = json.get<std::int64_t>()};
    if (json.is_number()) return Node{.value = json.get<double>()};
    if (json.is_string()) return Node{.value = json.get<std::string>()};
    if (json.is_array()) {
      List list;
      for (const Json& item : json) {
        Node one = TRY(node(item, place, depth + 1));
        list.push_back(std::move(one));
      }
      return Node{.value = std::move(list)};
    }
    if (json.is_object()) {
      Table entries = TRY(table(json, place, depth + 1));
      return Node{.value = std::move(entries)};
    }
    return bad(place, "is null: leave it out instead");
  }

  Result<Table> table(const Json& json, const std::string& place, int depth) const {
    Table entries;
    for (const auto& [key, value] : json.items()) {
      const std::string inside = place.empty() ? key : place + "." + key;
      Node one = TRY(node(value, inside, depth));
      entries.push_back(Entry{.key = key, .value = std::move(one)});
    }
    return entries;
  }

 private:
  std::unexpected<Error> bad(const std::string& place, std::string_view why) const {
    return invalid(name_, "\"" + printable(place) + "\" " + std::string(why));
  }

  std::string_view name_;
};

}  // namespace

Result<Table> parse_json_document(std::string_view text, std::string_view name) {
  if (text.size() > kMostJsonBytes) return invalid(name, "is longer than 1 MiB");
  if (nests_too_deeply(text)) return invalid(name, "is nested too deeply");
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return invalid(name, "is not JSON");
  if (!json.is_object()) return invalid(name, "must be an object");
  return Reader(name).table(json, "", 0);
}

}  // namespace coop::policy
