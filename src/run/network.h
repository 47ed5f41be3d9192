// The supervisor's side of a sandbox's network: a thread that takes what listens inside and serves it.
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

// Its threads have tables of descriptors of their own: thousands of connections take none from the program, and nothing
// that the program opens is in their reach.
class Network {
 public:
  using Hook = std::function<void(const NetworkEvent&)>;

  // Opens the published ports, so that one that is taken is an error before anything starts.
  static Result<std::unique_ptr<Network>> make(const NetworkPlan& plan);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  ~Network();  // stops

  // `socket` is the other end of what the child passes its listeners through; `pid` is the child's.
  Result<void> start(UniqueFd socket, int pid);
  // Readable when tell() has something for the hook, which must not run in our threads: to them the program's
  // descriptors are not there.
  void set_hook(Hook hook);
  int news() const { return news_.get(); }
  void tell();
  // Every connection ends. What was decided, as far as it was kept, and why it did not work, if it did not.
  void stop();
  std::vector<NetworkEvent> take_events();
  std::size_t left_out() const;  // events that were not kept
  std::optional<Error> problem() const;

 private:
  Network() = default;

  std::shared_ptr<NetworkShared> shared_{};
  UniqueFd socket_{};
  UniqueFd stop_{};
  UniqueFd news_{};
  Hook hook_{};
  std::vector<UniqueFd> published_{};
  std::thread thread_{};
};

// For the result of a run: each thing that was refused, once.
std::vector<Denial> denials_of(const std::vector<NetworkEvent>& events);

}  // namespace coop::run
