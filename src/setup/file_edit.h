// All changes of one settings file, on its text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "setup/record.h"

namespace coop::setup {

struct FileEdit {
  std::optional<std::string> before{};  // nullopt: there is no such file
  std::optional<std::string> after{};   // nullopt: it goes
  FileRecord record{};                  // of an undoing: unused
  std::vector<std::string> left{};      // entries that are not what setup wrote any more
  bool operator==(const FileEdit&) const = default;
};

// `text` as it is now; the record has the path and the format.
Result<FileEdit> apply_changes(FileRecord record, std::optional<std::string> text,
                               const std::vector<Change>& changes);

// In the opposite order. A file that setup made and that says nothing any more goes.
Result<FileEdit> take_back(const FileRecord& record, std::optional<std::string> text);

}  // namespace coop::setup
