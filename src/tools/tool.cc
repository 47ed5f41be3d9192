#include "tools/tool.h"

namespace coop::tools {

namespace {

ToolOutput failure(std::string_view outcome, std::string text, std::string_view rule,
                   std::string_view grant) {
  ToolOutput output{.text = std::move(text), .failed = true};
  output.structured["outcome"] = outcome;
  if (!rule.empty()) output.structured["rule"] = rule;
  if (!grant.empty()) output.structured["grant"] = grant;
  return output;
}

}  // namespace

ToolOutput refusal(std::string_view text, std::string_view rule, std::string_view grant) {
  std::string whole(text);
  if (!rule.empty()) whole += " (rule: " + std::string(rule) + ")";
  if (!grant.empty()) whole += "\nto allow it: " + std::string(grant);
  return failure("refused", std::move(whole), rule, grant);
}

ToolOutput refusal(const Error& error) {
  const bool refused = error.kind == Error::Kind::invalid;
  // Hints that are flags are grants, the owner's to give; others say what the caller can do.
  const bool grant = error.hint.starts_with("--");
  std::string text = to_text(error);
  if (grant) text += "\nto allow it: " + error.hint;
  if (!grant && !error.hint.empty()) text += "\n" + error.hint;
  ToolOutput output = failure(refused ? "refused" : "failed", std::move(text), {},
                              grant ? std::string_view(error.hint) : std::string_view());
  output.structured["reason"] = to_text(error);
  return output;
}

}  // namespace coop::tools
