// What ended runs have moved to the quarantine: a list beside the files of each run, for `coop quarantine`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "coop/sandbox.h"

namespace coop::guards {

struct KeptRun {
  std::string id{};
  Path directory{};
  std::int64_t written = 0;  // the list, in seconds since 1970
  // As the run listed them, without what has been put back or removed since.
  std::vector<Quarantined> files{};
  bool operator==(const KeptRun&) const = default;
};

// `directory` is that of the run, and exists. Names may have any bytes.
Result<void> write_kept_files(const Path& directory, const std::vector<Quarantined>& files);

// Newest first. A run of a version of coop that wrote no list has no files.
Result<std::vector<KeptRun>> kept_runs(const Path& quarantine);

// Moves it to where it was. Nothing there is replaced, and no symlink is followed: a sandbox may have put one on the way.
Result<void> put_back_kept(const Quarantined& file);

// Removes what a run left there.
Result<void> remove_kept_run(const Path& quarantine, const KeptRun& run);

}  // namespace coop::guards
