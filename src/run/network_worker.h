// What one thread of a sandbox's network does.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "coop/sandbox.h"
#include "net/egress.h"
#include "net/host_rules.h"
#include "net/name_table.h"
#include "plan/plan.h"

namespace coop::run {

// What the threads of one sandbox share; memory only.
struct NetworkShared {
  NetworkPlan plan{};
  net::HostRules rules{};
  net::NameTable names{};
  net::Budget budget{};
  bool hooked = false;  // somebody wants to hear of each event at once
  int news = -1;        // an eventfd for that; the same number in every thread
  int pid = -1;

  std::mutex mutex{};
  std::vector<NetworkEvent> untold{};
  // What a run's result has: a flood of one kind does not hide the others, nor the last of its own.
  std::vector<NetworkEvent> lookups{};
  std::vector<NetworkEvent> first{};
  std::deque<NetworkEvent> last{};
  std::size_t left_out = 0;
  std::optional<Error> problem{};

  void record(const NetworkEvent& event);
  void keep(const NetworkEvent& event);  // with the mutex held
  void fail(Error error);
};

// Numbers in the table of descriptors of whoever starts the thread. They stay open there.
struct WorkerDescriptors {
  int stop = -1;
  int socket = -1;               // to the sandbox's init
  std::vector<int> published{};  // one for each of the plan's
  std::vector<int> listeners{};  // the second worker's: it shares them with the first
};

// The whole life of the first thread, and of further ones, which serve connections only.
void run_first_worker(const std::shared_ptr<NetworkShared>& shared, WorkerDescriptors descriptors);

}  // namespace coop::run
