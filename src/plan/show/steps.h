// Steps in words, for listings and for errors. They name no origin: that is report/'s.
#pragma once

#include <string>

#include "plan/plan.h"

namespace coop::plan {

// `bind read-only "/opt/x"`: what a step does.
std::string sentence(const Action& action);

// A hint for a step that failed with this errno; empty when there is none.
std::string hint_for(const Step& step, int errno_value);

}  // namespace coop::plan
