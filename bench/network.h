// Network benchmarks: throughput, latency and cost, compared with other tools.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "contender.h"
#include "interleaved.h"

namespace coop::bench {

struct NetworkSettings {
  std::size_t rounds = 7;
  std::chrono::milliseconds time{500};  // of one measurement
  std::size_t starts = 100;
  std::size_t resting = 10000;
};

// Idle connections, all through one `coop run`.
struct RestingRow {
  std::size_t wanted = 0;
  std::string trouble{};           // why there is no figure
  double seconds = 0;              // until all were open and each had been used once
  std::uint64_t resident_kib = 0;  // of the coop process, which relays them
  std::uint64_t private_kib = 0;
};

struct NetworkResults {
  std::vector<Row> stream{};  // bytes per second
  std::vector<Row> fresh{};   // requests per second, one per connection
  std::vector<Row> kept{};    // requests per second, on keep-alive connections
  std::vector<Row> set_up{};  // microseconds
  std::vector<Row> starts{};  // microseconds
  RestingRow resting{};
  std::string trouble{};  // why nothing could be measured
};

namespace network_name {
inline constexpr const char* kDirect = "direct loopback";
inline constexpr const char* kAllowlist = "coop allowlist";
inline constexpr const char* kSrtTunnel = "srt, CONNECT";
inline constexpr const char* kSrtProxied = "srt, plain HTTP";
inline constexpr const char* kNone = "none";
}  // namespace network_name

NetworkResults measure_network(const Ring& ring, const NetworkSettings& settings, Random& random);

// One network_load client per contender; `mode` and `milliseconds` as in its usage.
std::vector<Contender> network_contenders(const Ring& ring, const Path& place,
                                          const std::string& mode, std::chrono::milliseconds time);
// `coop run --network MODE -- true`.
std::vector<Contender> network_starts(const Ring& ring);

// The flags `coop run` needs to reach the server of the arena (arena.h).
std::vector<std::string> allowlist_flags();
RestingRow hold_connections(const Ring& ring, const Path& place, std::size_t count);

}  // namespace coop::bench
