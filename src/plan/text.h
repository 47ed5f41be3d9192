// A plan in words.
#pragma once

#include <string>

#include "plan/plan.h"

namespace coop::plan {

enum class Detail { steps, reasons };

std::string to_text(const Plan& plan, Detail detail);
std::string to_json(const Plan& plan);

// `bind read-only "/opt/x"`: what a step does, as errors and listings say it.
std::string sentence(const Action& action);

// What to do when a step failed with this errno; empty when there is nothing to say.
std::string hint_for(const Step& step, int errno_value);

}  // namespace coop::plan
