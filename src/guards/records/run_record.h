// What a run tells other runs of the same user, so that none of them takes for the user's own what a sandbox made.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "guards/versions.h"
#include "host/facts.h"
#include "sys/fd.h"

namespace coop::guards {

// A file in coop's state, locked while the run lasts: from before its first look through the writable trees until after
// its last. A run that looks in between finds there what was known before that run's sandbox could write.
class RunRecord {
 public:
  RunRecord() = default;
  RunRecord(RunRecord&&) noexcept = default;
  RunRecord& operator=(RunRecord&& other) noexcept;
  ~RunRecord() { leave(); }

  // Before the first look. The record says that no command runs yet.
  static Result<RunRecord> enter(const Path& directory, const std::string& id);

  // After the first look, before a command can run. Returns the guarded paths that the sandbox of another run may have
  // made or changed, sorted; later runs are told the others. `names`: the guards in force. After an error no command may run: others would trust what it
  // makes.
  Result<std::vector<Path>> tell(std::span<const Path> roots, std::span<const WorkspaceFacts> looks,
                                 std::span<const Version> versions,
                                 std::span<const std::string> names = {});
  // Before the last look. From then on this run judges nothing more that another run doubts because of it.
  void end() const;
  // Of the paths that tell() returned: those that another run does not know, or whose contents decide and were changed
  // during it. That run judges them, unless it has ended, or ends, while they have no guarded name; then they are ours to judge.
  std::vector<Path> made_by_others() const;
  std::vector<Path> left_to_judge() const;
  // After the last look.
  void leave();

  const Path& path() const { return path_; }
  int fd() const { return file_.get(); }  // the record counts while any copy is open

 private:
  Path path_{};
  UniqueFd file_{};
  std::int64_t entered_ = 0;
  std::vector<Path> made_{};  // directories for it, the innermost first
  struct Maker {
    UniqueFd record{};
    std::vector<Path> paths{};
  };
  std::vector<Maker> makers_{};
};

// For the record of a process that was killed: before and after the last look.
void end_record(const Path& record);
void remove_record(const Path& record);

// Without a record nothing is known of other runs: every guarded path.
std::vector<Path> all_guarded(std::span<const WorkspaceFacts> looks);

}  // namespace coop::guards
