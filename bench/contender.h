// A contender: one way to run a command from start to end, timed repeatedly.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "coop/sandbox.h"
#include "launch.h"
#include "scratch.h"

namespace coop::bench {

struct Contender {
  std::string name{};
  std::string how{};          // the command line or call, without paths of this machine
  std::string isolation{};    // its isolation, in a few words
  std::string unavailable{};  // why it cannot run here; then `once` is empty
  std::function<Result<double>()> once{};  // microseconds; thread-safe
  std::function<void()> recover{};         // restores the initial state, not timed
};

// The inputs of every contender.
struct Ring {
  Path coop{};  // the program
  const Scratch* scratch = nullptr;
  Path workspace{};   // empty
  Path repository{};  // a git repository with a thousand files
};
Result<Ring> make_ring(const Path& coop, const Scratch& scratch);

// coop's defaults without the control group, which bubblewrap has no equivalent of.
Policy comparable_policy(const Ring& ring);
inline const std::vector<std::string> kComparableFlags{"--pids", "unlimited"};

// Anthropic's sandbox runtime: `command` for a shell, and its allowed hosts.
Result<Launch> srt_launch(const Ring& ring, const std::string& command,
                          const std::vector<std::string>& hosts);

std::vector<Contender> latency_contenders(const Ring& ring);
std::vector<Contender> rate_contenders(const Ring& ring);

// Calls its argument in another environment, for example in another namespace.
using Place = std::function<Result<void>(const std::function<void()>&)>;

// The command line for reports, without paths of this machine.
std::string shown(const Launch& launch, const Scratch& scratch);

// `launch` as a contender; run once, so that one that cannot run reports why.
Contender from_launch(std::string name, std::string isolation, Result<Launch> launch,
                      const Scratch& scratch, const Place& place = {});

}  // namespace coop::bench
