#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/path.h"
#include "cli/setup/setup_work.h"
#include "cli/usage/usage.h"
#include "host/probe.h"
#include "request/sources.h"
#include "sys/real_path.h"

namespace coop::cli {

namespace {

using setup::Client;
using setup::Way;

constexpr int kNotConfirmed = 1;
constexpr const char* kNotAll =
    " has coop's entries, but other settings of yours work against them: see above";

std::string dumped(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// --- The list ----------------------------------------------------------------------------------

bool is_there(const Path& path) { return ::access(path.c_str(), F_OK) == 0; }

bool is_found(const HostFacts& host, const Client& client) {
  if (std::ranges::any_of(client.traces, [&](const std::string& trace) {
        return is_there(join(host.home, trace));
      }))
    return true;
  const auto variable = host.environment.find("PATH");
  if (variable == host.environment.end()) return false;
  std::string_view rest = variable->second;
  while (!rest.empty()) {
    const std::string directory(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(directory.size() + 1, rest.size()));
    for (const std::string& command : client.commands)
      if (directory.starts_with('/') && ::access(join(directory, command).c_str(), X_OK) == 0)
        return true;
  }
  return false;
}

struct Listed {
  Client client{};
  bool found = false;
  std::optional<Way> way{};  // nullopt: not set up
};

Result<std::vector<Listed>> list_clients(const HostFacts& host, const Path& program) {
  std::vector<Listed> all;
  for (const std::string_view name : setup::client_names()) {
    Listed one{.client = TRY(read_client(name, program))};
    one.found = is_found(host, one.client);
    const std::optional<setup::Record> record = TRY(read_record(host, name));
    if (record) one.way = record->way;
    all.push_back(std::move(one));
  }
  return all;
}

std::string state_text(const Listed& one) {
  if (one.way == Way::tools) return "set up: coop's tools instead of its own";
  if (one.way == Way::shell) return "set up: its shell runs in the sandbox";
  return one.found ? "found, not set up" : "not found here";
}

std::string list_text(const std::vector<Listed>& all) {
  std::string text;
  for (const Listed& one : all) {
    std::string line = one.client.name;
    line.resize(std::max<std::size_t>(line.size() + 1, 12), ' ');
    line += one.client.title;
    line.resize(std::max<std::size_t>(line.size() + 1, 36), ' ');
    text += line + state_text(one) + "\n";
  }
  return text + "\n`coop setup CLIENT` shows what it would change, and asks.\n";
}

Json list_json(const std::vector<Listed>& all) {
  Json clients = Json::array();
  for (const Listed& one : all)
    clients.push_back({{"name", one.client.name},
                       {"title", one.client.title},
                       {"found", one.found},
                       {"set_up", one.way ? Json(setup::to_text(*one.way)) : Json()},
                       {"measured", one.client.measured},
                       {"notes", one.client.notes}});
  return {{"clients", std::move(clients)}};
}

// --- One client, or --undo of all --------------------------------------------------------------

std::vector<std::string> notes_of(const Work& work, Way way, const Path& program) {
  std::vector<std::string> notes = way == Way::tools ? work.client.notes : work.client.shell_notes;
  if (work.client.measured.empty())
    notes.push_back("written from the documentation of " + work.client.title +
                    ", not tried with it: look whether its own tools are gone");
  for (const std::string_view passing : {"/tmp/", "/var/tmp/", "/dev/shm/"})
    if (program.starts_with(passing)) notes.push_back(program + " may be gone after a restart");
  if (program.contains("/build/"))
    notes.push_back(program + " lies in a build directory: install coop, and set up again");
  return notes;
}

std::vector<std::string> left_text(const Work& work) {
  std::vector<std::string> notes;
  for (const FileWork& file : work.files)
    for (const std::string& entry : file.edit.left)
      notes.push_back("left as it is, you have changed it since: " + printable(entry) + " in " +
                      printable(file.file.path));
  return notes;
}

Json work_json(const Work& work, const std::vector<std::string>& notes) {
  Json files = Json::array();
  for (const FileWork& file : work.files) {
    const std::string name = printable(file.file.path);
    files.push_back({{"path", name},
                     {"target", printable(file.file.target)},
                     {"changes", file.changes()},
                     {"created", !file.edit.before && file.edit.after},
                     {"removed", file.edit.before && !file.edit.after},
                     {"left", file.edit.left}});
  }
  return {{"client", work.client.name}, {"files", std::move(files)}, {"notes", notes}};
}

Result<bool> is_confirmed(const Parsed& parsed) {
  if (parsed.has("--yes")) return true;
  if (parsed.has("--json") || ::isatty(STDIN_FILENO) != 1)
    return invalid("setup", "nothing was changed: there is no terminal to ask at",
                   "--yes does it without asking, --dry-run only shows it");
  say("write this? [y/N]");
  std::string line;
  std::getline(std::cin, line);
  return line == "y" || line == "Y" || line == "yes";
}

// Shows, asks and does it, for one client or several.
Result<int> show_and_do(const Parsed& parsed, const std::vector<Work>& all,
                        const std::vector<std::vector<std::string>>& notes, std::string_view done) {
  const bool json = parsed.has("--json");
  Json clients = Json::array();
  bool changes = false;  // of files; without any, only coop's own record goes
  for (std::size_t at = 0; at < all.size(); ++at) {
    clients.push_back(work_json(all[at], notes[at]));
    changes = changes || all[at].changes();
    if (!json) TRY(print_all(diff_text(all[at])));
    if (!json)
      for (const std::string& note : notes[at]) say(note);
  }
  const bool is_trial = parsed.has("--dry-run");
  if (changes && !is_trial) {
    const bool confirmed = TRY(is_confirmed(parsed));
    if (!confirmed) {
      say("nothing was changed");
      return kNotConfirmed;
    }
  }
  if (!is_trial)
    for (const Work& work : all) TRY(with_context("setup " + work.client.name, carry_out(work)));
  const bool written = changes && !is_trial;
  if (json) TRY(print_all(dumped({{"written", written}, {"clients", std::move(clients)}})));
  else if (!is_trial) say(std::string(done));
  return 0;
}

Result<int> set_up(const Parsed& parsed, const HostFacts& host, const Path& program) {
  const Client client = TRY(read_client(parsed.arguments.front(), program));
  const Way way = parsed.has("--bash") ? Way::shell : Way::tools;
  if (way == Way::shell && !client.no_shell.empty())
    return invalid("setup " + client.name + " --bash", client.no_shell,
                   "without --bash its shell is off, and it has coop's");
  const Work work = TRY(with_context("setup " + client.name, work_to_set_up(host, client, way)));
  const std::vector<std::string> concerns = concerns_of(work);
  if (!work.changes() && !parsed.has("--json")) {
    for (const std::string& concern : concerns) say(concern);
    say(client.title + (concerns.empty() ? " is set up already" : kNotAll));
    return 0;
  }
  std::vector<std::string> notes = notes_of(work, way, program);
  notes.insert(notes.end(), concerns.begin(), concerns.end());
  return show_and_do(parsed, {work}, {std::move(notes)},
                     client.title + (concerns.empty() ? " is set up" : kNotAll) +
                         "; start it anew. To take it back: coop setup " + client.name + " --undo");
}

Result<int> take_back(const Parsed& parsed, const HostFacts& host, const Path& program) {
  std::vector<Work> all;
  std::vector<std::vector<std::string>> notes;
  for (const std::string_view name : setup::client_names()) {
    if (!parsed.arguments.empty() && name != parsed.arguments.front()) continue;
    const std::optional<setup::Record> record = TRY(read_record(host, name));
    if (!record) continue;
    const Client client = TRY(read_client(name, program));
    all.push_back(
        TRY(with_context("setup " + client.name, work_to_take_back(host, client, *record))));
    notes.push_back(left_text(all.back()));
  }
  if (!parsed.arguments.empty()) TRY(read_client(parsed.arguments.front(), program));  // the name
  if (all.empty() && !parsed.has("--json")) {
    say("nothing is set up");
    return 0;
  }
  return show_and_do(parsed, all, notes, "taken back");
}

}  // namespace

Result<int> command_setup(const Parsed& parsed) {
  const HostFacts host = TRY(request::surroundings());
  const Path program = TRY(read_link("/proc/self/exe"));
  if (parsed.arguments.empty() && !parsed.has("--undo"))
    for (const std::string_view flag : {"--bash", "--dry-run", "--yes"})
      if (parsed.has(flag))
        return invalid("setup", std::string(flag) + " needs the name of a client",
                       "coop setup claude " + std::string(flag));
  if (parsed.has("--undo") || !parsed.arguments.empty()) TRY(check_places(host));
  if (parsed.has("--undo")) return take_back(parsed, host, program);
  if (!parsed.arguments.empty()) return set_up(parsed, host, program);
  const std::vector<Listed> all = TRY(list_clients(host, program));
  TRY(print_all(parsed.has("--json") ? dumped(list_json(all)) : list_text(all)));
  return 0;
}

}  // namespace coop::cli
