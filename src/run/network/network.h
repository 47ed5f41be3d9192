// The supervisor's side of a sandbox's network: a thread that receives the listeners and serves
// them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "coop/sandbox.h"
#include "plan/plan.h"
#include "sys/fd.h"

namespace coop::run {

struct NetworkShared;

// Its threads have their own descriptor tables (CLONE_FILES unshared): thousands of connections use
// none of the program's descriptors, and they cannot access the program's files.
class Network {
 public:
  using Hook = std::function<void(const NetworkEvent&)>;

  // Binds the published ports, so that a port in use is an error before anything starts.
  static Result<std::unique_ptr<Network>> make(const NetworkPlan& plan);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  ~Network();  // stops

  // `socket` receives the listeners from the child; `pid` and `pidfd` are the child's.
  Result<void> start(UniqueFd socket, int pid, int pidfd);
  // news() is readable when tell() has events for the hook. The hook must not run in our threads:
  // they do not have the program's descriptors.
  void set_hook(Hook hook);
  int news() const { return news_.get(); }
  void tell();
  // Ends every connection. Afterwards: the decisions that were kept, and the error if it failed.
  void stop();
  std::vector<NetworkEvent> take_events();
  std::size_t left_out() const;  // events that were not kept
  std::optional<Error> problem() const;
  // Set: the network has ended the sandbox, because its rules could not be kept as they must be.
  std::optional<Error> ended() const;

 private:
  Network() = default;

  std::shared_ptr<NetworkShared> shared_{};
  UniqueFd socket_{};
  UniqueFd init_{};
  UniqueFd stop_{};
  UniqueFd news_{};
  Hook hook_{};
  std::vector<UniqueFd> published_{};
  std::thread thread_{};
};

// For the result of a run: each refusal once.
std::vector<Denial> denials_of(const std::vector<NetworkEvent>& events);

}  // namespace coop::run
