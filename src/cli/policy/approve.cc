#include <unistd.h>

#include <iostream>

#include "base/path.h"
#include "base/sha256.h"
#include "cli/policy/policy_command.h"
#include "cli/usage/usage.h"

namespace coop::cli {

namespace {

enum class Consent { yes, no };

Result<Consent> ask(const std::string& question) {
  if (::isatty(STDIN_FILENO) != 1)
    return invalid("policy approve",
                   "standard input is not a terminal: cannot ask for confirmation",
                   "read the file, then use --yes");
  say(question + " [y/N]");
  std::string line;
  std::getline(std::cin, line);
  return line == "y" || line == "Y" || line == "yes" ? Consent::yes : Consent::no;
}

// What the file, not approved yet, would grant beyond coop's defaults. Not beyond the user's file: that may become narrower
// while the approval stays.
std::string widening_text(request::PolicySources sources) {
  std::string text;
  for (request::PolicySource& file : sources.files)
    if (file.scope == Scope::user) file.text.reset();
  for (const policy::Refusal& refusal : request::effective_of(sources).refused)
    if (refusal.why == policy::Refusal::Why::not_approved) text += "  " + to_text(refusal) + "\n";
  return text;
}

}  // namespace

Result<int> policy_approve(const Parsed& flags) {
  const request::PolicySources sources = TRY(sources_for(flags.get("--workspace")));
  const request::PolicySource& project = sources.of(Scope::project);
  if (flags.has("--revoke")) {
    const bool had = TRY(host::revoke(sources.places));
    print(had ? "no longer approved\n" : "this project has no approval\n");
    return 0;
  }
  if (!project.text)
    return invalid("policy approve", "there is no " + printable(project.path),
                   "start it in the project's directory, or name that with -w DIR");
  TRY(request::check_sources(sources));
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
  const Consent consent = flags.has("--yes") ? Consent::yes : TRY(ask("allow this?"));
  if (consent == Consent::no) {
    print("not approved\n");
    return 1;
  }
  const HostFacts facts = TRY(request::surroundings());
  TRY(with_context("storing the approval",
                   host::approve(sources.places, *project.text, facts.now)));
  print("approved, until the file changes\n");
  return 0;
}

}  // namespace coop::cli
