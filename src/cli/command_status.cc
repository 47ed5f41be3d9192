#include "cli/usage/usage.h"
#include "coop/sandbox.h"
#include "host/probe.h"
#include "report/status.h"

namespace coop::cli {

Result<int> command_status(const Parsed& parsed) {
  const HostFacts facts = TRY(probe());
  TRY(print_all(parsed.has("--json") ? report::status_json(facts) : report::status_text(facts)));
  return host::can_sandbox(facts) ? 0 : 1;
}

}  // namespace coop::cli
