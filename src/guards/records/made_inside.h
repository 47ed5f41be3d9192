// Git directories that sandboxes made. A later sandbox may remove, move and change them like other files of the workspace;
// what is left is judged at its end as if it were new. The record is a file of coop's own, out of every sandbox's reach.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/facts.h"

namespace coop::guards {

class MadeInside {
 public:
  // An empty record if there is no such file, or others could have written it.
  static MadeInside read(const Path& file);

  // Moves what the record names from look.git to look.made_inside, and leaves out the guarded paths in it and the .git
  // files that lead there. A directory whose settings or hooks are not as the sandbox left them is the user's now and
  // stays; so does the repository of the workspace itself, at `root`.
  void set_apart(WorkspaceFacts& look, const Path& root) const;

 private:
  std::map<std::string, std::string> known_{};  // which directory → what was guarded in it
};

// Adds those of `now`, the git directories after a run, that its sandbox made: set apart before it, or born during it.
Result<void> remember_made(const Path& file, std::span<const std::string> guards,
                           const std::vector<WorkspaceFacts>& before,
                           const std::vector<GitDirectory>& now, std::span<const Path> roots);

}  // namespace coop::guards
