#include "tools/tool.h"

#include "report/text.h"

namespace coop::tools {

namespace {

ToolOutput failure(std::string_view outcome, std::string text) {
  ToolOutput output{.text = std::move(text), .failed = true};
  output.structured["outcome"] = outcome;
  return output;
}

// The same words as for what a command was denied.
void add_denial(ToolOutput& output, std::string_view what, const Rule& rule,
                std::string_view grant) {
  output.structured["denials"] =
      Json::array({{{"what", what}, {"rule", report::to_text(rule)}, {"grant", grant}}});
}

}  // namespace

ToolOutput refusal(std::string_view text, const std::optional<Rule>& rule) {
  std::string whole(text);
  if (rule) whole += " (rule: " + report::to_text(*rule) + ")";
  ToolOutput output = failure("refused", std::move(whole));
  output.structured["reason"] = text;
  if (rule) add_denial(output, text, *rule, "");
  return output;
}

ToolOutput refusal(const Error& error) {
  const bool refused = error.kind == Error::Kind::invalid || error.kind == Error::Kind::refused;
  const std::string grant = error.grant ? report::to_text(*error.grant) : std::string();
  std::string text = to_text(error);
  if (!grant.empty()) text += "\nto allow it: " + grant;
  if (!error.hint.empty()) text += "\n" + error.hint;
  ToolOutput output = failure(refused ? "refused" : "failed", std::move(text));
  output.structured["reason"] = to_text(error);
  if (error.rule) add_denial(output, to_text(error), *error.rule, grant);
  return output;
}

}  // namespace coop::tools
