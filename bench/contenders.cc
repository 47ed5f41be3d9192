#include <thread>

#include "base/path.h"
#include "contender.h"
#include "peers.h"
#include "run/prepare.h"
#include "statistics.h"
#include "unified_view.h"

namespace coop::bench {

namespace {

const Words kTrue{"/bin/true"};
constexpr const char* kFull = "namespaces, mounts, seccomp, Landlock";
constexpr const char* kSame = "same namespaces and mounts";

std::string joined(const Words& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

template <typename T>
Result<T> in_place(const Place& place, const std::function<Result<T>()>& work) {
  if (!place) return work();
  Result<T> result{};
  TRY(place([&] { result = work(); }));
  return result;
}

Result<double> timed(const std::function<Result<ExecOutput>()>& run) {
  const Clock::time_point start = Clock::now();
  const ExecOutput output = TRY(run());
  const double taken = microseconds_since(start);
  if (output.exit_code != 0)
    return unsupported("exec", "exit code " + std::to_string(output.exit_code));
  return taken;
}

Contender from_call(std::string name, std::string how,
                    const std::function<Result<ExecOutput>()>& run) {
  Contender contender{.name = std::move(name), .how = std::move(how), .isolation = kFull};
  contender.once = [run] { return timed(run); };
  const Result<double> rehearsed = contender.once();
  if (!rehearsed) {
    contender.unavailable = to_text(rehearsed.error());
    contender.once = nullptr;
  }
  return contender;
}

Contender bare(const Ring& ring) {
  return from_launch("bare posix_spawn", "none", Launch{.arguments = kTrue}, *ring.scratch);
}

Contender coop_run(const Ring& ring, std::string name, const Path& workspace, const Words& flags) {
  return from_launch(std::move(name), kFull, coop_launch(ring.coop, workspace, flags, kTrue),
                     *ring.scratch);
}

Contender library(const Ring& ring) {
  return from_call(
      "library exec, cold", "coop::exec(policy, {\"/bin/true\"})",
      [policy = comparable_policy(ring)] { return exec(policy, Command{.arguments = kTrue}); });
}

enum class Handover { exec, spawn };

// Wait for the refill, so that the next contender does not compete with it.
void wait_until_full(const Pool& pool, std::size_t size) {
  const Clock::time_point start = Clock::now();
  while (pool.ready() < size && microseconds_since(start) < 10e6)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

Contender from_pool(const Policy& policy, std::string name, std::size_t size, Handover handover) {
  Result<Pool> made = Pool::create(policy, size);
  if (!made) return Contender{.name = std::move(name), .unavailable = to_text(made.error())};
  const auto pool = std::make_shared<Pool>(std::move(*made));
  const Command command{.arguments = kTrue};
  Contender contender =
      handover == Handover::exec
          ? from_call(std::move(name), "pool.exec({\"/bin/true\"}), streams captured",
                      [pool, command] { return pool->exec(command); })
          : from_call(std::move(name), "pool.spawn({\"/bin/true\"}).wait(), streams /dev/null",
                      [pool, command]() -> Result<ExecOutput> {
                        Sandbox sandbox = TRY(pool->spawn(command, Stdio{}));
                        return sandbox.wait();
                      });
  contender.recover = [pool, size] { wait_until_full(*pool, size); };
  contender.recover();
  return contender;
}

Contender bwrap(const Ring& ring, const Result<run::Prepared>& prepared, Filter filter) {
  const bool filtered = filter == Filter::seccomp;
  Result<Launch> launch = prepared ? bwrap_launch(prepared->plan, *ring.scratch, filter, kTrue)
                                   : Result<Launch>(std::unexpected(prepared.error()));
  return from_launch(filtered ? "bwrap + seccomp" : "bwrap",
                     filtered ? std::string(kSame) + ", coop's seccomp filter" : kSame,
                     std::move(launch), *ring.scratch);
}

// On machines with hybrid control groups, the runtime gets a mount namespace with cgroup v2 only.
Contender oci(const Ring& ring, const Result<run::Prepared>& prepared, const std::string& runtime) {
  const Result<Launch> launch = prepared ? oci_launch(runtime, prepared->plan, *ring.scratch, kTrue)
                                         : Result<Launch>(std::unexpected(prepared.error()));
  Contender plain = from_launch(runtime, kSame, launch, *ring.scratch);
  if (plain.unavailable.empty() || !launch) return plain;
  Result<UnifiedView> view = UnifiedView::make();
  if (!view) return plain;
  const auto shared = std::make_shared<UnifiedView>(std::move(*view));
  Contender inside = from_launch(
      runtime, std::string(kSame) + "; started where only cgroup v2 is mounted", launch,
      *ring.scratch, [shared](const std::function<void()>& work) { return shared->within(work); });
  return inside.unavailable.empty() ? inside : plain;
}

Result<run::Prepared> prepared_for_peers(const Ring& ring) {
  Policy policy = comparable_policy(ring);
  policy.hostname = "coop-bench";
  return run::prepare(std::move(policy));
}

}  // namespace

// Only the program's name: its build path does not belong in a report.
std::string shown(const Launch& launch, const Scratch& scratch) {
  Words words = launch.arguments;
  words.front() = name_of(words.front());
  std::string line = joined(words);
  for (const OpenFile& file : launch.files)
    line += " " + std::to_string(file.descriptor) + "<" + file.path;
  return scratch.shown(std::move(line));
}

Contender from_launch(std::string name, std::string isolation, Result<Launch> launch,
                      const Scratch& scratch, const Place& place) {
  Contender contender{.name = std::move(name), .isolation = std::move(isolation)};
  const auto refuse = [&](const Error& error) {
    contender.unavailable = scratch.shown(to_text(error));
    return contender;
  };
  if (!launch) return refuse(launch.error());
  contender.how = shown(*launch, scratch);
  Result<Program> prepared = Program::prepare(std::move(*launch));
  if (!prepared) return refuse(prepared.error());
  const auto program = std::make_shared<Program>(std::move(*prepared));
  const Result<std::string> rehearsed =
      in_place<std::string>(place, [&] { return program->rehearse(); });
  if (!rehearsed) return refuse(rehearsed.error());
  contender.once = [program, place] {
    return in_place<double>(place, [&] { return program->time(); });
  };
  return contender;
}

Result<Ring> make_ring(const Path& coop, const Scratch& scratch) {
  constexpr std::size_t kFiles = 1000;
  Ring ring{.coop = coop, .scratch = &scratch};
  ring.workspace = TRY(scratch.directory("workspace"));
  ring.repository = TRY(scratch.repository("repository", kFiles));
  return ring;
}

Policy comparable_policy(const Ring& ring) {
  Policy policy{.workspace = ring.workspace};
  policy.limits.pids = std::nullopt;
  return policy;
}

std::vector<Contender> latency_contenders(const Ring& ring) {
  constexpr std::size_t kPool = 2;
  const Result<run::Prepared> prepared = prepared_for_peers(ring);
  const Policy like = comparable_policy(ring);
  std::vector<Contender> all;
  all.push_back(bare(ring));
  all.push_back(coop_run(ring, "coop run, cold", ring.workspace, kComparableFlags));
  all.push_back(coop_run(ring, "coop run, cold, all defaults", ring.workspace, {}));
  all.push_back(
      coop_run(ring, "coop run, cold, in a repository", ring.repository, kComparableFlags));
  all.push_back(library(ring));
  all.push_back(from_pool(like, "pool exec, warm", kPool, Handover::exec));
  all.push_back(from_pool(like, "pool spawn and wait, warm", kPool, Handover::spawn));
  all.push_back(bwrap(ring, prepared, Filter::none));
  all.push_back(bwrap(ring, prepared, Filter::seccomp));
  all.push_back(from_launch("unshare", "namespaces only", unshare_launch(kTrue), *ring.scratch));
  all.push_back(from_launch("firejail", "its own view; no user namespace",
                            firejail_launch(ring.workspace, kTrue), *ring.scratch));
  all.push_back(oci(ring, prepared, "crun"));
  all.push_back(oci(ring, prepared, "runc"));
  return all;
}

std::vector<Contender> rate_contenders(const Ring& ring) {
  constexpr std::size_t kPool = 8;
  const Result<run::Prepared> prepared = prepared_for_peers(ring);
  std::vector<Contender> all;
  all.push_back(bare(ring));
  all.push_back(coop_run(ring, "coop run", ring.workspace, kComparableFlags));
  all.push_back(coop_run(ring, "coop run, all defaults", ring.workspace, {}));
  all.push_back(library(ring));
  all.push_back(from_pool(comparable_policy(ring), "pool exec", kPool, Handover::exec));
  all.push_back(bwrap(ring, prepared, Filter::none));
  all.push_back(bwrap(ring, prepared, Filter::seccomp));
  return all;
}

}  // namespace coop::bench
