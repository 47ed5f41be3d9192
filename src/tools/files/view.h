// Files as a principal's commands see them: through the root of a sandbox of its policy.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "coop/policy.h"
#include "run/view_root.h"
#include "sys/fd.h"

namespace coop::tools {

// An existing file or directory.
struct OpenedFile {
  UniqueFd fd{};  // O_RDONLY; plain files and directories only
  Path inside{};  // the kernel's name of it in the sandbox, without symlinks
  Path shown{};   // as the caller knows it: from the workspace on, or absolute inside
  struct stat status{};
};

// A directory that was made on the way to a new file.
struct MadeDirectory {
  UniqueFd parent{};
  std::string name{};
};

// Where a file is to be written: its directory, opened, and its name there.
struct WritePlace {
  UniqueFd directory{};
  std::string name{};
  Path shown{};
  std::vector<MadeDirectory> made{};  // outermost first
  bool exists = false;
  mode_t mode = 0644;  // of what is there now, as are the next two
  uid_t owner = 0;
  gid_t group = 0;
};

// Whether the sandboxes of this plan share one /tmp.
bool keeps_tmp(const Plan& plan);

// Paths are as commands inside would write them: absolute, or relative to the workspace; ".." is taken
// by its text. The host's own name of the workspace is understood as well. Every refusal is an Error
// whose hint names the grant and whose subject names the rule.
class FileView {
 public:
  // What the policy's sandbox shows, judged by its mounts. Names that it hides or guards are refused whether they exist
  // or not. `former` lends its sandbox when the view is still the same.
  static Result<FileView> of_sandbox(const Policy& policy, const FileView* former = nullptr);
  static Result<FileView> of_root(std::shared_ptr<const run::ViewRoot> root);
  // The owner's: the whole machine, with the caller's own rights; relative paths start at the workspace.
  static Result<FileView> of_host(const Path& workspace);

  Result<OpenedFile> open(std::string_view path) const;
  // Creates no file. Missing directories are made (mode 0755) inside writable trees only.
  Result<WritePlace> place(std::string_view path) const;
  // Judges it again, by where its directory is now. Commands and other calls run at the same time: one may have renamed
  // the directory, or made the other half of what is guarded as a whole.
  Result<void> judge_again(const WritePlace& place) const;
  // Removes the directories that were made for it.
  static void withdraw(WritePlace& place);
  // Whether an entry of an opened directory may be shown in a listing: hidden ones are not.
  bool shows(const Path& inside) const;
  // Where names are decided one by one: shows() answers for an entry of a directory as for the directory itself, unless
  // the entry, or something below it, is in here. Sorted.
  std::vector<Path> decided() const;
  // Whether that holds for this directory: something of the host is there.
  bool is_uniform(const Path& inside) const;

  const Path& workspace() const;  // on the host, canonical
  const Path& workspace_inside() const;
  bool keeps_tmp() const;  // /tmp is the shared one
  bool is_alive() const;
  // False when git's settings have changed since the view was made: they name files that are guarded too.
  bool knows_settings() const;
  bool shares_sandbox_with(const FileView& other) const;

  struct State;

 private:
  explicit FileView(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

// The view as it is now. Patterns are matched and guards looked for when a view is made, so it is made anew when a
// command has run, and when it is older than `good_for`.
class ViewCache {
 public:
  using Make = std::function<Result<FileView>(const FileView* former)>;
  ViewCache(Make make, std::chrono::milliseconds good_for)
      : make_(std::move(make)), good_for_(good_for) {}

  // An error when it cannot be made any more: then no file is shown at all.
  Result<FileView> get();
  // One that has just been made.
  void put(FileView view);
  void outdate();

 private:
  void keep(FileView view);

  Make make_;
  std::mutex mutex_{};
  std::optional<FileView> view_{};
  std::chrono::milliseconds good_for_;
  std::chrono::steady_clock::time_point good_until_{};
};

}  // namespace coop::tools
