// Finds the id of a message that is too large to be parsed.
#pragma once

#include <string>
#include <string_view>

#include "tools/tool.h"

namespace coop::mcp {

class IdFinder {
 public:
  // The next piece of the message.
  void feed(std::string_view piece);
  // A string or an integer; null when none was found.
  Json id() const;

 private:
  void take(char c);

  int depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool is_value_ = false;  // after the colon of a member of the outermost object
  std::string current_{};  // the beginning of that member's name or value
  std::string name_{};
  std::string found_{};
};

}  // namespace coop::mcp
