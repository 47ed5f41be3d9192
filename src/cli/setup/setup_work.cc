#include "cli/setup/setup_work.h"

#include <unistd.h>
#include <algorithm>

#include "base/path.h"
#include "base/text.h"
#include "setup/diff.h"
#include "sys/real_path.h"

namespace coop::cli {

namespace {

using setup::ClientFile;
using setup::FileRecord;
using setup::Record;

std::string variable(const HostFacts& host, const std::string& name) {
  const auto found = host.environment.find(name);
  return found == host.environment.end() ? "" : found->second;
}

// Its usual name and the other one.
setup::PlacedFile place_of(const HostFacts& host, const ClientFile& file) {
  Path path = join(host.home, file.path);
  const std::string moved = file.moved_by.empty() ? "" : variable(host, file.moved_by);
  if (moved.starts_with('/'))
    path = join(normalize(moved), relative_to("/" + file.path, "/" + file.moved));
  setup::PlacedFile place{.name = file.name, .paths = {path}, .format = file.format};
  if (!file.instead.empty()) place.paths.push_back(join(parent_of(path), file.instead));
  return place;
}

Path path_of(const HostFacts& host, const ClientFile& file) {
  const std::vector<Path> paths = place_of(host, file).paths;
  const bool only_other = paths.size() > 1 && ::access(paths[0].c_str(), F_OK) < 0 &&
                          ::access(paths[1].c_str(), F_OK) == 0;
  return only_other ? paths[1] : paths[0];
}

std::string record_name(std::string_view client) {
  return "setup/" + std::string(client) + ".json";
}

Result<FileWork> edited(const Path& path, const ClientFile& file,
                        const std::vector<setup::Change>& changes) {
  FileWork work{.name = file.name, .file = TRY(host::read_settings_file(path))};
  work.edit = TRY(with_context(
      printable(path),
      setup::apply_changes({.path = path, .format = file.format, .directories = work.file.missing},
                           work.file.text, changes)));
  return work;
}

Record record_of(const Work& work, setup::Way way) {
  Record record{.way = way};
  for (const FileWork& file : work.files)
    if (file.changes()) record.files.push_back(file.edit.record);
  return record;
}

Result<void> write_record(const Path& path, const std::optional<Record>& record) {
  if (record) return host::write_private_file(path, setup::to_json_text(*record));
  if (::unlink(path.c_str()) < 0 && errno != ENOENT) return system_error("remove", path);
  return {};
}

// Best effort: the error that led here is the one to report.
void put_back(std::span<const FileWork> files) {
  for (const FileWork& work : files) {
    if (!work.changes()) continue;
    host::SettingsFile now = work.file;
    now.text = work.edit.after;
    (void)host::replace_settings_file(now, work.edit.before);
    host::remove_empty(work.file.missing);
  }
}

}  // namespace

bool Work::changes() const { return std::ranges::any_of(files, &FileWork::changes); }

Result<setup::Client> read_client(std::string_view name, std::string_view program) {
  const setup::ShippedClient* shipped = setup::find_client(name);
  if (shipped == nullptr)
    return invalid(
        "setup", "coop knows no client \"" + printable(name) + "\"",
        "one of: " + joined(setup::client_names(), ", ") + "; for others see docs/guides/mcp.md");
  policy::Findings findings;
  setup::Client client = setup::read_client(*shipped, program, findings);
  if (policy::has_errors(findings)) return std::unexpected(policy::to_error(findings));
  return client;
}

Result<void> check_places(const HostFacts& host) {
  TRY(host::check_home(host.home));
  const Path home = resolved_path(host.home);
  const Path state = resolved_path(host.state_directory);
  const Path here = resolved_path(host.working_directory);
  for (Path tree = here; !is_within(home, tree); tree = parent_of(tree)) {
    const bool is_project = tree == here || ::access(join(tree, ".git").c_str(), F_OK) == 0;
    if (is_project && is_within(state, tree))
      return invalid("setup",
                     "coop's state directory " + in_quotes(state) + " lies in the project " +
                         in_quotes(tree) + ", which could say what is taken back",
                     "unset XDG_STATE_HOME");
  }
  return {};
}

Path record_path(const HostFacts& host, std::string_view client) {
  return join(host.state_directory, record_name(client));
}

Result<std::optional<Record>> read_record(const HostFacts& host, std::string_view client) {
  const std::optional<std::string> text =
      TRY(host::read_private_file(host.state_directory, record_name(client)));
  if (!text) return std::nullopt;
  Record record =
      TRY(with_context(printable(record_path(host, client)), setup::parse_record(*text)));
  return record;
}

Result<Work> work_to_set_up(const HostFacts& host, const setup::Client& client, setup::Way way) {
  Work work{.client = client, .record = record_path(host, client.name)};
  work.before = TRY(read_record(host, client.name));
  if (work.before && work.before->way != way)
    return invalid("", "it is set up the other way",
                   "take that back first: coop setup " + client.name + " --undo");
  for (const ClientFile& file : client.files) {
    std::vector<setup::Change> changes;
    for (const setup::ClientChange& change : client.changes)
      if (change.way == way && change.file == file.name) changes.push_back(change.change);
    if (changes.empty()) continue;
    work.files.push_back(TRY(edited(path_of(host, file), file, changes)));
  }
  work.after =
      setup::joined_records(work.before.value_or(Record{.way = way}), record_of(work, way));
  return work;
}

Result<Work> work_to_take_back(const HostFacts& host, const setup::Client& client,
                               const Record& record) {
  Work work{.client = client, .record = record_path(host, client.name), .before = record};
  std::vector<setup::PlacedFile> places;
  places.reserve(client.files.size());
  for (const ClientFile& file : client.files) places.push_back(place_of(host, file));
  TRY(with_context(printable(work.record), setup::check_record(record, client, places)));
  for (const FileRecord& file : record.files) {
    FileWork one{.file = TRY(host::read_settings_file(file.path))};
    one.edit = TRY(with_context(printable(file.path), setup::take_back(file, one.file.text)));
    work.files.push_back(std::move(one));
  }
  return work;
}

std::vector<std::string> concerns_of(const Work& work) {
  std::vector<std::string> texts;
  for (const FileWork& file : work.files)
    for (const setup::FoundConcern& found :
         setup::find_concerns(work.client, file.name, file.edit.after.value_or("")))
      texts.push_back("line " + std::to_string(found.line) + " of " + printable(file.file.target) +
                      ": " + printable(found.text));
  return texts;
}

std::string diff_text(const Work& work) {
  std::string text;
  for (const FileWork& file : work.files) {
    const std::string name =
        file.file.path + (file.file.is_moved() ? " -> " + file.file.target : "");
    text += setup::unified_diff(file.edit.before.value_or(""), file.edit.after.value_or(""),
                                file.edit.before ? name : "/dev/null",
                                file.edit.after ? name : "/dev/null");
  }
  return text;
}

// The record first: after a crash between two files it says more than was done, and what is not there is no trouble to
// --undo.
Result<void> carry_out(const Work& work) {
  if (work.after) TRY(write_record(work.record, work.after));
  for (std::size_t at = 0; at < work.files.size(); ++at) {
    const FileWork& file = work.files[at];
    if (!file.changes()) continue;
    const Result<void> written = host::replace_settings_file(file.file, file.edit.after);
    if (written) continue;
    put_back(std::span(work.files).first(at));
    (void)write_record(work.record, work.before);
    return written;
  }
  if (work.after) return {};
  if (work.before)
    for (const FileRecord& file : work.before->files) host::remove_empty(file.directories);
  return write_record(work.record, work.after);
}

}  // namespace coop::cli
