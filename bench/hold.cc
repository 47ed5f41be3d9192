// The process that holds many sandboxes. It stays small: what it forks starts as a copy of it.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "alive.h"
#include "contender.h"
#include "peers.h"
#include "processes.h"
#include "run/prepare.h"
#include "statistics.h"

namespace coop::bench {

namespace {

const Words kSleep{"/bin/sleep", "1000"};
constexpr double kPatience = 120e6;  // microseconds

// The sandboxes held, in one of three forms; destroying it ends them.
struct Held {
  std::optional<Pool> pool{};
  std::vector<Sandbox> sandboxes{};
  std::vector<pid_t> programs{};
  std::string trouble{};

  Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    for (const pid_t pid : programs) ::kill(pid, SIGTERM);
    for (const pid_t pid : programs) ::waitpid(pid, nullptr, 0);
  }
};

void hold_pool(Held& held, std::size_t count, const Ring& ring) {
  Result<Pool> made = Pool::create(comparable_policy(ring), count);
  if (made) held.pool = std::move(*made);
  else held.trouble = to_text(made.error());
}

void hold_sandboxes(Held& held, std::size_t count, const Ring& ring) {
  const Policy policy = comparable_policy(ring);
  while (held.sandboxes.size() < count) {
    Result<Sandbox> started = spawn(policy, Command{.arguments = kSleep}, Stdio{});
    if (!started) {
      held.trouble = to_text(started.error());
      return;
    }
    held.sandboxes.push_back(std::move(*started));
  }
}

Result<void> hold_programs(Held& held, std::size_t count, Launch launch) {
  const Program program = TRY(Program::prepare(std::move(launch)));
  while (held.programs.size() < count) {
    const pid_t pid = TRY(program.start());
    held.programs.push_back(pid);
  }
  return {};
}

Result<Launch> program_for(const std::string& name, const Ring& ring) {
  if (name == "coop") return coop_launch(ring.coop, ring.workspace, kComparableFlags, kSleep);
  Policy policy = comparable_policy(ring);
  policy.hostname = "coop-bench";
  const run::Prepared prepared = TRY(run::prepare(std::move(policy)));
  return bwrap_launch(prepared.plan, *ring.scratch, Filter::seccomp, kSleep);
}

Result<void> start_all(Held& held, const std::string& name, std::size_t count, const Ring& ring) {
  if (name == "pool") {
    hold_pool(held, count, ring);
  } else if (name == "spawn") {
    hold_sandboxes(held, count, ring);
  } else {
    Launch launch = TRY(program_for(name, ring));
    TRY(hold_programs(held, count, std::move(launch)));
  }
  return {};
}

bool is_workload(const ProcessFact& fact) { return fact.name == "sleep"; }

std::size_t alive_now(const Held& held) {
  if (held.pool) return held.pool->ready();
  return static_cast<std::size_t>(std::ranges::count_if(descendants_of(::getpid()), is_workload));
}

// Until all are up, or nothing changes for a while.
std::size_t wait_until_up(const Held& held, std::size_t count) {
  const Clock::time_point start = Clock::now();
  std::size_t alive = alive_now(held);
  while (alive < count && held.trouble.empty() && microseconds_since(start) < kPatience) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    alive = alive_now(held);
  }
  return alive;
}

struct Before {
  MemoryUse own = memory_of(::getpid());
  std::uint64_t available = available_kib();
  Clock::time_point start = Clock::now();
};

void measure(AliveRow& row, const Before& before) {
  const auto each = static_cast<double>(row.alive);
  if (row.alive == 0) return;
  const double available =
      static_cast<double>(before.available) - static_cast<double>(available_kib());
  row.machine = std::max(0.0, available / each);
  const MemoryUse own = memory_of(::getpid());
  row.holder_resident =
      (static_cast<double>(own.resident_kib) - static_cast<double>(before.own.resident_kib)) / each;
  for (const ProcessFact& fact : descendants_of(::getpid())) {
    if (is_workload(fact) || shares_memory(fact.pid, fact.parent)) continue;
    const MemoryUse use = memory_of(fact.pid);
    row.helpers_readable = row.helpers_readable && use.readable;
    if (!use.readable && row.trouble.empty())
      row.trouble = "this user may not read the memory of \"" + fact.name + "\"";
    row.helper_processes += 1 / each;
    row.helper_private += static_cast<double>(use.private_kib) / each;
    row.helper_anonymous += static_cast<double>(use.anonymous_kib) / each;
  }
}

void print(const AliveRow& row) {
  const nlohmann::json printed = {{"name", row.name},
                                  {"wanted", row.wanted},
                                  {"alive", row.alive},
                                  {"trouble", row.trouble},
                                  {"seconds", row.seconds},
                                  {"helper_processes", row.helper_processes},
                                  {"helpers_readable", row.helpers_readable},
                                  {"helper_private_kib", row.helper_private},
                                  {"helper_anonymous_kib", row.helper_anonymous},
                                  {"holder_resident_kib", row.holder_resident},
                                  {"machine_kib", row.machine}};
  std::puts(printed.dump().c_str());
}

Result<AliveRow> held_row(const std::string& name, std::size_t count, const Path& coop) {
  const Scratch scratch = TRY(Scratch::make());
  Ring ring{.coop = coop, .scratch = &scratch};
  ring.workspace = TRY(scratch.directory("workspace"));
  AliveRow row{.name = name, .wanted = count};
  const Before before;
  Held held;
  TRY(start_all(held, name, count, ring));
  row.alive = wait_until_up(held, count);
  row.seconds = microseconds_since(before.start) / 1e6;
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // until they have settled
  row.trouble = held.trouble;
  if (row.alive < count && row.trouble.empty()) row.trouble = "not all were up after two minutes";
  measure(row, before);
  return row;
}

}  // namespace

int hold(const std::string& name, std::size_t count, const Path& coop) {
  const Result<AliveRow> row = held_row(name, count, coop);
  if (row) print(*row);
  else print(AliveRow{.name = name, .wanted = count, .trouble = to_text(row.error())});
  return 0;
}

}  // namespace coop::bench
