// What setup did to the files of a client: enough to take it back.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coop/path.h"
#include "setup/client.h"

namespace coop::setup {

struct FileRecord {
  Path path{};
  Format format = Format::json;
  bool created = false;                // setup made the file
  std::optional<std::string> blank{};  // what it had, where that was only blanks
  std::vector<Path> directories{};     // setup made them for it, the innermost first
  std::vector<Done> done{};
  bool operator==(const FileRecord&) const = default;
};

struct Record {
  Way way = Way::tools;
  std::vector<FileRecord> files{};
  bool operator==(const Record&) const = default;
};

std::string to_json_text(const Record& record);
Result<Record> parse_record(std::string_view text);

// Where each file of a client is, by its name in the client's data.
struct PlacedFile {
  std::string name{};
  std::vector<Path> paths{};  // it may have two names
  Format format = Format::json;
};

// Whether setup can have written `record` for this client: only files, places in them and directories that its data names.
// Old values are judged when they are put back.
Result<void> check_record(const Record& record, const Client& client,
                          const std::vector<PlacedFile>& places);

// With what a further setup did to the same files.
Record joined_records(Record earlier, const Record& later);

}  // namespace coop::setup
