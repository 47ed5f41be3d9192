// Environment variables that make programs load code: refused unless the policy names them as
// unsafe.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace coop::policy {

// An error with the reason if `name` is one of them and not in `allowed`.
Result<void> check_variable(std::string_view name, std::string_view origin,
                            std::span<const std::string> allowed);

}  // namespace coop::policy
