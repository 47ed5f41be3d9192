// The options of `coop run` from its words.
#pragma once

#include <span>
#include <string>

#include "cli/flags.h"
#include "cli/usage/usage.h"

namespace coop::cli {

inline Result<Options> parse(std::span<const std::string> words) {
  const Parsed parsed = TRY(parse_command(*find_command("run"), words));
  return options_of(parsed);
}

}  // namespace coop::cli
