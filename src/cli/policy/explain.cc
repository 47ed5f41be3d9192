#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/address.h"
#include "base/path.h"
#include "cli/options_policy.h"
#include "cli/policy/policy_command.h"
#include "net/host_rules.h"
#include "net/own_address.h"
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

const HostRule* covering(const std::vector<HostRule>& rules, policy::Portless portless,
                         const std::string& host) {
  const auto found = std::ranges::find_if(rules, [&](const HostRule& rule) {
    return policy::host_covers(rule.pattern, host, portless);
  });
  return found == rules.end() ? nullptr : &*found;
}

std::string rule_text(std::string_view list, const HostRule& rule) {
  return std::string(list) + " \"" + rule.pattern + "\" (" + rule.origin + ")";
}

// Where the mode was said; a flag, when it is not the one of the files.
std::string origin_of_mode(const Request& request) {
  const auto set = request.effective.settings.find(policy::Key::network);
  const std::string_view mode = to_text(request.policy.network);
  if (set == request.effective.settings.end())
    return request.policy.network == NetworkMode::none ? "built-in" : "command line";
  return set->second.value == policy::Scalar(std::string(mode)) ? to_text(set->second.origin)
                                                                : "command line";
}

constexpr std::uint16_t kUsualPort = 443;

struct Asked {
  std::string host{};  // without brackets, port and the dot at its end
  std::optional<std::uint16_t> port{};
};

Asked asked_for(std::string_view text) {
  Asked asked{.host = std::string(text)};
  const std::size_t colon = text.rfind(':');
  const bool bracketed = text.starts_with('[');
  const bool has_port = colon != std::string_view::npos &&
                        (bracketed ? text[colon - 1] == ']' : text.find(':') == colon);
  std::uint16_t port = 0;
  const std::string_view digits = has_port ? text.substr(colon + 1) : std::string_view();
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (has_port && read.ec == std::errc() && read.ptr == digits.data() + digits.size()) {
    asked.port = port;
    asked.host = text.substr(0, colon);
  }
  if (bracketed && asked.host.ends_with(']'))
    asked.host = asked.host.substr(1, asked.host.size() - 2);
  if (asked.host.ends_with('.')) asked.host.pop_back();
  return asked;
}

// Inside, localhost is the sandbox: it leads to the host only where a port says so.
Answer explain_loopback(const Policy& policy, Answer answer, const Asked& asked) {
  for (const HostPort& port : policy.host_ports)
    if (asked.port == port.port) {
      answer.verdict = "reachable";
      answer.rule = "host_ports " + std::to_string(port.port) + " (" + port.origin + ")";
      answer.reason = "it leads to the same port of the host";
      return answer;
    }
  answer.reason = "inside, this is the sandbox itself";
  answer.grant = "--host-port " + (asked.port ? std::to_string(*asked.port) : "PORT");
  return answer;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || (host.starts_with("127.") && address_bytes(host));
}

// Private, metadata and other such addresses are open only to a rule that names them.
std::string guarded_reason(const Policy& policy, const Asked& asked) {
  if (!address_bytes(asked.host)) return {};
  const net::HostRules rules{.allowed = policy.allow_net, .denied = policy.deny_net};
  if (net::opens_forbidden(rules, asked.host, asked.port.value_or(kUsualPort))) return {};
  return net::why_guarded(asked.host);
}

Answer explain_host(const Request& request, const std::string& text) {
  const Policy& policy = request.policy;
  const Asked asked = asked_for(text);
  const std::string host = asked.port ? net::with_port(asked.host, *asked.port) : asked.host;
  Answer answer{.subject = host,
                .verdict = "denied",
                .rule = "network = \"" + std::string(to_text(policy.network)) + "\" (" +
                        origin_of_mode(request) + ")"};
  if (policy.network != NetworkMode::host && is_loopback(asked.host))
    return explain_loopback(policy, std::move(answer), asked);
  if (const HostRule* denied = covering(policy.deny_net, policy::Portless::every, host)) {
    answer.rule = rule_text("network.deny", *denied);
    return answer;
  }
  if (policy.network == NetworkMode::none) {
    answer.reason = "only the sandbox's own loopback is there";
    answer.grant =
        "--allow-net " + host + ", or network = { allow = [\"" + host + "\"] } in your policy";
    return answer;
  }
  const HostRule* allowed = covering(policy.allow_net, policy::Portless::usual, host);
  const bool open = policy.network != NetworkMode::allowlist;
  const std::string guarded = guarded_reason(policy, asked);
  if (policy.network == NetworkMode::host) {
    answer.verdict = "reachable";
    answer.reason = "the host's network is shared";
  } else if (!guarded.empty() && (open || allowed != nullptr)) {
    answer.rule = "address guard";
    answer.reason = "it is " + guarded + ", and no rule names it";
    answer.grant = net::grant_for(asked.host, asked.port.value_or(kUsualPort));
  } else if (allowed != nullptr && (!open || policy::names_addresses(allowed->pattern))) {
    answer.verdict = "reachable";
    answer.rule = rule_text("network.allow", *allowed);
  } else if (open) {
    answer.verdict = "reachable";
  } else {
    answer.reason = "it is not in the allow-list";
    answer.grant = "--allow-net " + host + ", or network.allow in your policy";
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
