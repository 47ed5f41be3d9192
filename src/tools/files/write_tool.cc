#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/path.h"
#include "run/prepare.h"
#include "tools/files/file_tools.h"
#include "tools/files/path_form.h"
#include "tools/values.h"

namespace coop::tools {

namespace {

constexpr std::size_t kMostEdited = std::size_t{10} << 20;
constexpr std::size_t kMostWritten = std::size_t{64} << 20;

// Takes its name away again unless it was kept.
class TemporaryName {
 public:
  explicit TemporaryName(int directory)
      : directory_(directory), name_(".coop-tmp-" + run::new_id()) {}
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;
  ~TemporaryName() {
    if (created_) ::unlinkat(directory_, name_.c_str(), 0);
  }

  const std::string& name() const { return name_; }
  bool is_created() const { return created_; }
  void created() { created_ = true; }
  void kept() { created_ = false; }

 private:
  int directory_;
  std::string name_;
  bool created_ = false;
};

// A file without a name, which is gone when we are killed; with one where the file system knows no such files.
Result<UniqueFd> open_nameless(const WritePlace& place, TemporaryName& temporary,
                               const std::string& shown) {
  UniqueFd file(::openat(place.directory.get(), ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666));
  if (file.valid()) return file;
  file.reset(::openat(place.directory.get(), temporary.name().c_str(),
                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file.valid()) return system_error("write", shown);
  temporary.created();
  return file;
}

// Only permission bits: a new file must not have set-user-id. The owner is kept if possible.
Result<void> take_after(const WritePlace& place, const UniqueFd& file, const std::string& shown) {
  if (!place.exists) return {};
  [[maybe_unused]] const int may_fail = ::fchown(file.get(), place.owner, place.group);
  if (::fchmod(file.get(), place.mode & 0777) < 0) return system_error("fchmod", shown);
  return {};
}

enum class Former : std::uint8_t { none, kept, lost };

// Gives the new file its name. A former one has the temporary name then, so that it can come back.
Result<Former> exchange(const WritePlace& place, TemporaryName& temporary,
                        const std::string& shown) {
  const auto rename = [&](unsigned flags) {
    return ::renameat2(place.directory.get(), temporary.name().c_str(), place.directory.get(),
                       place.name.c_str(), flags) == 0;
  };
  constexpr int kTries = 100;  // others may make and remove it meanwhile
  for (int attempt = 0; attempt < kTries; ++attempt) {
    if (rename(RENAME_EXCHANGE)) {
      struct stat former{};
      if (::fstatat(place.directory.get(), temporary.name().c_str(), &former, AT_SYMLINK_NOFOLLOW) <
              0 ||
          !S_ISDIR(former.st_mode))
        return Former::kept;
      rename(RENAME_EXCHANGE);
      return system_error_of(EISDIR, "rename", shown);
    }
    if (errno != ENOENT) break;
    if (rename(RENAME_NOREPLACE)) {
      temporary.kept();
      return Former::none;
    }
    if (errno != EEXIST) break;
  }
  // Some file systems know neither.
  if (!rename(0)) return system_error("rename", shown);
  temporary.kept();
  return place.exists ? Former::lost : Former::none;
}

// Only our own file: another may have taken its place.
void take_back(const WritePlace& place, const UniqueFd& file, const TemporaryName& temporary,
               Former former) {
  struct stat ours{};
  struct stat there{};
  if (::fstat(file.get(), &ours) < 0 ||
      ::fstatat(place.directory.get(), place.name.c_str(), &there, AT_SYMLINK_NOFOLLOW) < 0 ||
      ours.st_dev != there.st_dev || ours.st_ino != there.st_ino)
    return;
  if (former != Former::kept || ::renameat2(place.directory.get(), temporary.name().c_str(),
                                            place.directory.get(), place.name.c_str(), 0) < 0)
    ::unlinkat(place.directory.get(), place.name.c_str(), 0);
}

// All or nothing. A new file takes the old one's name: were the old one written to, its other hard
// links would change with it, and one of them may be what the view protects. Writing takes time, in which a command can
// make the name a guarded one: judged again when the bytes are there, and when the name is.
Result<void> replace(const FileView& view, WritePlace& place, std::string_view content) {
  const std::string shown = printable(place.shown);
  TemporaryName temporary(place.directory.get());
  const UniqueFd file = TRY(open_nameless(place, temporary, shown));
  TRY(write_all(file.get(), content, shown));
  TRY(take_after(place, file, shown));
  if (!temporary.is_created()) {
    const std::string link = "/proc/self/fd/" + std::to_string(file.get());
    if (::linkat(AT_FDCWD, link.c_str(), place.directory.get(), temporary.name().c_str(),
                 AT_SYMLINK_FOLLOW) < 0)
      return system_error("link", shown);
    temporary.created();
  }
  TRY(view.judge_again(place));
  const Former former = TRY(exchange(place, temporary, shown));
  // What was there may have been removed since: then the name is new after all.
  if (former == Former::none) place.exists = false;
  Result<void> judged = view.judge_again(place);
  if (!judged) take_back(place, file, temporary, former);
  return judged;
}

Result<void> replace_or_withdraw(const FileView& view, WritePlace& place,
                                 std::string_view content) {
  Result<void> replaced = replace(view, place, content);
  if (!replaced) FileView::withdraw(place);
  return replaced;
}

ToolOutput written(const WritePlace& place, std::string text, std::size_t size) {
  ToolOutput output{.text = std::move(text)};
  output.structured = {{"outcome", "ok"},
                       {"path", printable(place.shown)},
                       {"size", size},
                       {"created", !place.exists}};
  return output;
}

Result<ToolOutput> write(const FileView& view, const Json& arguments) {
  const std::string content = text_or(arguments, "content", "");
  if (content.size() > kMostWritten) return invalid("write", "over 64 MB at once");
  WritePlace place = TRY(view.place(text_or(arguments, "path", "")));
  TRY(replace_or_withdraw(view, place, content));
  return written(place,
                 (place.exists ? "replaced " : "created ") + printable(place.shown) + ", " +
                     std::to_string(content.size()) + " bytes",
                 content.size());
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size()))
    ++count;
  return count;
}

std::string replaced(std::string_view text, std::string_view part, std::string_view with) {
  std::string result;
  for (;;) {
    const std::size_t at = text.find(part);
    result += text.substr(0, at);
    if (at == std::string_view::npos) return result;
    result += with;
    text.remove_prefix(at + part.size());
  }
}

// How often `part` will be replaced.
Result<std::size_t> count_wanted(const Json& arguments, std::string_view text,
                                 std::string_view part, const Path& shown) {
  if (part.empty()) return invalid("edit", "\"old\" is empty", "give the text to be replaced");
  const std::size_t count = count_of(text, part);
  if (count == 0)
    return invalid("edit", "\"old\" is not in " + in_quotes(shown),
                   "it must be there exactly, blanks and line ends included: read the file again");
  if (count > 1 && !is_set(arguments, "all"))
    return invalid("edit", "\"old\" is " + std::to_string(count) + " times in " + in_quotes(shown),
                   "give more of the text around it, or set \"all\" to replace every one");
  return count;
}

Result<ToolOutput> edit(const FileView& view, const Json& arguments) {
  const std::string path = text_or(arguments, "path", "");
  const OpenedFile file = TRY(view.open(path));
  // Before anything is said about its contents.
  WritePlace place = TRY(view.place(path));
  const std::string text = TRY(read_at_most(file.fd.get(), kMostEdited, file.shown));
  if (text.size() > kMostEdited)
    return invalid("edit", in_quotes(file.shown) + " is too large to be edited (over 10 MB)");
  if (looks_binary(text)) return invalid("edit", in_quotes(file.shown) + " is a binary file");
  const std::string part = text_or(arguments, "old", "");
  const std::string with = text_or(arguments, "new", "");
  const std::size_t count = TRY(count_wanted(arguments, text, part, file.shown));
  if (with.size() > kMostWritten || text.size() + count * with.size() > kMostWritten)
    return invalid("edit", in_quotes(file.shown) + " would have over 64 MB");
  const std::string result = replaced(text, part, with);
  TRY(replace_or_withdraw(view, place, result));
  ToolOutput output = written(place,
                              "edited " + printable(place.shown) + ", " + std::to_string(count) +
                                  (count == 1 ? " place" : " places"),
                              result.size());
  output.structured["replaced"] = count;
  return output;
}

}  // namespace

ToolOutput write_file(const FileView& view, const Json& arguments) {
  return answer(write(view, arguments));
}

ToolOutput edit_file(const FileView& view, const Json& arguments) {
  return answer(edit(view, arguments));
}

}  // namespace coop::tools
