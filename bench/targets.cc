// coop's targets for speed and size, and whether this run reached them.
#include <cmath>
#include <cstdio>
#include <string_view>

#include "report.h"

namespace coop::bench {

namespace {

constexpr std::string_view kLike = "bwrap + seccomp";  // closest to coop; it lacks Landlock
constexpr std::string_view kBwrap = "bwrap";

enum class Bound { at_most, at_least };

// `name` divided by `against`, both medians of the same rounds.
Target ratio(const std::vector<Row>& rows, std::string wanted, std::string_view name,
             std::string_view against, Bound bound, double limit) {
  const Row* one = find_row(rows, name);
  const Row* other = find_row(rows, against);
  if (one == nullptr || other == nullptr || other->summary.median <= 0)
    return Target{.wanted = std::move(wanted), .measured = "not measured here"};
  const double value = one->summary.median / other->summary.median;
  return Target{.wanted = std::move(wanted),
                .measured = fixed(value, 2) + " ×",
                .reached = bound == Bound::at_most ? value <= limit : value >= limit};
}

// Against bubblewrap twice: with the same filter, and without a filter, which is harder.
void against_bwrap(std::vector<Target>& targets, const std::vector<Row>& rows,
                   const std::string& what, std::string_view name, Bound bound, double limit) {
  const std::string sign = bound == Bound::at_most ? " ≤ " : " ≥ ";
  for (const std::string_view peer : {kLike, kBwrap}) {
    const std::string wanted = what + sign + fixed(limit, 1) + " × " + std::string(peer) +
                               (peer == kBwrap ? " (without seccomp: harder)" : "");
    targets.push_back(ratio(rows, wanted, name, peer, bound, limit));
  }
}

void memory(std::vector<Target>& targets, const Results& results) {
  constexpr double kLimit = 150;
  for (const AliveRow& row : results.alive) {
    if (row.name != "spawn" && row.name != "pool") continue;
    Target target{.wanted = std::string(row.name == "pool" ? "pool" : "coop::spawn") + ", " +
                            std::to_string(row.wanted) +
                            " alive: ≤ 150 KiB private memory of helpers each"};
    if (row.alive == row.wanted && row.trouble.empty()) {
      // Pages shared among the helpers of one sandbox are private to none of them.
      target.measured = fixed(row.helper_private, 0) + " KiB (" + fixed(row.helper_anonymous, 0) +
                        " KiB with their part of shared pages)";
      target.reached = row.helper_private <= kLimit;
    } else {
      target.measured = row.trouble.empty() ? "not measured here" : row.trouble;
      if (row.alive < row.wanted) target.reached = false;
    }
    targets.push_back(std::move(target));
  }
}

// All defaults, as people use it.
void repositories(std::vector<Target>& targets, const std::vector<RepositoryRows>& all) {
  constexpr std::size_t kLarge = 100'000;
  const Row* empty = nullptr;
  for (const RepositoryRows& one : all) {
    const std::string where =
        one.files == 0 ? std::string("an empty workspace") : std::to_string(one.files) + " files";
    if (one.files == 0) empty = find_row(one.rows, kDefaultRun);
    if (one.files < kLarge) {
      const double most = one.files == 0 ? 0.8 : 1.0;
      targets.push_back(ratio(
          one.rows, "`coop run`, all defaults, in " + where + " ≤ " + fixed(most, 1) + " × bwrap",
          kDefaultRun, kUsualBwrap, Bound::at_most, most));
      targets.push_back(ratio(one.rows, "a warm tool call in " + where + " ≤ 1.6 × bare", kWarmCall,
                              kBareShell, Bound::at_most, 1.6));
      continue;
    }
    Target target{.wanted = "`coop run` in " + where + " ≤ 2 µs for each directory more",
                  .measured = "not measured here"};
    const Row* const large = find_row(one.rows, kDefaultRun);
    if (large != nullptr && empty != nullptr && one.directories > 0) {
      const double each =
          (large->summary.median - empty->summary.median) / static_cast<double>(one.directories);
      target.measured = fixed(each, 2) + " µs";
      target.reached = each <= 2;
    }
    targets.push_back(std::move(target));
  }
}

Target compile_job(const Results& results) {
  constexpr double kLimit = 0.03;
  Target target{.wanted = "a compile job's median within 3 % of bare", .measured = "not measured"};
  const Row* inside = find_row(results.compile, "coop run");
  const Row* outside = find_row(results.compile, "bare");
  if (inside == nullptr || outside == nullptr) return target;
  const double difference = inside->summary.median / outside->summary.median - 1;
  target.measured = (difference < 0 ? "−" : "+") + fixed(std::abs(difference) * 100, 1) + " %";
  target.reached = difference <= kLimit;  // faster than bare counts as reached
  return target;
}

// The faster of its two modes.
std::string_view best_of_srt(const std::vector<Row>& rows) {
  const Row* tunnel = find_row(rows, network_name::kSrtTunnel);
  const Row* proxied = find_row(rows, network_name::kSrtProxied);
  if (tunnel == nullptr || proxied == nullptr)
    return tunnel != nullptr ? network_name::kSrtTunnel : network_name::kSrtProxied;
  return tunnel->summary.median > proxied->summary.median ? network_name::kSrtTunnel
                                                          : network_name::kSrtProxied;
}

Target network_start(const NetworkResults& network) {
  constexpr double kLimit = 3000;  // microseconds
  Target target{.wanted = "a start with `allowlist` ≤ 3 ms over `none`",
                .measured = "not measured here"};
  const Row* none = find_row(network.starts, network_name::kNone);
  const Row* allowlist = find_row(network.starts, "allowlist");
  if (none == nullptr || allowlist == nullptr) return target;
  const double over = allowlist->summary.median - none->summary.median;
  target.measured = fixed(over / 1000, 2) + " ms";
  target.reached = over <= kLimit;
  return target;
}

Target resting(const RestingRow& row) {
  constexpr double kLimit = 150;  // MB for ten thousand
  Target target{.wanted = "10,000 connections at rest through `allowlist` in ≤ 150 MB",
                .measured = "not measured here"};
  if (row.resident_kib == 0) return target;
  const double size = static_cast<double>(row.resident_kib) * 1024 / 1e6;
  target.measured = fixed(size, 0) + " MB for " + std::to_string(row.wanted);
  if (row.wanted >= 10000) target.reached = size <= kLimit;
  return target;
}

void network(std::vector<Target>& targets, const NetworkResults& network) {
  using namespace network_name;
  targets.push_back(ratio(network.stream,
                          "a large stream through `allowlist` ≥ 0.7 × direct loopback", kAllowlist,
                          kDirect, Bound::at_least, 0.7));
  targets.push_back(ratio(network.fresh,
                          "requests per second through `allowlist`, new connections ≥ 5 × srt",
                          kAllowlist, best_of_srt(network.fresh), Bound::at_least, 5));
  targets.push_back(ratio(network.kept,
                          "requests per second through `allowlist`, kept connections ≥ 5 × srt",
                          kAllowlist, best_of_srt(network.kept), Bound::at_least, 5));
  targets.push_back(network_start(network));
  targets.push_back(resting(network.resting));
}

}  // namespace

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::vector<Target> judge(const Results& results) {
  std::vector<Target> targets;
  against_bwrap(targets, results.latency, "cold `coop run`", "coop run, cold", Bound::at_most, 0.7);
  targets.push_back(ratio(results.latency, "warm pool exec ≤ 1.5 × bare `posix_spawn`",
                          "pool exec, warm", "bare posix_spawn", Bound::at_most, 1.5));
  targets.push_back(ratio(results.latency, "the same without capturing ≤ 1.5 × bare `posix_spawn`",
                          "pool spawn and wait, warm", "bare posix_spawn", Bound::at_most, 1.5));
  against_bwrap(targets, results.rates, "`coop run` per second", "coop run", Bound::at_least, 1.6);
  against_bwrap(targets, results.rates, "pool exec per second", "pool exec", Bound::at_least, 3);
  repositories(targets, results.repositories);
  memory(targets, results);
  targets.push_back(compile_job(results));
  network(targets, results.network);
  return targets;
}

}  // namespace coop::bench
