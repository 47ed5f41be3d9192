#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/path.h"
#include "cli/options_policy.h"
#include "cli/policy/policy_command.h"
#include "plan/explain.h"
#include "policy/builtin.h"
#include "policy/host_cover.h"
#include "policy/policy.h"
#include "run/prepare.h"

namespace coop::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Answer {
  std::string subject{};
  std::string verdict{};  // "readable", "denied", …
  std::string rule{};
  std::string reason{};
  std::string grant{};
  Path inside{};
};

// A name with a slash, of a home, or of something here is a path; anything else is a host.
bool is_path(const std::string& word) {
  return word.find('/') != std::string::npos || word.starts_with('~') || word.starts_with('.') ||
         ::access(word.c_str(), F_OK) == 0;
}

// As the kernel names it. What is not there is named after the nearest directory that is.
Path canonical(const Path& path) {
  std::array<char, PATH_MAX> buffer;
  if (::realpath(path.c_str(), buffer.data()) != nullptr) return buffer.data();
  if (path == "/") return path;
  return join(canonical(parent_of(path)), name_of(path));
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
                .rule = found.origin,
                .reason = found.reason + (::access(written.c_str(), F_OK) == 0
                                              ? ""
                                              : std::string(found.reason.empty() ? "" : "; ") +
                                                    "nothing is there now"),
                .grant = found.grant,
                .inside = denied ? Path{} : found.inside};
}

const policy::Item* covering(const policy::Settings& settings, policy::Key key,
                             const std::string& host) {
  const auto found = settings.find(key);
  if (found == settings.end()) return nullptr;
  const auto item = std::ranges::find_if(found->second.items, [&](const policy::Item& candidate) {
    return policy::host_covers(
        candidate.text, host,
        key == policy::Key::network_deny ? policy::Portless::every : policy::Portless::usual);
  });
  return item == found->second.items.end() ? nullptr : &*item;
}

Answer explain_host(const Request& request, const std::string& host) {
  const policy::Settings& settings = request.effective.settings;
  const NetworkMode mode = request.policy.network;
  const auto set = settings.find(policy::Key::network);
  const std::string origin = set == settings.end() ? "built-in" : to_text(set->second.origin);
  Answer answer{.subject = host,
                .verdict = "denied",
                .rule = "network = \"" + std::string(to_text(mode)) + "\" (" + origin + ")"};
  if (const policy::Item* denied = covering(settings, policy::Key::network_deny, host)) {
    answer.rule = "network.deny \"" + denied->text + "\" (" + to_text(denied->origin) + ")";
    return answer;
  }
  const std::string grant =
      "network = { mode = \"allowlist\", allow = [\"" + host + "\"] } in your policy";
  switch (mode) {
    case NetworkMode::none:
      answer.reason = "only the sandbox's own loopback is there";
      answer.grant = grant;
      break;
    case NetworkMode::allowlist:
      if (const policy::Item* allowed = covering(settings, policy::Key::network_allow, host)) {
        answer.verdict = "reachable";
        answer.rule = "network.allow \"" + allowed->text + "\" (" + to_text(allowed->origin) + ")";
      } else {
        answer.reason = "it is not in the allow-list";
        answer.grant = grant;
      }
      break;
    case NetworkMode::full:
    case NetworkMode::veth:
    case NetworkMode::host:
      answer.verdict = "reachable";
      answer.reason = mode == NetworkMode::host ? "the host's network is shared" : "";
      break;
  }
  return answer;
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

Result<int> policy_explain(Arguments arguments) {
  const Request request = TRY(read_request(arguments));
  const std::vector<std::string>& words = request.options.command;
  if (words.size() != 1 || words.front().empty())
    return invalid("policy explain", "one path or host is expected",
                   "coop policy explain [FLAGS OF RUN] PATH|HOST");
  const Answer answer = is_path(words.front()) ? TRY(explain_path(request.policy, words.front()))
                                               : explain_host(request, words.front());
  TRY(print_all(request.options.json ? as_json(answer) : as_text(answer)));
  return 0;
}

}  // namespace coop::cli
