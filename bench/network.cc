#include "network.h"

#include <unistd.h>

#include <filesystem>

#include "arena.h"
#include "base/path.h"

namespace coop::bench {

namespace {

// A directory with only the program: the workspace of the sandboxes.
Result<Path> place_load(const Ring& ring) {
  std::error_code error;
  const Path beside = parent_of(std::filesystem::read_symlink("/proc/self/exe", error).native());
  Path place = TRY(ring.scratch->directory("network"));
  const Path from = join(beside, "network_load");
  std::filesystem::copy_file(from, join(place, "network_load"), error);
  if (error) return system_error_of(error.value(), "copy", from);
  return place;
}

void measure_inside(NetworkResults& results, const Ring& ring, const Path& place,
                    const NetworkSettings& settings, Random& random) {
  const auto rows = [&](const std::string& mode) {
    return measure_latency(network_contenders(ring, place, mode, settings.time), settings.rounds,
                           random);
  };
  results.stream = rows("stream");
  results.fresh = rows("fresh");
  results.kept = rows("kept");
  results.set_up = rows("setup");
  results.starts = measure_latency(network_starts(ring), settings.starts, random);
  results.resting = hold_connections(ring, place, settings.resting);
}

}  // namespace

NetworkResults measure_network(const Ring& ring, const NetworkSettings& settings, Random& random) {
  NetworkResults results;
  if (::geteuid() != 0) {
    results.trouble = "only root can make a network for it";
    return results;
  }
  const Result<Path> place = place_load(ring);
  const Result<void> done =
      place ? within_arena(join(*place, "network_load"),
                           [&] { measure_inside(results, ring, *place, settings, random); })
            : Result<void>(std::unexpected(place.error()));
  if (!done) results.trouble = ring.scratch->shown(to_text(done.error()));
  return results;
}

}  // namespace coop::bench
