#include "setup/file_edit.h"

#include <ranges>
#include <utility>

namespace coop::setup {

namespace {

bool is_blank_text(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

FileEdit unchanged(FileEdit edit) {
  edit.after = edit.before;
  return edit;
}

}  // namespace

Result<FileEdit> apply_changes(FileRecord record, std::optional<std::string> text,
                               const std::vector<Change>& changes) {
  FileEdit result{.before = std::move(text)};
  record.created = !result.before;
  const bool is_blank = !result.before || is_blank_text(*result.before);
  if (is_blank) record.blank = result.before;
  std::string now = is_blank ? std::string(empty_text(record.format)) : *result.before;
  TRY(check_syntax(record.format, now));
  for (const Change& change : changes) {
    Edited edited = TRY(with_context(path_text(change.path), edit(record.format, now, change)));
    now = std::move(edited.text);
    record.done.insert(record.done.end(), edited.done.begin(), edited.done.end());
  }
  result.after = record.done.empty() ? result.before : std::optional(std::move(now));
  result.record = std::move(record);
  return result;
}

Result<FileEdit> take_back(const FileRecord& record, std::optional<std::string> text) {
  FileEdit result{.before = std::move(text), .record = record};
  if (!result.before) return result;
  std::string now = *result.before;
  if (is_blank_text(now)) return unchanged(std::move(result));
  TRY(check_syntax(record.format, now));
  for (const Done& done : std::views::reverse(record.done)) {
    Undone undone = TRY(with_context(path_text(done.change.path), undo(record.format, now, done)));
    if (undone.outcome == Undoing::changed) result.left.push_back(path_text(done.change.path));
    now = std::move(undone.text);
  }
  result.after = std::move(now);
  if (!says_nothing(record.format, *result.after)) return result;
  if (record.created) result.after.reset();
  else if (record.blank) result.after = record.blank;
  return result;
}

}  // namespace coop::setup
