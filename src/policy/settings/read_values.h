// Reads the value of one key of [sandbox], by its type.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/settings/settings.h"

namespace coop::policy {

constexpr std::string_view kListFix = R"(write a list of strings: ["…", "…"])";

// Where findings go, and what they have in common.
class Reporter {
 public:
  Reporter(const Source& source, Findings& findings) : source_(source), findings_(findings) {}

  // In overrides every finding has the check "sandbox_overrides".
  void error(std::string_view check, const Position& at, std::string message, std::string fix = {});
  Origin origin(const Position& at) const { return {source_.scope, source_.file, at}; }
  const Source& source() const { return source_; }

 private:
  const Source& source_;
  Findings& findings_;
};

// An error in a value or item: the message is its subject, the fix its hint.
inline std::unexpected<Error> bad_value(std::string_view message, std::string_view fix = {}) {
  return invalid("value", message, fix);
}

// What `home` may be; the error is one of bad_value().
Result<void> check_home_name(const std::string& text);

// Nothing if the value is invalid for this key, which is then reported. Valid items of a list are
// kept. `name` is the key as written: "pids" for pids_limit.
std::optional<Setting> read_value(const KeyInfo& key, std::string_view name, const Entry& entry,
                                  Reporter& reporter);

// The items of a list of at most 1000; null, and reported, for other values.
const List* read_list(const KeyInfo& key, std::string_view name, const Entry& entry,
                      std::string_view expected, Reporter& reporter);

// `memory: expected a size like "2g", found a list`
void report_type(const KeyInfo& key, std::string_view name, std::string_view expected,
                 const Node& found, std::string fix, Reporter& reporter);

// Every key of the table that has this shape, in the order of the schema.
std::vector<std::string_view> known_names(Shape shape);
// The key for which `name` is another spelling: "pids_limit" for "pids"; else the name itself.
std::string_view meant_by(std::string_view name);

// "a size like "2g"": describes a valid value of the key.
std::string expected_of(const KeyInfo& key);

// `for example: memory = "2g"`
std::string example_of(const KeyInfo& key, std::string_view name);

// In seconds; the kernel refuses clocks beyond half of what nanoseconds in 63 bits count.
inline constexpr std::int64_t kMostOffset = 4'600'000'000;

// A number below the smallest with which anything can run is a slip: `memory = 2` for 2g. So is one beyond any machine.
Result<void> check_range(const KeyInfo& key, std::uint64_t number);

// Letters, digits, '-' and '.', at most 63.
bool is_hostname(std::string_view text);

// "one two" as a list of words.
std::vector<std::string_view> split_words(std::string_view words);
// The one that `word` is probably a slip of; empty if none is close.
std::string_view similar(std::string_view word, const std::vector<std::string_view>& known);
// `did you mean "memory"?`, or if nothing is close: "one of: …".
std::string suggestion(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace coop::policy
