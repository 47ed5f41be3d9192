#include <cstdlib>

#include <nlohmann/json.hpp>

#include "contender.h"

namespace coop::bench {

Result<Launch> srt_launch(const Ring& ring, const std::string& command,
                          const std::vector<std::string>& hosts) {
  const char* named = ::getenv("COOP_BENCH_SRT");  // set by bench/run: where npm installed it
  Path program = named == nullptr ? "" : named;
  if (program.empty()) program = TRY(find_program("srt"));
  const nlohmann::json settings = {
      {"network", {{"allowedDomains", hosts}, {"deniedDomains", nlohmann::json::array()}}},
      {"filesystem",
       {{"denyRead", nlohmann::json::array()},
        {"allowWrite", nlohmann::json::array({ring.workspace})},
        {"denyWrite", nlohmann::json::array()}}}};
  const Path file =
      TRY(ring.scratch->file(hosts.empty() ? "srt.json" : "srt-network.json", settings.dump()));
  return Launch{.arguments = {program, "--settings", file, "-c", command},
                .directory = ring.workspace};
}

}  // namespace coop::bench
