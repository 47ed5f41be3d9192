#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "base/path.h"
#include "cli/options_policy.h"
#include "cli/policy/explain_host.h"
#include "cli/policy/policy_command.h"
#include "cli/usage/usage.h"
#include "plan/show/explain.h"
#include "policy/builtin.h"
#include "policy/policy.h"
#include "report/text.h"
#include "run/prepare.h"

namespace coop::cli {

namespace {

using Json = nlohmann::ordered_json;

// A word with a slash, "~" or an existing name is a path; anything else, and a URL, is a host.
bool is_path(const std::string& word) {
  if (word.find("://") != std::string::npos) return false;
  return word.find('/') != std::string::npos || word.starts_with('~') || word.starts_with('.') ||
         ::access(word.c_str(), F_OK) == 0;
}

// The canonical path. A missing path is based on its nearest existing parent.
Path canonical(const Path& path) {
  std::array<char, PATH_MAX> buffer;
  if (::realpath(path.c_str(), buffer.data()) != nullptr) return buffer.data();
  if (path == "/") return path;
  return join(canonical(parent_of(path)), name_of(path));
}

bool is_socket(const Path& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode);
}

Result<Answer> explain_path(const Policy& wanted, const std::string& word) {
  run::Draft draft = TRY(run::begin_prepare(wanted));
  const Path written =
      normalize(policy::expand_home(word, draft.host.home), draft.host.working_directory);
  const run::Prepared prepared = TRY(run::finish_prepare(std::move(draft)));
  const plan::Explanation found = plan::explain(prepared.plan, prepared.policy, canonical(written));
  const bool denied = found.reach == plan::Reach::absent || found.reach == plan::Reach::hidden;
  return Answer{.subject = found.path,
                .verdict = denied ? "denied" : std::string(to_text(found.reach)),
                .rule = report::to_text(found.origin),
                .reason = found.reason + (::access(written.c_str(), F_OK) == 0
                                              ? ""
                                              : std::string(found.reason.empty() ? "" : "; ") +
                                                    "nothing is there now"),
                .grant = denied && is_socket(written) ? "--socket " + written
                         : found.grant                ? report::to_text(*found.grant)
                                                      : std::string(),
                .inside = denied ? Path{} : found.inside};
}

std::string as_text(const Answer& answer) {
  std::string text = printable(answer.subject) + ": " + answer.verdict;
  if (!answer.inside.empty()) text += " at " + printable(answer.inside);
  text += " by " + printable(answer.rule);
  if (!answer.reason.empty()) text += " (" + printable(answer.reason) + ")";
  if (!answer.grant.empty())
    text += std::string("; to allow") + (answer.verdict == "readable" ? " writing" : "") + ": " +
            printable(answer.grant);
  return text + "\n";
}

std::string as_json(const Answer& answer) {
  const Json json{{"subject", answer.subject}, {"verdict", answer.verdict},
                  {"rule", answer.rule},       {"reason", answer.reason},
                  {"grant", answer.grant},     {"inside", answer.inside}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<int> policy_explain(const Parsed& parsed) {
  const Request request = TRY(read_request(parsed));
  const std::vector<std::string>& words = request.options.command;
  if (words.size() != 1 || words.front().empty())
    return invalid("policy explain", "one path or host is expected",
                   "coop policy explain [FLAGS OF RUN] PATH|HOST");
  const Answer answer = is_path(words.front()) ? TRY(explain_path(request.policy, words.front()))
                                               : TRY(explain_host(request, words.front()));
  TRY(print_all(request.options.json ? as_json(answer) : as_text(answer)));
  return 0;
}

}  // namespace coop::cli
