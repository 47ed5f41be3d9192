// A denial in words, for programs that show it. The rooms of coop that decide cannot include this (scripts/layers.txt).
#pragma once

#include <string>

#include "coop/sandbox.h"

namespace coop {

// "connecting to example.com:443 (no rule allows it; to allow it: --allow-net example.com)"
std::string to_text(const Denial& denial);

}  // namespace coop
