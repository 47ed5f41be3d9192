// Who connects a sandbox's network to the world where we do not relay it ourselves: pasta, slirp4netns, or a link.
#pragma once

#include <memory>

#include "base/result.h"
#include "plan/plan.h"

namespace coop::run {

// Destroying it takes everything away that it has put up.
class Provider {
 public:
  Provider() = default;
  Provider(const Provider&) = delete;
  Provider& operator=(const Provider&) = delete;
  virtual ~Provider() = default;

  // Readable when what connects the network has ended; -1 when that cannot be.
  virtual int ended() const { return -1; }

  // Returns when the network of process `pid` is connected, or cannot be. Gives up when `stop` becomes readable.
  static Result<std::unique_ptr<Provider>> start(const NetworkPlan& plan, int pid, int stop);
};

}  // namespace coop::run
