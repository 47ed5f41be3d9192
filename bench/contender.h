// Who takes part: one way to run a command from start to end, which can be timed again and again.
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
  std::string how{};          // the command line or call, without places of this machine
  std::string isolation{};    // what the command is kept away from, in a few words
  std::string unavailable{};  // why it cannot run here; then `once` is empty
  std::function<Result<double>()> once{};  // microseconds; safe from many threads at once
  std::function<void()> recover{};         // brings it back to where it started, off the clock
};

// What every contender is made from.
struct Ring {
  Path coop{};  // the program
  const Scratch* scratch = nullptr;
  Path workspace{};   // empty
  Path repository{};  // a git repository with a thousand files
};
Result<Ring> make_ring(const Path& coop, const Scratch& scratch);

// Like coop's defaults but for the control group, which bubblewrap has no counterpart of.
Policy comparable_policy(const Ring& ring);
inline const std::vector<std::string> kComparableFlags{"--pids", "unlimited"};

// Anthropic's sandbox runtime: `command` for a shell, and the hosts it may reach.
Result<Launch> srt_launch(const Ring& ring, const std::string& command,
                          const std::vector<std::string>& hosts);

std::vector<Contender> latency_contenders(const Ring& ring);
std::vector<Contender> rate_contenders(const Ring& ring);

// Calls its argument somewhere else: in another namespace, say.
using Place = std::function<Result<void>(const std::function<void()>&)>;

// The command line for reports, without places of this machine.
std::string shown(const Launch& launch, const Scratch& scratch);

// `launch` as a contender; rehearsed, so that one that cannot run says why.
Contender from_launch(std::string name, std::string isolation, Result<Launch> launch,
                      const Scratch& scratch, const Place& place = {});

}  // namespace coop::bench
