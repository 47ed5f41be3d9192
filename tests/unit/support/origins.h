// Origins as tests write them.
#pragma once

#include <string>

#include "coop/origin.h"

namespace coop {

inline Origin in_file(const std::string& file, int line, Scope scope = Scope::organisation) {
  return {.scope = scope, .file = file, .at = {.line = line}};
}

}  // namespace coop
