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
  std::string name{};  // of the ClientFile; empty when it is taken back
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

// The home must be the caller's; and coop's state must not lie in the project of the working directory, whose repository
// could ship a record with entries to "take back".
Result<void> check_places(const HostFacts& host);

Path record_path(const HostFacts& host, std::string_view client);
// nullopt: the client is not set up.
Result<std::optional<setup::Record>> read_record(const HostFacts& host, std::string_view client);

// Reads and computes; nothing is written. A client that is set up the other way is an error.
Result<Work> work_to_set_up(const HostFacts& host, const setup::Client& client, setup::Way way);
Result<Work> work_to_take_back(const HostFacts& host, const setup::Client& client,
                               const setup::Record& record);

// The user's settings in its files with which the changes do not do what they are for, by file and line.
std::vector<std::string> concerns_of(const Work& work);

// The diffs of all files.
std::string diff_text(const Work& work);

// All files or none: where one cannot be written, those before it get their old text again.
Result<void> carry_out(const Work& work);

}  // namespace coop::cli
