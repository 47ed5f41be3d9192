#include <unistd.h>

#include <array>
#include <iostream>

#include "base/path.h"
#include "base/sha256.h"
#include "cli/plain_flags.h"
#include "cli/policy/policy_command.h"

namespace coop::cli {

namespace {

constexpr std::array kFlags{PlainFlag{"--yes"}, PlainFlag{"--revoke"}, PlainFlag{"-w", "DIR"},
                            PlainFlag{"--workspace", "DIR"}};

enum class Answer { yes, no };

Result<Answer> ask(const std::string& question) {
  if (::isatty(STDIN_FILENO) != 1)
    return invalid("policy approve", "nobody is at a terminal to be asked",
                   "read the file, and then say --yes");
  say(question + " [y/N]");
  std::string line;
  std::getline(std::cin, line);
  return line == "y" || line == "Y" || line == "yes" ? Answer::yes : Answer::no;
}

// What the file would give that nobody else gives.
std::string widening_text(const PolicySources& sources) {
  std::string text;
  for (const policy::Refusal& refusal : merge(sources.layers(), policy::Approval::none).refused)
    if (refusal.why == policy::Refusal::Why::not_approved) text += "  " + to_text(refusal) + "\n";
  return text;
}

}  // namespace

Result<int> policy_approve(Arguments arguments) {
  const PlainFlags flags = TRY(parse_plain("policy approve", arguments, kFlags, 0));
  const PolicySources sources = TRY(sources_for(flags.get("--workspace", flags.get("-w"))));
  const PolicySource& project = sources.of(policy::Scope::project);
  if (flags.has("--revoke")) {
    const bool had = TRY(host::revoke(sources.places));
    print(had ? "no longer approved\n" : "nothing was approved here\n");
    return 0;
  }
  if (!project.text)
    return invalid("policy approve", "there is no " + printable(project.path),
                   "start it in the project's directory, or name that with -w DIR");
  TRY(check_sources(sources));
  if (sources.approval == policy::Approval::given) {
    print("already approved: " + printable(project.path) + "\n");
    return 0;
  }
  const std::string wider = widening_text(sources);
  if (wider.empty()) {
    print(printable(project.path) + " only narrows: it needs no approval\n");
    return 0;
  }
  print(printable(project.path) + "\nsha256 " + sha256_hex(*project.text) + "\nasks for:\n" +
        wider);
  const Answer answer = flags.has("--yes") ? Answer::yes : TRY(ask("allow this?"));
  if (answer == Answer::no) {
    print("not approved\n");
    return 1;
  }
  const HostFacts facts = TRY(surroundings());
  TRY(with_context("storing the approval",
                   host::approve(sources.places, *project.text, facts.now)));
  print("approved, until the file changes\n");
  return 0;
}

}  // namespace coop::cli
