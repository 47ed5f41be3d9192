#include "base/json.h"

#include <nlohmann/json.hpp>

namespace coop {

bool nests_too_deeply(std::string_view json) {
  constexpr std::size_t kMostNesting = 64;
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t index = 0; index < json.size(); ++index) {
    const char c = json[index];
    if (in_string) {
      if (c == '\\') ++index;
      else if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMostNesting) return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

Json parse_json(std::string_view text) {
  if (nests_too_deeply(text)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

}  // namespace coop
