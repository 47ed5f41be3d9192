#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/path.h"
#include "cli/options_policy.h"
#include "cli/policy/explain_host.h"
#include "cli/policy/policy_command.h"
#include "cli/usage/usage.h"
#include "guards/matcher.h"
#include "plan/show/explain.h"
#include "policy/builtin.h"
#include "policy/policy.h"
#include "report/text.h"
#include "run/prepare.h"
#include "sys/real_path.h"

namespace coop::cli {

namespace {

// A word with a slash, "~", an existing or a guarded name is a path; anything else, and a URL, is a host.
bool is_path(const std::string& word) {
  if (word.find("://") != std::string::npos) return false;
  return word.find('/') != std::string::npos || word.starts_with('~') || word.starts_with('.') ||
         ::access(word.c_str(), F_OK) == 0 ||
         std::ranges::find(policy::guards(), word, &policy::GuardEntry::name) !=
             policy::guards().end();
}

bool is_socket(const Path& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode);
}

void add_reason(plan::Explanation& found, const char* reason) {
  found.reason += (found.reason.empty() ? "" : "; ") + std::string(reason);
}

bool exists(const Path& path) { return ::access(path.c_str(), F_OK) == 0; }

// A file that a command could make, and that would not stay.
std::optional<std::string> guard_of_new(const run::Prepared& prepared, const Path& path) {
  const GuardPlan& plan = prepared.plan.guards;
  for (std::size_t index = 0; index < plan.roots.size() && index < prepared.before.size();
       ++index) {
    const guards::GuardMatcher matcher({.root = plan.roots[index],
                                        .names = plan.names,
                                        .before = prepared.before[index],
                                        .writable = plan.roots});
    if (std::optional<std::string> guard = matcher.guard_of(path)) return guard;
  }
  return std::nullopt;
}

// The host's file of this name, wherever it is inside; else what a command finds at the name.
plan::Explanation explain_word(const run::Prepared& prepared, const Path& written) {
  plan::Explanation host = plan::explain(prepared.plan, prepared.policy, resolved_path(written));
  const bool there = exists(written);
  if (!there) add_reason(host, "nothing is there now");
  if (!there && host.reach == plan::Reach::writable)
    if (const std::optional<std::string> guard = guard_of_new(prepared, host.path)) {
      add_reason(host, "a new one is moved to the quarantine when the run ends");
      host.origin = Origin::of_coop(Part::guard, *guard);
      host.grant = Grant{"--allow-guarded", *guard};
    }
  if (is_shown(host)) return host;
  plan::Explanation inside = plan::explain_inside(prepared.plan, prepared.policy, written);
  // A new file in the empty home of the host view.
  if (inside.origin.part == Part::home && inside.reach == plan::Reach::hidden && !there) {
    inside.reach = plan::Reach::scratch;
    inside.inside = inside.path;
  }
  const bool own = inside.path.empty() || inside.reach == plan::Reach::scratch;
  // Where a command could make a file, that of the host is not.
  if (!is_shown(inside) || (own && there && !inside.own)) return host;
  if (own) {
    add_reason(inside, "not the host's");
    inside.grant = there ? host.grant : std::nullopt;
  } else if (!exists(inside.path)) {
    add_reason(inside, "nothing is there now");
  }
  inside.path = written;
  return inside;
}

report::Verdict verdict_of(plan::Reach reach) {
  switch (reach) {
    case plan::Reach::absent:
    case plan::Reach::hidden: return report::Verdict::denied;
    case plan::Reach::readable: return report::Verdict::readable;
    case plan::Reach::scratch: return report::Verdict::scratch;
    case plan::Reach::writable: return report::Verdict::writable;
  }
  return report::Verdict::denied;
}

Result<report::Explained> explain_path(const Policy& wanted, const std::string& word) {
  run::Draft draft = TRY(run::begin_prepare(wanted));
  const Path written =
      normalize(policy::expand_home(word, draft.host.home), draft.host.working_directory);
  const run::Prepared prepared = TRY(run::finish_prepare(std::move(draft)));
  const plan::Explanation found = explain_word(prepared, written);
  const bool denied = !is_shown(found);
  return report::Explained{
      .subject = found.path,
      .verdict = verdict_of(found.reach),
      .rule = report::to_text(found.origin),
      .reason = found.reason,
      .grant = denied && is_socket(written) ? Grant{"--socket", written} : found.grant,
      .inside = denied ? Path{} : found.inside};
}

// In place of the home directory, which no sandbox takes as its workspace unnamed: an existing directory that has
// nothing to do with the path.
Path other_workspace(const HostFacts& facts, const std::string& word) {
  const Path asked =
      resolved_path(normalize(policy::expand_home(word, facts.home), facts.working_directory));
  struct stat status{};
  for (const char* directory : {"/srv", "/opt", "/var/opt", "/mnt", "/media"})
    if (::stat(directory, &status) == 0 && S_ISDIR(status.st_mode) &&
        ::access(directory, R_OK | X_OK) == 0 && resolved_path(directory) == directory &&
        !is_within(asked, directory) && !is_within(directory, facts.home))
      return directory;
  return {};
}

Result<Request> request_of(const Parsed& parsed) {
  const Options options = TRY(options_of(parsed));
  const HostFacts facts = TRY(request::surroundings());
  const bool named = !options.wanted.workspace.empty() || options.wanted.role.any();
  if (named || options.command.empty() ||
      request::check_unnamed_workspace(facts, request::real_workspace(facts, {})))
    return read_request(parsed);
  const Path workspace = other_workspace(facts, options.command.front());
  if (workspace.empty()) return read_request(parsed);
  say("note: your home directory is no workspace unless it is named; this is the answer for one "
      "elsewhere");
  return read_request(parsed, workspace);
}

}  // namespace

Result<int> policy_explain(const Parsed& parsed) {
  const Request request = TRY(request_of(parsed));
  const std::vector<std::string>& words = request.options.command;
  if (words.size() != 1 || words.front().empty())
    return invalid("policy explain", "one path or host is expected",
                   "coop policy explain [FLAGS OF RUN] PATH|HOST");
  const std::string& word = words.front();
  const bool path = is_path(word);
  const report::Explained answer =
      path ? TRY(explain_path(request.policy, word)) : TRY(explain_host(request, word));
  if (!path && word.find_first_of(".:") == std::string::npos && word != "localhost")
    say("note: no file has this name here, so this is the answer for a host; for a path write ./" +
        printable(word));
  TRY(print_all(request.options.json ? report::explained_json(answer)
                                     : report::explained_text(answer)));
  return 0;
}

}  // namespace coop::cli
