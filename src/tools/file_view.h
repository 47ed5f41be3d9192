// Files as a principal sees them: the same walls as its commands have, without starting one.
#pragma once

#include <sys/stat.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "coop/policy.h"
#include "run/prepare.h"
#include "sys/fd.h"

namespace coop::tools {

// An existing file or directory, opened without following anything out of its tree.
struct OpenedFile {
  UniqueFd fd{};  // O_RDONLY for plain files and directories
  Path host{};    // canonical, on the host
  Path shown{};   // as the caller knows it: from the workspace on, or absolute inside
  struct stat status{};
};

// Where a file is to be written: its directory, opened, and its name there.
struct WritePlace {
  UniqueFd directory{};
  std::string name{};
  Path host{};
  Path shown{};
  bool exists = false;
  mode_t mode = 0644;  // of what is there now, as are the next two
  uid_t owner = 0;
  gid_t group = 0;
};

// Paths are as commands inside would write them: absolute, or relative to the workspace; ".." is taken
// by its text. The host's own name of the workspace is understood as well. Every refusal is an Error whose hint names the grant
// and whose context or subject names the rule.
class FileView {
 public:
  // The view of sandboxed principals: what the plan hides is not there, what it protects or guards
  // cannot be written, and nothing outside the shown trees exists.
  static Result<FileView> of_sandbox(const Policy& policy);
  // The owner's: the whole machine, as whoever runs us; relative paths start at the workspace.
  static Result<FileView> of_host(const Path& workspace);

  Result<OpenedFile> open(std::string_view path) const;
  // Creates no file. Missing directories are made (mode 0755) inside writable trees only.
  Result<WritePlace> place(std::string_view path) const;
  // Whether an entry of an opened directory may be shown in a listing: hidden ones are not.
  bool shows(const Path& host) const;

  const Path& workspace() const;  // on the host, canonical
  const Path& workspace_inside() const;

  struct State;

 private:
  explicit FileView(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

}  // namespace coop::tools
