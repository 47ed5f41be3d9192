// coop beside its peers, in one interleaved run. See bench/run, which calls this.
//
//   head_to_head --coop PROGRAM --json FILE --markdown FILE [--quick] [--seed N]
//                [--network-only] [--repositories-only]
#include <fcntl.h>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>

#include "base/quantity.h"
#include "compile_job.h"
#include "network.h"
#include "report.h"
#include "sys/fd.h"
#include "tool_calls.h"

namespace coop::bench {

namespace {

enum class Part { everything, network, repositories };

struct Settings {
  Part part = Part::everything;
  Path coop{};
  Path json{};
  Path markdown{};
  std::string holding{};  // this process only holds sandboxes: see alive.h
  std::uint64_t count = 0;
  std::uint64_t seed = 0;  // 0: from the clock
  std::size_t rounds = 300;
  std::size_t compile_rounds = 20;
  std::size_t slices = 6;
  std::vector<std::size_t> alive{200, 1000};
  std::vector<std::size_t> repositories{0, 20'000, 400'000};
  NetworkSettings network{};
};

// Enough to see that everything works; the figures are not meaningful.
void be_quick(Settings& settings) {
  settings.rounds = 60;
  settings.compile_rounds = 2;
  settings.slices = 2;
  settings.alive = {20, 60};
  settings.repositories = {0, 20'000};
  settings.network = {
      .rounds = 2, .time = std::chrono::milliseconds(150), .starts = 20, .resting = 1000};
}

Result<Settings> parse(int count, char** words) {
  Settings settings;
  for (int index = 1; index < count; ++index) {
    const std::string_view word = words[index];
    if (word == "--quick") {
      be_quick(settings);
      continue;
    }
    if (word == "--network-only" || word == "--repositories-only") {
      settings.part = word == "--network-only" ? Part::network : Part::repositories;
      continue;
    }
    if (index + 1 == count) return invalid("head_to_head", word, "see the top of head_to_head.cc");
    const std::string_view value = words[++index];
    if (word == "--coop") settings.coop = value;
    else if (word == "--json") settings.json = value;
    else if (word == "--markdown") settings.markdown = value;
    else if (word == "--hold") settings.holding = value;
    else if (word == "--seed") settings.seed = TRY(parse_count(value));
    else if (word == "--count") settings.count = TRY(parse_count(value));
    else return invalid("head_to_head", word, "see the top of head_to_head.cc");
  }
  if (settings.coop.empty()) return invalid("head_to_head", "--coop PROGRAM is missing");
  return settings;
}

void say(const std::string& text) { std::fprintf(stderr, "bench: %s\n", text.c_str()); }

Result<void> save(const Path& path, const std::string& text) {
  if (path.empty()) return {};
  const UniqueFd file = TRY(open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0644));
  return write_all(file.get(), text, path);
}

void compile_job(Results& results, const Settings& settings, const Ring& ring, Random& random) {
  Result<std::vector<Contender>> contenders = compile_contenders(ring);
  if (contenders)
    results.compile = measure_latency(std::move(*contenders), settings.compile_rounds, random);
  else results.compile_trouble = to_text(contenders.error());
}

Result<Results> measure(const Settings& settings) {
  const Scratch scratch = TRY(Scratch::make());
  const Ring ring = TRY(make_ring(settings.coop, scratch));
  Results results{.machine = look_at_machine(settings.coop),
                  .seed = settings.seed,
                  .rounds = settings.rounds,
                  .threads = std::thread::hardware_concurrency()};
  if (results.seed == 0)
    results.seed = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
  Random random(results.seed);
  if (settings.part == Part::network) {
    results.network = measure_network(ring, settings.network, random);
    results.machine.load_after = load_average();
    return results;
  }
  if (settings.part == Part::repositories) {
    results.repositories =
        measure_repositories(ring, settings.repositories, settings.rounds / 6, random);
    results.machine.load_after = load_average();
    return results;
  }
  // First, while this process is small: what the library forks starts as a copy of it.
  say("one at a time, " + std::to_string(settings.rounds) + " rounds");
  results.latency = measure_latency(latency_contenders(ring), settings.rounds, random);
  // A sixth of the rounds: one contender takes half a second per start.
  say("a tool call");
  results.tools = measure_latency(tool_contenders(ring), settings.rounds / 6, random);
  say("in repositories");
  results.repositories =
      measure_repositories(ring, settings.repositories, settings.rounds / 6, random);
  say("as many as possible");
  results.rates = measure_rates(rate_contenders(ring),
                                {.threads = results.threads, .slices = settings.slices}, random);
  say("the network");
  results.network = measure_network(ring, settings.network, random);
  say("many alive at once");
  results.alive = measure_alive(settings.alive, settings.coop);
  say("a compile job");
  compile_job(results, settings, ring, random);
  results.machine.load_after = load_average();
  return results;
}

Result<int> run(int count, char** words) {
  const Settings settings = TRY(parse(count, words));
  if (!settings.holding.empty())
    return hold(settings.holding, static_cast<std::size_t>(settings.count), settings.coop);
  const Results results = TRY(measure(settings));
  const std::string report = to_markdown(results);
  TRY(save(settings.json, to_json(results)));
  TRY(save(settings.markdown, report));
  std::fputs(report.c_str(), stdout);
  return 0;
}

}  // namespace

}  // namespace coop::bench

int main(int count, char** words) {
  const coop::Result<int> code = coop::bench::run(count, words);
  if (code) return *code;
  std::fprintf(stderr, "bench: %s\n", coop::to_text(code.error()).c_str());
  return 1;
}
