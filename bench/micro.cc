// The steps of a start, one by one, in our own process: shows which step got slower.
#include <benchmark/benchmark.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "cli/flags.h"
#include "cli/usage/usage.h"
#include "guards/workspace.h"
#include "host/probe.h"
#include "plan/compile.h"
#include "policy/builtin.h"
#include "run/prepare.h"
#include "run/start/freeze.h"
#include "scratch.h"

namespace coop::bench {

namespace {

template <typename T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "micro: %s\n", to_text(result.error()).c_str());
  std::exit(1);
}

// A policy completed by prepare(), and the facts it needs.
struct Planned {
  Policy policy{};
  HostFacts host{};
};

Planned planned(const Path& workspace, View view) {
  Planned all{.policy = {.id = "bench", .view = view, .workspace = workspace},
              .host = must(host::probe(host::Depth::quick))};
  all.policy.rules = policy::secret_rules(all.host.home);
  if (!host::inspect_mounts(all.host)) std::exit(1);
  host::inspect_sockets(all.host, std::vector<Path>{workspace});
  host::inspect(all.host, plan::wanted_paths(all.policy, all.host));
  host::inspect(all.host, plan::wanted_aliases(all.policy, all.host));
  host::inspect_cgroups(all.host);
  return all;
}

void parse_flags(benchmark::State& state) {
  const std::vector<std::string> words{"--view",   "host", "--rw",      "build", "--hide", ".env",
                                       "--memory", "2g",   "--timeout", "10m",   "--",     "make"};
  for (auto _ : state) {
    const cli::Parsed parsed = must(cli::parse_command(*cli::find_command("run"), words));
    benchmark::DoNotOptimize(must(cli::options_of(parsed)));
  }
}

void probe_quick(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(must(host::probe(host::Depth::quick)));
}

void inspect_mounts(benchmark::State& state) {
  HostFacts facts = must(host::probe(host::Depth::quick));
  for (auto _ : state) {
    facts.mounts.clear();
    benchmark::DoNotOptimize(host::inspect_mounts(facts));
  }
}

void inspect_workspace(benchmark::State& state) {
  const Scratch scratch = must(Scratch::make());
  const Path root =
      must(scratch.repository("repository", static_cast<std::size_t>(state.range(0))));
  const std::vector<std::string> guards = must(policy::guard_names({}));
  for (auto _ : state) benchmark::DoNotOptimize(must(guards::inspect_workspace(root, guards)));
}

void compile_plan(benchmark::State& state, View view) {
  const Scratch scratch = must(Scratch::make());
  const Planned all = planned(scratch.path(), view);
  for (auto _ : state) benchmark::DoNotOptimize(must(plan::compile(all.policy, all.host)));
}

void freeze_plan(benchmark::State& state) {
  const Scratch scratch = must(Scratch::make());
  const Planned all = planned(scratch.path(), View::minimal);
  const Plan plan = must(plan::compile(all.policy, all.host));
  for (auto _ : state) {
    run::Region region = must(run::Region::make());
    benchmark::DoNotOptimize(must(run::freeze(plan, {}, region)));
  }
}

// All of the above, as in a start.
void prepare_start(benchmark::State& state) {
  const Scratch scratch = must(Scratch::make());
  for (auto _ : state) benchmark::DoNotOptimize(must(run::prepare({.workspace = scratch.path()})));
}

BENCHMARK(parse_flags);
BENCHMARK(probe_quick)->Unit(benchmark::kMicrosecond);
BENCHMARK(inspect_mounts)->Unit(benchmark::kMicrosecond);
BENCHMARK(inspect_workspace)->Arg(20)->Arg(1000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(compile_plan, minimal, View::minimal)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(compile_plan, host, View::host)->Unit(benchmark::kMicrosecond);
BENCHMARK(freeze_plan)->Unit(benchmark::kMicrosecond);
BENCHMARK(prepare_start)->Unit(benchmark::kMicrosecond);

}  // namespace

}  // namespace coop::bench

BENCHMARK_MAIN();
