// Settings as `policy show` and `trust` print them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "policy/merge/merge.h"

namespace coop::report {

enum class Origins { left_out, shown };
enum class Defaults { left_out, shown };

// A policy file: one line for each key, and each item of a list where origins are shown. It reads back as the same
// settings, but for the values of secret variables.
std::string settings_text(const policy::Settings& settings, Origins origins, Defaults defaults);

nlohmann::ordered_json settings_json(const policy::Settings& settings, Defaults defaults);
nlohmann::ordered_json origin_json(const Origin& origin);
nlohmann::ordered_json refusals_json(const std::vector<policy::Refusal>& refusals);
nlohmann::ordered_json findings_json(const policy::Findings& findings);

}  // namespace coop::report
