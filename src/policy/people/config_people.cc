// The [[users]] and [[cron]] tables of coop.toml.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "policy/people/config_reader.h"
#include "policy/people/cron_expression.h"
#include "policy/quoted.h"

namespace coop::policy {

namespace {

constexpr std::array<std::string_view, 4> kUserKeys{"name", "trust", "match", "sandbox"};
constexpr std::array<std::string_view, 6> kCronKeys{"name",    "cron",    "user",
                                                    "message", "command", "sandbox"};
constexpr std::string_view kTrustHelp = R"(one of "owner", "full", "inner", "familiar", "public")";

// A level that cannot be read is the least trusted one.
TrustLevel read_trust(const Node& entry, const std::string& name, ConfigReader& reader) {
  const Entry* written = find(*entry.table(), "trust");
  if (written == nullptr) {
    reader.error("trust", entry.at, "user " + quote(name) + " has no trust",
                 "add trust = …: " + std::string(kTrustHelp));
    return TrustLevel::public_;
  }
  const std::string* word = reader.string(written->value, "trust", "trust", kTrustHelp);
  if (word == nullptr) return TrustLevel::public_;
  if (const auto trust = parse_trust(*word)) return *trust;
  reader.error(
      "trust", written->value.at, quote(*word) + " is not a trust level",
      reader.suggestion(lower(word->substr(0, 20)), trust_words(), std::string(kTrustHelp)));
  return TrustLevel::public_;
}

// Text for the agent or the shell: any length, several lines.
std::string read_task(const Table& table, std::string_view key, ConfigReader& reader) {
  const Entry* entry = find(table, key);
  if (entry == nullptr) return {};
  const std::string what = std::string(key) + " of a cron job";
  const std::string* text = reader.string(entry->value, "cron", what);
  if (text == nullptr) return {};
  if (text->empty())
    reader.error("cron", entry->value.at, what + " is empty", "say what is to be done");
  return *text;
}

void read_tasks(const Node& entry, CronJob& job, ConfigReader& reader) {
  const Table& table = *entry.table();
  job.message = read_task(table, "message", reader);
  job.command = read_task(table, "command", reader);
  const Entry* message = find(table, "message");
  const Entry* command = find(table, "command");
  if (message != nullptr && command != nullptr)
    reader.error("cron", command->at,
                 "cron job " + quote(job.name) + " has both a message and a command",
                 "keep one, and make the other a job of its own");
  else if (message == nullptr && command == nullptr)
    reader.error("cron", entry.at,
                 "cron job " + quote(job.name) + " has neither a message nor a command",
                 "add message = \"…\" for the agent or command = \"…\" for the shell");
}

void read_expression(const Node& entry, CronJob& job, ConfigReader& reader) {
  const Entry* written = find(*entry.table(), "cron");
  if (written == nullptr) {
    reader.error("cron", entry.at, "cron job " + quote(job.name) + " has no time",
                 "add cron = \"0 2 * * *\": minute hour day month weekday");
    return;
  }
  const std::string* text = reader.string(written->value, "cron_expression", "cron",
                                          "cron = \"0 2 * * *\": minute hour day month weekday");
  if (text == nullptr) return;
  const Result<CronExpression> parsed = parse_cron(*text);
  if (parsed) job.expression = *text;
  else
    reader.error("cron_expression", written->value.at, parsed.error().subject, parsed.error().hint);
}

std::string read_cron_user(const Table& table, const std::string& job,
                           std::span<const std::string_view> users, ConfigReader& reader) {
  const std::string* user = reader.text(table, "user", "cron", "of a cron job");
  if (user == nullptr) return {};
  if (std::ranges::binary_search(users, std::string_view(*user))) return *user;
  reader.error("cron", find(table, "user")->value.at,
               "cron job " + quote(job) + " is for " + quote(*user) + ", who is not a user",
               reader.suggestion(*user, users,
                                 "declare the user in [[users]], or leave user out: "
                                 "the job is then public's"));
  return {};
}

}  // namespace

std::vector<User> read_users(const Table& document, ConfigReader& reader) {
  std::vector<User> users;
  std::vector<WrittenMatch> matches;
  SeenNames seen;
  for (const Node* entry : reader.tables(document, "users", "user")) {
    const Table& table = *entry->table();
    reader.unknown_keys(table, kUserKeys, "of a user");
    User user{.at = entry->at};
    // Keep a user without a name: its senders must not fall back to the rules for unmatched
    // senders.
    if (const std::string* name = reader.required_text(*entry, "name", "user", "of a user")) {
      user.name = *name;
      seen.add(reader, "duplicate_user", "user", user.name, entry->at);
    }
    user.trust = read_trust(*entry, user.name, reader);
    for (WrittenMatch& written : read_matches(table, users.size(), user, reader)) {
      user.match.push_back(written.match);
      matches.push_back(std::move(written));
    }
    user.sandbox = reader.sandbox(table, Shape::override, "of a user");
    users.push_back(std::move(user));
  }
  check_overlaps(matches, users, reader);
  return users;
}

std::vector<CronJob> read_cron_jobs(const Table& document, std::span<const User> users,
                                    ConfigReader& reader) {
  std::vector<std::string_view> names;
  names.reserve(users.size());
  for (const User& user : users) names.emplace_back(user.name);
  std::ranges::sort(names);

  std::vector<CronJob> jobs;
  SeenNames seen;
  for (const Node* entry : reader.tables(document, "cron", "cron")) {
    const Table& table = *entry->table();
    reader.unknown_keys(table, kCronKeys, "of a cron job");
    CronJob job{.at = entry->at};
    if (const std::string* name = reader.required_text(*entry, "name", "cron", "of a cron job")) {
      job.name = *name;
      seen.add(reader, "duplicate_cron", "cron job", job.name, entry->at);
    }
    read_expression(*entry, job, reader);
    job.user = read_cron_user(table, job.name, names, reader);
    read_tasks(*entry, job, reader);
    job.sandbox = reader.sandbox(table, Shape::override, "of a cron job");
    jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace coop::policy
