#include "cli/command.h"
#include "cli/status_text.h"
#include "coop/sandbox.h"
#include "host/probe.h"

namespace coop::cli {

Result<int> command_status(Arguments arguments) {
  bool json = false;
  for (const std::string& word : arguments) {
    if (word == "--json") {
      json = true;
    } else if (word == "--help" || word == "-h") {
      print(
          "usage: coop status [--json]\n\n"
          "Shows what this machine offers, by trying it, and what is missing and why.\n"
          "Exit code 0: the default sandbox can run here; 1: it cannot.\n");
      return 0;
    } else {
      return invalid("status", "unknown argument " + word, "coop status [--json]");
    }
  }
  const HostFacts facts = TRY(probe());
  TRY(print_all(json ? status_json(facts) : status_text(facts)));
  return host::can_sandbox(facts) ? 0 : 1;
}

}  // namespace coop::cli
