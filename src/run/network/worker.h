// One thread of a sandbox's network.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "coop/sandbox.h"
#include "egress/egress.h"
#include "egress/name_table.h"
#include "plan/plan.h"
#include "policy/destinations/judge.h"

namespace coop::run {

// Shared by the threads of one sandbox; memory only.
struct NetworkShared {
  NetworkPlan plan{};
  policy::SandboxNetwork rules{};
  egress::NameTable names{};
  egress::Budget budget{};
  bool hooked = false;  // a hook wants each event at once
  int news = -1;        // an eventfd for that; the same number in every thread
  int pid = -1;

  std::mutex mutex{};
  std::vector<NetworkEvent> untold{};
  // For the result of a run: a flood of one kind does not hide the others, nor the last of its own
  // kind.
  std::vector<NetworkEvent> lookups{};
  std::vector<NetworkEvent> first{};
  std::deque<NetworkEvent> last{};
  std::size_t left_out = 0;
  std::optional<Error> problem{};
  std::optional<Error> ended{};  // why the first thread has ended the sandbox

  void record(const NetworkEvent& event);
  void keep(const NetworkEvent& event);  // with the mutex held
  void fail(Error error);
};

// Descriptor numbers in the table of the thread that starts the worker. They stay open there.
struct WorkerDescriptors {
  int stop = -1;
  int socket = -1;               // to the sandbox's init
  int init = -1;                 // its pidfd
  std::vector<int> published{};  // one for each of the plan's
  std::vector<int> listeners{};  // the second worker's: it shares them with the first
};

// The body of the first thread; it starts further ones, which serve connections only.
void run_first_worker(const std::shared_ptr<NetworkShared>& shared, WorkerDescriptors descriptors);

}  // namespace coop::run
