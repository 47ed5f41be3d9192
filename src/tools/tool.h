// Interface of a tool: input, output and refusal.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace coop::tools {

// What a call gave. Something that was refused or went wrong is an answer too: the caller is a
// model, and reads it.
struct ToolOutput {
  std::string text{};                // for the model
  Json structured = Json::object();  // for programs: outcome, exit_code, denials, …
  bool failed = false;
};

// An answer that names the rule and the smallest grant, where there are such.
ToolOutput refusal(std::string_view text, const std::optional<Rule>& rule = {});
ToolOutput refusal(const Error& error);

}  // namespace coop::tools
