#include "report/explained.h"

#include <array>
#include <nlohmann/json.hpp>

#include "base/path.h"
#include "report/text.h"

namespace coop::report {

namespace {

using Json = nlohmann::ordered_json;

std::string verdict_text(Verdict verdict) {
  constexpr std::array kWords{"denied", "readable", "scratch", "writable", "reachable"};
  return kWords.at(static_cast<std::size_t>(verdict));
}

std::string grant_text(const Explained& answer) {
  if (!answer.grant) return {};
  return answer.about == About::path ? to_text(*answer.grant)
                                     : plain_text(answer.grant) + answer.advice;
}

std::string offer_text(const Explained& answer) {
  if (answer.grant->flag == "--ro" && answer.verdict != Verdict::denied)
    return "; to show the host's: ";
  return answer.verdict == Verdict::readable ? "; to allow writing: " : "; to allow: ";
}

}  // namespace

std::string explained_text(const Explained& answer) {
  const bool scratch = answer.verdict == Verdict::scratch;
  std::string text = printable(answer.subject) + ": " +
                     (scratch ? "private and writable" : verdict_text(answer.verdict));
  if (!answer.inside.empty()) text += " at " + printable(answer.inside);
  text += " by " + printable(answer.rule);
  if (!answer.reason.empty()) text += " (" + printable(answer.reason) + ")";
  if (answer.grant) text += offer_text(answer) + printable(grant_text(answer));
  return text + "\n";
}

std::string explained_json(const Explained& answer) {
  const Json json{{"subject", answer.subject},   {"verdict", verdict_text(answer.verdict)},
                  {"rule", answer.rule},         {"reason", answer.reason},
                  {"grant", grant_text(answer)}, {"inside", answer.inside}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace coop::report
