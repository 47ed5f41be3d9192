#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/path.h"
#include "cli/clock.h"
#include "cli/usage/usage.h"
#include "guards/records/kept_files.h"
#include "host/probe.h"

namespace coop::cli {

namespace {

using guards::KeptRun;

Path quarantine_of(const HostFacts& host) { return join(host.state_directory, "quarantine"); }

Result<Path> quarantine_directory() {
  const HostFacts host = TRY(host::probe(host::Depth::quick));
  return quarantine_of(host);
}

std::string as_text(const std::vector<KeptRun>& runs) {
  std::string text;
  for (const KeptRun& run : runs) {
    text += run.id + "  " + clock_text(run.written, "%Y-%m-%d %H:%M UTC") + "  " +
            printable(run.directory) + "\n";
    for (const Quarantined& file : run.files)
      text += "  " + printable(file.path) + " (guard " + file.guard +
              (file.problem.empty() ? "" : ": " + file.problem) + ")\n";
    if (run.files.empty()) text += "  nothing that `restore` can put back\n";
  }
  return text.empty() ? "the quarantine is empty\n" : text;
}

std::string as_json(const std::vector<KeptRun>& runs) {
  Json all = Json::array();
  for (const KeptRun& run : runs) {
    Json files = Json::array();
    for (const Quarantined& file : run.files)
      files.push_back({{"path", printable(file.path)},
                       {"moved_to", printable(file.moved_to)},
                       {"guard", file.guard},
                       {"problem", file.problem}});
    all.push_back({{"id", run.id},
                   {"time", clock_text(run.written, "%Y-%m-%dT%H:%M:%SZ")},
                   {"directory", printable(run.directory)},
                   {"files", std::move(files)}});
  }
  const Json json{{"runs", std::move(all)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<KeptRun> find_run(const Path& quarantine, const std::string& id) {
  const std::vector<KeptRun> runs = TRY(guards::kept_runs(quarantine));
  const auto found = std::ranges::find(runs, id, &KeptRun::id);
  if (found != runs.end()) return *found;
  return invalid("quarantine", "no run \"" + printable(id) + "\" has left files there",
                 "`coop quarantine list` names those that have");
}

}  // namespace

Result<int> quarantine_list(const Parsed& parsed) {
  const Path quarantine = TRY(quarantine_directory());
  std::vector<KeptRun> runs;
  if (parsed.arguments.empty()) runs = TRY(guards::kept_runs(quarantine));
  else runs.push_back(TRY(find_run(quarantine, parsed.arguments.front())));
  TRY(print_all(parsed.has("--json") ? as_json(runs) : as_text(runs)));
  return 0;
}

Result<int> quarantine_restore(const Parsed& parsed) {
  if (parsed.arguments.empty())
    return invalid("quarantine restore", "the ID of a run is expected",
                   "`coop quarantine list` names them");
  const HostFacts host = TRY(host::probe(host::Depth::quick));
  KeptRun run = TRY(find_run(quarantine_of(host), parsed.arguments.front()));
  if (parsed.arguments.size() > 1) {
    const Path wanted = normalize(parsed.arguments[1], host.working_directory);
    std::erase_if(run.files,
                  [&](const Quarantined& file) { return !is_within(file.path, wanted); });
    if (run.files.empty())
      return invalid("quarantine restore",
                     "run " + run.id + " has left nothing that was at " + printable(wanted),
                     "`coop quarantine list " + run.id + "` shows what it has");
  }
  if (run.files.empty())
    return invalid("quarantine restore",
                   "nothing of run " + run.id + " is left to put back, or it has no list",
                   "look into " + printable(run.directory));
  bool all = true;
  for (const Quarantined& file : run.files) {
    if (const Result<void> moved = guards::put_back_kept(file); moved) {
      TRY(print_all("put back " + printable(file.path) + "\n"));
    } else {
      print_error(moved.error());
      all = false;
    }
  }
  return all ? 0 : 1;
}

Result<int> quarantine_remove(const Parsed& parsed) {
  if (parsed.has("--all") != parsed.arguments.empty())
    return invalid("quarantine remove", "either the ID of a run or --all is expected",
                   "`coop quarantine list` names the runs");
  const Path quarantine = TRY(quarantine_directory());
  std::vector<KeptRun> runs;
  if (parsed.has("--all")) runs = TRY(guards::kept_runs(quarantine));
  else runs.push_back(TRY(find_run(quarantine, parsed.arguments.front())));
  for (const KeptRun& run : runs) {
    TRY(guards::remove_kept_run(quarantine, run));
    TRY(print_all("removed " + printable(run.directory) + "\n"));
  }
  return 0;
}

}  // namespace coop::cli
