// Helpers for reading coop.toml, and the readers of its tables. Private to
// policy/people/config*.cc.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/people/config.h"

namespace coop::policy {

// Where a user's "channel:id" was written.
struct WrittenMatch {
  std::string match{};
  std::size_t user = 0;  // index in Config::users
  Position at{};
};

// Reads one coop.toml: holds the shared state of the readers and collects findings.
class ConfigReader {
 public:
  ConfigReader(const std::string& file, const Surroundings& surroundings, Findings& findings);

  void error(std::string_view check, const Position& at, std::string message, std::string fix = {});
  void warning(std::string_view check, const Position& at, std::string message,
               std::string fix = {});

  // A key that is close to a known one is an error; others belong to the gateway, which keeps its
  // own settings in the same file. `place` is "at the top level", "in a user".
  void unknown_keys(const Table& table, std::span<const std::string_view> known,
                    std::string_view place);

  // The text of a value; a finding if it is of another type: "trust must be a string, not a list".
  const std::string* string(const Node& value, std::string_view check, const std::string& what,
                            std::string_view fix = {});

  // The text of `key`; a finding if it is another type, blank, or contains a control character.
  // Null if it is absent or wrong.
  const std::string* text(const Table& table, std::string_view key, std::string_view check,
                          std::string_view place);
  // The same, and a finding if it is absent.
  const std::string* required_text(const Node& entry, std::string_view key, std::string_view check,
                                   std::string_view place);

  // The tables of [[key]]; bounded in number.
  std::vector<const Node*> tables(const Table& document, std::string_view key,
                                  std::string_view check);

  // The `sandbox` table of `owner`.
  Settings sandbox(const Table& owner, Shape shape, std::string_view place);

  // "coop.toml:9"
  std::string line_of(const Position& at) const { return policy::line_of(file_, at); }

  // `did you mean "bob"?` or `known`; limited to a few calls, because each compares all pairs.
  std::string suggestion(std::string_view word, std::span<const std::string_view> among,
                         std::string known);

  const Surroundings& surroundings() const { return config_.surroundings; }

 private:
  void add(Finding finding);

  std::string file_;
  Source config_;
  Source override_;
  Findings& findings_;
  int suggestions_ = 0;
};

// Names that must be unique.
class SeenNames {
 public:
  // Reports under `check` if a `what` ("user") of this name has occurred before.
  void add(ConfigReader& reader, std::string_view check, std::string_view what,
           const std::string& name, const Position& at);

 private:
  std::map<std::string, Position, std::less<>> seen_;
};

std::vector<User> read_users(const Table& document, ConfigReader& reader);
std::vector<CronJob> read_cron_jobs(const Table& document, std::span<const User> users,
                                    ConfigReader& reader);

// The valid texts of a user's `match` list.
std::vector<WrittenMatch> read_matches(const Table& entry, std::size_t index, const User& user,
                                       ConfigReader& reader);
// Reports the same match at two users, and an exact one beside another user's "channel:*".
void check_overlaps(std::span<const WrittenMatch> matches, std::span<const User> users,
                    ConfigReader& reader);

// "signal:*" for "signal:+1555"; empty for what is not "channel:id".
std::string everyone_of(std::string_view sender);

}  // namespace coop::policy
