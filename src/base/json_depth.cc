#include "base/json_depth.h"

namespace coop {

bool nests_deeper(std::string_view json, std::size_t most) {
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
      if (++depth > most) return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

}  // namespace coop
