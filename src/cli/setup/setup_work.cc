#include "cli/setup/setup_work.h"

#include <unistd.h>
#include <algorithm>

#include "base/path.h"
#include "base/text.h"
#include "setup/diff.h"
#include "sys/fd.h"

namespace coop::cli {

namespace {

using setup::ClientFile;
using setup::FileRecord;
using setup::Record;

std::string variable(const HostFacts& host, const std::string& name) {
  const auto found = host.environment.find(name);
  return found == host.environment.end() ? "" : found->second;
}

Path path_of(const HostFacts& host, const ClientFile& file) {
  Path path = join(host.home, file.path);
  const std::string moved = file.moved_by.empty() ? "" : variable(host, file.moved_by);
  if (moved.starts_with('/'))
    path = join(normalize(moved), relative_to("/" + file.path, "/" + file.moved));
  const Path other = join(parent_of(path), file.instead);
  const bool only_other = !file.instead.empty() && ::access(path.c_str(), F_OK) < 0 &&
                          ::access(other.c_str(), F_OK) == 0;
  return only_other ? other : path;
}

Result<FileWork> edited(const Path& path, const ClientFile& file,
                        const std::vector<setup::Change>& changes) {
  FileWork work{.file = TRY(host::read_settings_file(path))};
  work.edit =
      TRY(with_context(printable(path), setup::apply_changes({.path = path, .format = file.format},
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

Path record_path(const HostFacts& host, std::string_view client) {
  return join(host.state_directory, "setup/" + std::string(client) + ".json");
}

Result<std::optional<Record>> read_record(const Path& path) {
  const Result<std::string> text = read_file(path);
  if (!text && text.error().errno_value == ENOENT) return std::nullopt;
  if (!text) return std::unexpected(text.error());
  Record record = TRY(with_context(printable(path), setup::parse_record(*text)));
  return record;
}

Result<Work> work_to_set_up(const HostFacts& host, const setup::Client& client, setup::Way way) {
  Work work{.client = client, .record = record_path(host, client.name)};
  work.before = TRY(read_record(work.record));
  if (work.before && work.before->way != way)
    return invalid("setup " + client.name, "it is set up the other way",
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
  for (const FileRecord& file : record.files) {
    FileWork one{.file = TRY(host::read_settings_file(file.path))};
    one.edit = TRY(with_context(printable(file.path), setup::take_back(file, one.file.text)));
    work.files.push_back(std::move(one));
  }
  return work;
}

std::string diff_text(const Work& work) {
  std::string text;
  for (const FileWork& file : work.files)
    text += setup::unified_diff(file.edit.before.value_or(""), file.edit.after.value_or(""),
                                file.edit.before ? file.file.path : "/dev/null",
                                file.edit.after ? file.file.path : "/dev/null");
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
  if (!work.after) TRY(write_record(work.record, work.after));
  return {};
}

}  // namespace coop::cli
