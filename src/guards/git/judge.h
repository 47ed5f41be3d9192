// Whether what a sandbox left at a guarded path of git may stay: it runs nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/facts.h"

namespace coop::guards {

// Why the new guarded path base/relative must not stay; empty text when its name alone says so. Nothing: it is the
// configuration of a repository with harmless settings only, or a directory of hooks that git never runs (which is then
// replaced by a new one with the same files). Call it after everything inside is dead: what is judged could be changed
// else. `trees`: the writable ones.
std::optional<std::string> danger_at(const Path& base, std::string_view relative,
                                     const GuardedPath& found, const std::vector<Path>& trees);

// What `name` in `directory` has git run, for guards that are judged by contents. Nothing: it cannot be told.
std::optional<std::vector<std::string>> programs_in(int directory, const std::string& name,
                                                    std::string_view guard);
// Whether a file that was judged may still be changed: it is open for writing, or has another name. Waits, as long as
// `patience` lasts, for descriptors that are just being closed.
bool may_still_change(const Path& base, std::string_view relative,
                      std::chrono::milliseconds& patience);
// Why a path that is judged by its contents must not stay as it is now; nothing when it runs only what it ran before.
// `started`: when the first look began. `trees`: the writable ones.
std::optional<std::string> new_program(const Path& base, std::string_view relative,
                                       const GuardedPath& found, const GuardedPath* before,
                                       std::int64_t started, const std::vector<Path>& trees);
// The guard of ".git/index" and ".git/sharedindex.*": these name files, not programs.
bool is_index(std::string_view guard);

}  // namespace coop::guards
