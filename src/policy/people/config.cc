#include "policy/people/config.h"

#include <array>

#include "base/path.h"
#include "policy/people/config_reader.h"
#include "policy/quoted.h"
#include "policy/settings/expand.h"

namespace coop::policy {

namespace {

constexpr std::array<std::string_view, 5> kTopLevelKeys{"agent", "agents", "sandbox", "users",
                                                        "cron"};
constexpr std::array<std::string_view, 4> kAgentKeys{"id", "name", "workspace", "sandbox"};

Path read_workspace(const Table& table, ConfigReader& reader) {
  const Entry* entry = find(table, "workspace");
  if (entry == nullptr) return {};
  const std::string* text = entry->value.text();
  if (text == nullptr || text->empty()) {
    reader.error("agent", entry->value.at,
                 "the workspace of an agent must be a path, not " +
                     (text == nullptr ? type_name(entry->value) : "\"\""),
                 "workspace = \"~/agents/main\"");
    return {};
  }
  Result<Path> path = expand_plain_path(*text, reader.surroundings());
  if (path && is_utf8(*path)) return std::move(*path);
  reader.error(
      "agent", entry->value.at,
      "workspace of an agent: " +
          (path ? quote(*text) + " is not UTF-8 with its variables put in" : path.error().subject),
      path ? "" : path.error().hint);
  return {};
}

enum class Id : std::uint8_t { optional, required };

Agent read_agent(const Node& entry, Id id, ConfigReader& reader) {
  const Table& table = *entry.table();
  reader.unknown_keys(table, kAgentKeys, "of an agent");
  Agent agent{.at = entry.at};
  const std::string* id_text = id == Id::required
                                   ? reader.required_text(entry, "id", "agent", "of an agent")
                                   : reader.text(table, "id", "agent", "of an agent");
  if (id_text != nullptr) agent.id = *id_text;
  if (const std::string* name = reader.text(table, "name", "agent", "of an agent"))
    agent.name = *name;
  agent.workspace = read_workspace(table, reader);
  agent.sandbox = reader.sandbox(table, Shape::config, "of an agent");
  return agent;
}

// An agent without its own workspace uses that of its sandbox table, or of [sandbox].
void inherit_workspace(Config& config) {
  for (Agent& agent : config.agents) {
    if (!agent.workspace.empty()) continue;
    const std::string_view own = word_of(agent.sandbox, Key::workspace);
    agent.workspace = own.empty() ? word_of(config.sandbox, Key::workspace) : own;
  }
}

std::vector<Agent> read_agents(const Table& document, ConfigReader& reader) {
  std::vector<Agent> agents;
  SeenNames seen;
  if (const Entry* only = find(document, "agent")) {
    if (only->value.table() != nullptr)
      agents.push_back(read_agent(only->value, Id::optional, reader));
    else
      reader.error(
          "agent", only->at, "agent must be a table, not " + type_name(only->value),
          only->value.list() == nullptr ? "write [agent]" : "write [[agents]] for several");
  }
  for (const Node* entry : reader.tables(document, "agents", "agent"))
    agents.push_back(read_agent(*entry, Id::required, reader));
  for (const Agent& agent : agents)
    if (!agent.id.empty()) seen.add(reader, "duplicate_agent", "agent", agent.id, agent.at);
  return agents;
}

}  // namespace

Config read_config(std::string_view text, const std::string& file, const Surroundings& surroundings,
                   Findings& findings) {
  Config config{.file = file};
  const auto document = parse_document(text, file);
  if (!document) {
    findings.push_back(document.error());
    return config;
  }
  ConfigReader reader(file, surroundings, findings);
  reader.unknown_keys(*document, kTopLevelKeys, "at the top level");
  config.sandbox = reader.sandbox(*document, Shape::config, "at the top level");
  config.agents = read_agents(*document, reader);
  config.users = read_users(*document, reader);
  config.cron = read_cron_jobs(*document, config.users, reader);
  inherit_workspace(config);
  return config;
}

bool sandbox_enabled(const Config& config, const Agent* agent) {
  const std::string_view own = agent == nullptr ? "" : word_of(agent->sandbox, Key::mode);
  return (own.empty() ? word_of(config.sandbox, Key::mode) : own) != "disabled";
}

bool owner_may_bypass(const Effective& effective) {
  if (const Setting* said = find(effective.settings, Key::owner_bypass))
    return said->value == Scalar(true);
  return effective.ceiling.empty() || word_of(effective.ceiling, Key::mode) == "disabled";
}

Layer gateway_defaults() {
  const Origin origin = Origin::of_coop();
  return {Scope::built_in,
          {{Key::home, Setting{.value = std::string("workspace"), .origin = origin}},
           {Key::memory, Setting{.value = std::uint64_t{2} << 30, .origin = origin}},
           {Key::pids_limit, Setting{.value = std::uint64_t{512}, .origin = origin}}}};
}

}  // namespace coop::policy
