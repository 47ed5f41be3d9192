// A plan in words, for `coop plan` and for programs.
#pragma once

#include <cstdint>
#include <string>

#include "plan/plan.h"

namespace coop::report {

enum class Detail : std::uint8_t { steps, reasons };

std::string plan_text(const Plan& plan, Detail detail);
std::string plan_json(const Plan& plan);

}  // namespace coop::report
