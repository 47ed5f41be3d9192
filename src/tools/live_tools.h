// The tools of one principal, made anew when a file that decides about them has changed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "policy/people/config_store.h"
#include "tools/open_tools.h"

namespace coop::tools {

class LiveTools {
 public:
  // The policy files, and coop.toml where the request has a role, are followed from here on.
  static Result<std::unique_ptr<LiveTools>> open(ToolsRequest request);
  // Tools that stay as they are.
  explicit LiveTools(std::shared_ptr<Toolbox> toolbox);

  struct Now {
    std::shared_ptr<Toolbox> toolbox{};  // a call keeps it to its end, whatever changes meanwhile
    std::uint64_t revision = 0;          // grows with each piece of news
    std::string news{};                  // what the last change was; empty: none yet
    bool broken = false;                 // it was a mistake, and the tools from before still hold
  };
  // Looks at the files first. Many threads may call at once.
  Now look();

 private:
  // What tells one state of a file from another; all zero: there is none.
  struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
    std::int64_t changed = 0;  // nanoseconds, as is the next
    std::int64_t modified = 0;
    off_t size = 0;
    bool operator==(const Identity&) const = default;
  };

  struct Reloaded {
    OpenedTools opened{};
    bool revoked = false;         // the caller is not in the file any more
    policy::Findings findings{};  // of a coop.toml with mistakes, which is left aside
  };

  LiveTools() = default;
  Result<void> open_config();
  Result<Reloaded> reload();
  static Identity identity_of(const Path& file);
  std::vector<Identity> identities() const;
  bool has_shrunk(const std::vector<Identity>& found) const;
  std::optional<std::vector<Identity>> settled() const;
  bool project_was_touched() const;

  ToolsRequest request_{};
  std::unique_ptr<policy::ConfigStore> config_{};  // null: there is no coop.toml to follow
  std::mutex mutex_{};
  std::vector<Path> files_{};
  Path project_file_{};
  std::vector<Identity> seen_{};
  Now now_{};
};

}  // namespace coop::tools
