// What `coop run -v` tells, and the line that greets at a terminal.
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

// Says nothing unless -v is given: then no logger is made at all.
class RunLog {
 public:
  RunLog(const Options& options, const std::string& session);

  // Before anything is started: which policy holds, for whom, and what will be run.
  void begin(const Request& request);
  // The sandbox is up: what it consists of, step by step, and what is weaker than asked.
  void started(const Plan& plan);
  void ended(const ExecOutput& output);
  void failed(const Error& error);
  // Logs each decision about the network as it is made; null without -v.
  std::function<void(const NetworkEvent&)> network_hook();

 private:
  std::unique_ptr<Logger> logger_;
};

// "linux (namespaces + landlock + seccomp)", as far as this plan has them.
std::string isolation_of(const Plan& plan);

// "version 0.1.0, linux (namespaces + landlock + seccomp); nobody bypasses it"
std::string banner(const Plan& plan, const Casting* casting);

}  // namespace coop::cli
