#include <algorithm>

#include "report.h"

namespace coop::bench {

namespace {

// The unit of a figure and its precision.
struct Unit {
  std::string name;
  double scale = 1;
  int digits = 2;
};
const Unit kMilliseconds{"ms", 1e-3, 2};
const Unit kSeconds{"s", 1e-6, 2};
const Unit kPerSecond{"per second", 1, 0};
const Unit kMegabytes{"MB/s", 1e-6, 0};
const Unit kMicroseconds{"µs", 1, 0};

// A bar would end the cell, a line break the row.
std::string cell(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '|', '/');
  return text;
}

std::string ratio_to(const std::vector<Row>& rows, const Row& row, std::string_view peer) {
  const Row* other = find_row(rows, peer);
  if (other == nullptr || other->summary.median <= 0) return "–";
  return fixed(row.summary.median / other->summary.median, 2);
}

std::string table_of(const std::vector<Row>& rows, const Unit& unit,
                     const std::vector<std::string>& peers) {
  std::string text = "| | isolation | median, " + unit.name + " | quartiles |";
  std::string line = "|---|---|---:|---:|";
  for (const std::string& peer : peers) {
    text += " × " + peer + " |";
    line += "---:|";
  }
  text += "\n" + line + "\n";
  for (const Row& row : rows) {
    text += "| " + cell(row.name) + " | " + cell(row.isolation) + " | ";
    if (row.unavailable.empty()) {
      const auto figure = [&](double value) { return fixed(value * unit.scale, unit.digits); };
      text += figure(row.summary.median) + " | " + figure(row.summary.lower_quartile) + " – " +
              figure(row.summary.upper_quartile) + " |";
      for (const std::string& peer : peers) text += " " + ratio_to(rows, row, peer) + " |";
    } else {
      text += "– | not runnable here: " + cell(row.unavailable) + " |";
      for (std::size_t index = 0; index < peers.size(); ++index) text += " – |";
    }
    text += "\n";
  }
  return text;
}

std::string machine_of(const Results& results) {
  const Machine& machine = results.machine;
  std::string versions;
  for (const std::string& version : machine.versions)
    versions += (versions.empty() ? "" : "; ") + version;
  std::string text = machine.kernel + ", " + std::to_string(machine.cores) + " cores (" +
                     machine.processor + "), " + machine.memory + " of memory. " + versions +
                     ". Load when the run began: " + fixed(machine.load_before, 2) + ".\n";
  if (machine.load_before > static_cast<double>(machine.cores) / 4)
    text += "\n**Something else was running: distrust these figures.**\n";
  return text;
}

std::string targets_of(const Results& results) {
  std::string text = "| to reach | measured | reached |\n|---|---:|---|\n";
  for (const Target& target : judge(results)) {
    const char* verdict = !target.reached ? "not known" : *target.reached ? "yes" : "**no**";
    text += "| " + cell(target.wanted) + " | " + cell(target.measured) + " | " + verdict + " |\n";
  }
  return text;
}

std::string alive_line(const AliveRow& row, const Holding& holding) {
  std::string text = "| " + holding.title + " | " + std::to_string(row.alive) + " of " +
                     std::to_string(row.wanted) + " | ";
  if (row.alive == 0) return text + "– | – | – | – | – | – | " + cell(row.trouble) + " |\n";
  text += fixed(row.seconds, 1) + " s | " + fixed(row.helper_processes, 1) + " | ";
  const auto helpers = [&](double kib) { return row.helpers_readable ? fixed(kib, 0) : "–"; };
  text += helpers(row.helper_private) + " | " + helpers(row.helper_anonymous) + " | ";
  text += fixed(row.holder_resident, 0) + " | " + fixed(row.machine, 0) + " | ";
  text += holding.helpers;
  return text + (row.trouble.empty() ? "" : "; " + cell(row.trouble)) + " |\n";
}

std::string alive_of(const Results& results) {
  std::string text =
      "Each of the last figures is for one sandbox, in KiB. Private: pages of its helpers that no "
      "other process maps. Anonymous: no file's, pages shared are divided among the sharers. "
      "Holder: what the process that holds them grew. Machine: memory no longer available, the "
      "kernel's own and the command included.\n\n"
      "| held by one process | alive | up after | helpers | private | anonymous | holder | machine "
      "| "
      "which helpers |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|---|\n";
  for (const AliveRow& row : results.alive)
    for (const Holding& holding : holdings())
      if (holding.name == row.name) text += alive_line(row, holding);
  return text;
}

std::string repositories_of(const std::vector<RepositoryRows>& all) {
  std::string text;
  for (const RepositoryRows& one : all) {
    text += std::to_string(one.files) + " files in " + std::to_string(one.directories) +
            " directories:\n\n";
    text += one.trouble.empty()
                ? table_of(one.rows, kMilliseconds, {"bare posix_spawn", kUsualBwrap})
                : "Not measured here: " + cell(one.trouble) + "\n";
    text += "\n";
  }
  return text;
}

std::string resting_of(const RestingRow& row) {
  const std::string what =
      std::to_string(row.wanted) + " connections at rest through one `coop run`: ";
  if (!row.trouble.empty()) return what + "not measured: " + cell(row.trouble) + ".\n";
  return what + fixed(static_cast<double>(row.resident_kib) / 1024, 1) + " MiB resident in coop (" +
         fixed(static_cast<double>(row.private_kib) / 1024, 1) + " MiB private), all open after " +
         fixed(row.seconds, 1) + " s.\n";
}

std::string network_of(const NetworkResults& network) {
  using namespace network_name;
  if (!network.trouble.empty()) return "Not measured here: " + cell(network.trouble) + "\n";
  const std::vector<std::string> peers{kDirect, kSrtTunnel, "pasta"};
  std::string text =
      "A client and a server of our own (`network_load`), both on this machine: with a relay "
      "between "
      "them, three or more processes share its cores.\n\n";
  text += "One large stream:\n\n" + table_of(network.stream, kMegabytes, peers);
  text += "\nRequests, 16 at once, each on a new connection:\n\n" +
          table_of(network.fresh, kPerSecond, peers);
  text += "\nRequests on 16 connections that stay:\n\n" + table_of(network.kept, kPerSecond, peers);
  text += "\nFrom the start of a connection to the end of its first answer, one at a time:\n\n" +
          table_of(network.set_up, kMicroseconds, peers);
  text += "\n`coop run --network MODE -- true`, from start to end:\n\n" +
          table_of(network.starts, kMilliseconds, {kNone});
  return text + "\n" + resting_of(network.resting);
}

std::string commands_of(const std::vector<Row>& rows) {
  std::string text = "```\n";
  for (const Row& row : rows)
    if (!row.how.empty()) text += row.name + ":\n  " + row.how + "\n";
  return text + "```\n";
}

}  // namespace

std::string to_markdown(const Results& results) {
  std::string text = "## As " + results.machine.user + "\n\n" + machine_of(results) + "\n";
  text += targets_of(results) + "\n";
  text += "### /bin/true, from start to end\n\n" + std::to_string(results.rounds) +
          " rounds; each runs everything once in a new random order (seed " +
          std::to_string(results.seed) + ").\n\n";
  text +=
      table_of(results.latency, kMilliseconds, {"bare posix_spawn", "bwrap + seccomp", "bwrap"}) +
      "\n";
  text += "### One tool call of an agent: sh -c true\n\n";
  text += table_of(results.tools, kMilliseconds, {"bare posix_spawn", "bwrap", "srt"}) + "\n";
  text += "### In repositories, all defaults\n\n" + repositories_of(results.repositories);
  text += "### /bin/true per second, " + std::to_string(results.threads) + " at once\n\n";
  text +=
      table_of(results.rates, kPerSecond, {"bare posix_spawn", "bwrap + seccomp", "bwrap"}) + "\n";
  text += "### Many alive at once\n\n" + alive_of(results) + "\n";
  text += "### The network\n\n" + network_of(results.network) + "\n";
  text += "### A compile job: g++ on two files\n\n";
  text += results.compile_trouble.empty()
              ? table_of(results.compile, kSeconds, {"bare"})
              : "Not runnable here: " + cell(results.compile_trouble) + "\n";
  text += "\n### Command lines\n\n" + commands_of(results.latency) + "\n" +
          commands_of(results.tools) + "\n" + commands_of(results.compile) + "\n" +
          commands_of(results.network.stream);
  return text;
}

}  // namespace coop::bench
