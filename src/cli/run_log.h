// The log of `coop run -v`, and the first line at a terminal.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "cli/options_policy.h"
#include "coop/sandbox.h"
#include "plan/plan.h"

namespace coop::cli {

// Does nothing without -v: then no logger is created.
class RunLog {
 public:
  RunLog(const Options& options, const std::string& id);

  // Before the start: the policy, the user, and the command.
  void begin(const Request& request);
  // After the start: the steps of the sandbox, and what is weaker than requested.
  void started(const Plan& plan);
  void ended(const ExecOutput& output);
  void failed(const Error& error);
  // What is said to people without -v too: a record where the stream is JSON.
  void say(const std::string& text);
  // Logs each decision about the network as it is made; null without -v.
  std::function<void(const NetworkEvent&)> network_hook();

 private:
  std::unique_ptr<Logger> logger_;
  std::unique_ptr<Logger> notes_;  // null: standard error is text
};

// "linux (namespaces + landlock + seccomp)", as far as this plan has them.
std::string isolation_of(const Plan& plan);

// "this command runs in a sandbox (namespaces, Landlock, seccomp) with no network; --quiet hides this line"
std::string banner(const Plan& plan, const Request& request);

}  // namespace coop::cli
