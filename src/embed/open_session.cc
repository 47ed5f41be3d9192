#include "embed/open_session.h"

#include "base/path.h"
#include "cli/options_policy.h"

namespace coop::embed {

namespace {

// Off only where it is written: what no file says is on.
bool is_enabled(const cli::Request& request) {
  const auto mode = request.effective.settings.find(policy::Key::mode);
  return mode == request.effective.settings.end() ||
         mode->second.value == policy::Scalar(std::string("enabled"));
}

}  // namespace

Result<tools::OnLeak> parse_on_leak(const std::string& word) {
  if (word == "redact") return tools::OnLeak::redact;
  if (word == "block") return tools::OnLeak::block;
  if (word == "terminate") return tools::OnLeak::terminate;
  return invalid("on-leak", "\"" + printable(word) + "\" is not one of its words",
                 "redact, block or terminate");
}

Result<std::unique_ptr<tools::Session>> open_session(const SessionRequest& request) {
  const cli::Request read =
      TRY(cli::read_request(request.flags, cli::Purpose::tools, request.added));
  tools::SessionOptions options{.policy = read.policy,
                                .sandbox_enabled = is_enabled(read),
                                .on_leak = request.on_leak,
                                .log = request.log};
  if (read.casting && read.casting->someone) {
    options.trust = read.casting->principal.trust;
    if (read.casting->principal.user != nullptr) options.user = read.casting->principal.user->name;
  }
  const HostFacts facts = TRY(cli::surroundings());
  options.policy.workspace = cli::real_workspace(facts, read.policy.workspace);
  if (options.policy.workspace.empty())
    return invalid("--workspace", "\"" + printable(read.policy.workspace) + "\" does not exist");
  return tools::Session::open(std::move(options));
}

}  // namespace coop::embed
