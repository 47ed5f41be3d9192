#include "interleaved.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

namespace coop::bench {

namespace {

// The kernel removes network namespaces in the background; the next contender should not pay for
// it.
constexpr std::chrono::milliseconds kPauseAfterOne{4};
constexpr std::chrono::milliseconds kPauseAfterSlice{200};

std::vector<std::size_t> shuffled(std::size_t count, Random& random) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::shuffle(order, random);
  return order;
}

using Measure = std::function<Result<double>(const Contender&)>;

std::vector<Row> interleave(std::vector<Contender> contenders, std::size_t rounds,
                            std::chrono::milliseconds pause, Random& random,
                            const Measure& measure) {
  std::vector<std::vector<double>> values(contenders.size());
  for (std::size_t round = 0; round < rounds; ++round) {
    for (const std::size_t index : shuffled(contenders.size(), random)) {
      Contender& contender = contenders[index];
      if (!contender.unavailable.empty()) continue;
      const Result<double> value = measure(contender);
      if (value) values[index].push_back(*value);
      else
        contender.unavailable =
            "failed in round " + std::to_string(round + 1) + ": " + to_text(value.error());
      if (contender.recover) contender.recover();
      std::this_thread::sleep_for(pause);
    }
  }
  std::vector<Row> rows;
  for (std::size_t index = 0; index < contenders.size(); ++index) {
    const Contender& contender = contenders[index];
    rows.push_back(Row{contender.name, contender.how, contender.isolation, contender.unavailable,
                       summarize(std::move(values[index]))});
  }
  return rows;
}

struct Window {
  Clock::time_point opens;
  Clock::time_point closes;
};

struct Tally {
  std::atomic<std::size_t> finished = 0;
  std::atomic<bool> failed = false;
};

// Count only runs that end inside the window; the first and the last of a thread then cancel out.
void work(const Contender& contender, const Window& window, Tally& tally) {
  while (Clock::now() < window.closes && !tally.failed) {
    if (!contender.once()) {
      tally.failed = true;
      return;
    }
    const Clock::time_point now = Clock::now();
    if (now >= window.opens && now < window.closes) ++tally.finished;
  }
}

Result<double> rate(const Contender& contender, const RateOptions& options) {
  const Clock::time_point opens = Clock::now() + options.warm_up;
  const Window window{opens, opens + options.slice};
  Tally tally;
  {
    std::vector<std::jthread> threads;
    for (std::size_t index = 0; index < options.threads; ++index)
      threads.emplace_back([&] { work(contender, window, tally); });
  }
  if (tally.failed) return unsupported(contender.name, "a run failed under load");
  const double seconds = std::chrono::duration<double>(options.slice).count();
  return static_cast<double>(tally.finished) / seconds;
}

}  // namespace

std::vector<Row> measure_latency(std::vector<Contender> contenders, std::size_t rounds,
                                 Random& random) {
  return interleave(std::move(contenders), rounds, kPauseAfterOne, random,
                    [](const Contender& contender) { return contender.once(); });
}

std::vector<Row> measure_rates(std::vector<Contender> contenders, const RateOptions& options,
                               Random& random) {
  return interleave(std::move(contenders), options.slices, kPauseAfterSlice, random,
                    [&](const Contender& contender) { return rate(contender, options); });
}

const Row* find_row(const std::vector<Row>& rows, std::string_view name) {
  const auto found = std::ranges::find_if(rows, [&](const Row& row) {
    return row.name == name && row.unavailable.empty() && row.summary.count > 0;
  });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace coop::bench
