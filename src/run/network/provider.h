// Connects a sandbox's network where we do not relay it ourselves: pasta, slirp4netns, or a veth
// pair.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "sys/event_loop.h"

namespace coop::run {

// Destroying it removes everything it has set up.
class Provider {
 public:
  Provider() = default;
  Provider(const Provider&) = delete;
  Provider& operator=(const Provider&) = delete;
  virtual ~Provider() = default;

  // Readable when the program that connects the network has exited; -1 if there is none.
  virtual int ended() const { return -1; }
  // Refuses further networks on the host's side too, if there are rules there.
  virtual Result<void> refuse(const std::vector<Prefix>& further) {
    static_cast<void>(further);
    return {};
  }

  // Runs `loop` until the network of process `pid` is connected, or on failure. Gives up when the
  // loop is stopped.
  static Result<std::unique_ptr<Provider>> start(const NetworkPlan& plan, int pid, EventLoop& loop);
};

}  // namespace coop::run
