// What would allow something that was refused.
#pragma once

#include <string>

namespace coop {

struct Grant {
  std::string flag{};   // "--rw"
  std::string value{};  // as it is, not yet one word of a shell
  bool operator==(const Grant&) const = default;
};

}  // namespace coop
