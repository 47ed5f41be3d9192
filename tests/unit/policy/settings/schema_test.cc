// The published JSON Schema, and that it knows the keys the reader knows.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "policy/settings/settings.h"
#include "settings_support.h"

namespace coop::policy {
namespace {

using Json = nlohmann::ordered_json;
using testing_support::read;

Json schema() { return Json::parse(policy_schema()); }

TEST(SchemaTest, ThePublishedFileIsTheOneBuiltIn) {
  const std::ifstream file(COOP_SOURCE_DIRECTORY "/docs/schema/policy.schema.json");
  ASSERT_TRUE(file.is_open());
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), policy_schema()) << "write it anew with `coop policy schema`";
}

TEST(SchemaTest, APolicyFileHasOneTableAndNothingElse) {
  const Json whole = schema();
  EXPECT_EQ(whole["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(whole["properties"], (Json{{"sandbox", {{"$ref", "#/$defs/sandbox"}}}}));
  EXPECT_EQ(whole["additionalProperties"], false);
  for (const char* name : {"sandbox", "config_sandbox", "overrides"})
    EXPECT_EQ(whole["$defs"][name]["additionalProperties"], false) << name;
}

void collect_references(const Json& node, std::vector<std::string>& references) {
  if (node.is_object() && node.contains("$ref")) references.push_back(node["$ref"]);
  if (node.is_structured())
    for (const Json& inner : node) collect_references(inner, references);
}

TEST(SchemaTest, EveryReferenceLeadsSomewhere) {
  const Json whole = schema();
  std::vector<std::string> references;
  collect_references(whole, references);
  EXPECT_GT(references.size(), 8U);
  for (const std::string& reference : references)
    EXPECT_TRUE(whole.contains(Json::json_pointer(reference.substr(1)))) << reference;
}

// The reader lists its keys in the fix of an unknown one.
std::vector<std::string> known_to_reader(const std::string& table, Shape shape) {
  const auto outcome = read(table + "\nzzzzzzzzzzzzzzz = 1\n", shape);
  std::vector<std::string> names;
  if (outcome.findings.size() != 1) return names;
  std::istringstream list(outcome.findings[0].fix.substr(std::string_view("one of: ").size()));
  for (std::string name; std::getline(list >> std::ws, name, ',');) names.push_back(name);
  return names;
}

std::vector<std::string> names_of(const Json& properties) {
  std::vector<std::string> names;
  for (const auto& [name, property] : properties.items()) names.push_back(name);
  return names;
}

TEST(SchemaTest, ItHasExactlyTheKeysOfTheReader) {
  using testing::UnorderedElementsAreArray;
  const Json defs = schema()["$defs"];
  EXPECT_THAT(names_of(defs["sandbox"]["properties"]),
              UnorderedElementsAreArray(known_to_reader("[sandbox]", Shape::policy_file)));
  EXPECT_THAT(names_of(defs["config_sandbox"]["properties"]),
              UnorderedElementsAreArray(known_to_reader("[sandbox]", Shape::config)));
  EXPECT_THAT(names_of(defs["overrides"]["properties"]),
              UnorderedElementsAreArray(known_to_reader("[sandbox]", Shape::override)));
  const Json& sandbox = defs["sandbox"]["properties"];
  EXPECT_THAT(names_of(sandbox["network"]["anyOf"][1]["properties"]),
              UnorderedElementsAreArray(known_to_reader("[sandbox.network]", Shape::policy_file)));
  EXPECT_THAT(names_of(sandbox["env"]["properties"]),
              UnorderedElementsAreArray(known_to_reader("[sandbox.env]", Shape::policy_file)));
}

TEST(SchemaTest, OnlyConfigurationsKnowTheOldWords) {
  const Json defs = schema()["$defs"];
  const Json words{"none", "allowlist", "full", "veth", "host"};
  EXPECT_EQ(defs["sandbox"]["properties"]["network"]["anyOf"][0]["enum"], words);
  Json older = words;
  older.push_back("bridge");
  EXPECT_EQ(defs["config_sandbox"]["properties"]["network"]["anyOf"][0]["enum"], older);
  EXPECT_EQ(names_of(defs["config"]["properties"]),
            (std::vector<std::string>{"agent", "agents", "sandbox", "users", "cron"}));
}

}  // namespace
}  // namespace coop::policy
