// What setting up a client, or taking that back, does to its files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/facts.h"
#include "host/files/settings_file.h"
#include "setup/file_edit.h"

namespace coop::cli {

struct FileWork {
  host::SettingsFile file{};
  setup::FileEdit edit{};
  bool changes() const { return edit.before != edit.after; }
};

// Of one client.
struct Work {
  setup::Client client{};
  Path record{};                          // the file in coop's state
  std::optional<setup::Record> after{};   // what it says then; nullopt: it goes
  std::optional<setup::Record> before{};  // what it says now
  std::vector<FileWork> files{};
  bool changes() const;
};

Result<setup::Client> read_client(std::string_view name, std::string_view program);
Path record_path(const HostFacts& host, std::string_view client);
// nullopt: the client is not set up.
Result<std::optional<setup::Record>> read_record(const Path& path);

// Reads and computes; nothing is written. A client that is set up the other way is an error.
Result<Work> work_to_set_up(const HostFacts& host, const setup::Client& client, setup::Way way);
Result<Work> work_to_take_back(const HostFacts& host, const setup::Client& client,
                               const setup::Record& record);

// The diffs of all files.
std::string diff_text(const Work& work);

// All files or none: where one cannot be written, those before it get their old text again.
Result<void> carry_out(const Work& work);

}  // namespace coop::cli
