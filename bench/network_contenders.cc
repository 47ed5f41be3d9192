#include <cstdlib>
#include <string_view>

#include "arena.h"
#include "base/path.h"
#include "network.h"
#include "peers.h"

namespace coop::bench {

namespace {

using namespace network_name;

// "sh attach.sh pasta|slirp4netns COMMAND...": runs the command in a new network namespace that the
// provider connects. Every wait has a timeout.
constexpr std::string_view kAttach = R"sh(provider=$1; shift
here=$(readlink /proc/self/ns/net)
unshare --user --map-root-user --net sh -c '
  ip link set lo up
  for try in $(seq 500); do ip route show default | grep -q . && exec "$@"; sleep 0.01; done
  echo "no network came"; exit 1' sh "$@" &
pid=$!
for try in $(seq 500); do [ "$(readlink /proc/$pid/ns/net)" != "$here" ] && break; sleep 0.01; done
case $provider in
  pasta) pasta --foreground --quiet --config-net --no-map-gw --ipv4-only --runas 0 \
    -t none -u none -T none -U none $pid >/dev/null 2>&1 & ;;
  slirp4netns) slirp4netns --configure --mtu=65520 --disable-dns $pid tap0 >/dev/null 2>&1 & ;;
esac
keeper=$!
wait $pid; status=$?
kill $keeper 2>/dev/null
wait $keeper 2>/dev/null
exit $status
)sh";

// The last output of a client: "result 12.5".
Result<double> figure_in(const std::string& printed) {
  constexpr std::string_view kMark = "result ";
  const std::size_t at = printed.rfind(kMark);
  if (at == std::string::npos) return unsupported("network_load", "it printed no figure");
  return std::strtod(printed.c_str() + at + kMark.size(), nullptr);
}

// Uses the client's own figure, so that the start is not counted.
Contender from_client(std::string name, std::string isolation, Result<Launch> launch,
                      const Scratch& scratch) {
  Contender contender{.name = std::move(name), .isolation = std::move(isolation)};
  Result<Program> program = launch ? Program::prepare(std::move(*launch))
                                   : Result<Program>(std::unexpected(launch.error()));
  if (!program) {
    contender.unavailable = scratch.shown(to_text(program.error()));
    return contender;
  }
  contender.how = shown(program->launch(), scratch);
  const auto shared = std::make_shared<Program>(std::move(*program));
  contender.once = [shared]() -> Result<double> {
    const std::string printed = TRY(shared->rehearse());
    return figure_in(printed);
  };
  return contender;
}  // namespace

std::string joined(const Words& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

Result<Launch> attached(const Ring& ring, const std::string& provider, const Words& client) {
  TRY(find_program(provider));
  const Path script = TRY(ring.scratch->file("attach.sh", kAttach));
  Launch launch{.arguments = {"/bin/sh", script, provider}};
  launch.arguments.insert(launch.arguments.end(), client.begin(), client.end());
  return launch;
}

}  // namespace

std::vector<std::string> allowlist_flags() {
  Words flags = kComparableFlags;
  for (const std::string& word :
       {std::string("--network"), std::string("allowlist"), std::string("--allow-net"),
        kServerAddress + ":" + kServerPort, std::string("--open-files"), std::string("20000")})
    flags.push_back(word);
  return flags;
}

std::vector<Contender> network_contenders(const Ring& ring, const Path& place,
                                          const std::string& mode, std::chrono::milliseconds time) {
  const Path load = join(place, "network_load");
  const auto client = [&](const Path& program, const std::string& way) {
    return Words{program, mode, way, kServerAddress, kServerPort, std::to_string(time.count())};
  };
  const auto coop = [&](const Words& flags, const std::string& way) {
    return coop_launch(ring.coop, place, flags, client("./network_load", way));
  };
  const auto srt = [&](const std::string& way) {
    return srt_launch(ring, joined(client(load, way)), Words{kServerAddress});
  };
  Words full = kComparableFlags;
  // The server is on this machine, whose own addresses are refused by default.
  full.insert(full.end(), {"--network", "full", "--allow-net", kServerAddress + ":" + kServerPort,
                           "--open-files", "20000"});
  const Scratch& scratch = *ring.scratch;
  std::vector<Contender> all;
  all.push_back(from_client(kDirect, "none", Launch{.arguments = client(load, "plain")}, scratch));
  all.push_back(from_client(kAllowlist, "one address allowed; nothing to be set up by the client",
                            coop(allowlist_flags(), "plain"), scratch));
  all.push_back(from_client("coop allowlist, CONNECT", "the same, through its proxy",
                            coop(allowlist_flags(), "tunnel"), scratch));
  all.push_back(
      from_client("coop full", "by pasta; no private addresses", coop(full, "plain"), scratch));
  all.push_back(
      from_client(kSrtTunnel, "one address allowed, through its proxy", srt("tunnel"), scratch));
  all.push_back(from_client(kSrtProxied, "the same", srt("proxied"), scratch));
  all.push_back(from_client("pasta", "the network only; everything is allowed",
                            attached(ring, "pasta", client(load, "plain")), scratch));
  all.push_back(from_client("slirp4netns", "the network only; everything is allowed",
                            attached(ring, "slirp4netns", client(load, "plain")), scratch));
  return all;
}

std::vector<Contender> network_starts(const Ring& ring) {
  const Words command{"/bin/true"};
  std::vector<Contender> all;
  for (const std::string mode : {kNone, "allowlist", "full", "veth"}) {
    Words flags = mode == "allowlist" ? allowlist_flags() : kComparableFlags;
    if (mode != "allowlist") flags.insert(flags.end(), {"--network", mode});
    all.push_back(from_launch(mode, "namespaces, mounts, seccomp, Landlock",
                              coop_launch(ring.coop, ring.workspace, flags, command),
                              *ring.scratch));
  }
  return all;
}

}  // namespace coop::bench
