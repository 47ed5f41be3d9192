#include "policy/settings/json_document.h"

#include <gtest/gtest.h>

#include "policy/settings/settings.h"

namespace coop::policy {
namespace {

TEST(JsonDocumentTest, ReadsAsTheSameSettingsAsToml) {
  const Source source{.file = "policy", .scope = Scope::program, .shape = Shape::config};
  Findings findings;
  const Result<Table> json = parse_json_document(
      R"({"memory": "2g", "pids_limit": 64, "debug": false, "hidden_paths": ["/a", "/b?"],
          "network": {"allow": ["@rust", "a.com"]}, "env": {"set": {"A": "1"}}})",
      "policy");
  ASSERT_TRUE(json.has_value()) << to_text(json.error());
  const auto toml = parse_document(
      "memory = \"2g\"\npids_limit = 64\ndebug = false\nhidden_paths = [\"/a\", \"/b?\"]\n"
      "network.allow = [\"@rust\", \"a.com\"]\nenv.set = { A = \"1\" }\n",
      "policy");
  ASSERT_TRUE(toml.has_value());
  EXPECT_EQ(to_toml(read_settings(*json, source, findings)),
            to_toml(read_settings(*toml, source, findings)));
  EXPECT_TRUE(findings.empty());
}

TEST(JsonDocumentTest, WhatIsNoPolicyIsRefusedWithItsPlace) {
  const std::string deep = R"({"a":)" + std::string(40, '[') + std::string(40, ']') + "}";
  for (const std::string& text :
       {std::string(""), std::string("x"), std::string("[]"), std::string("5"), std::string("{"),
        std::string(R"({"a": null})"), std::string(R"({"a": 18446744073709551615})"), deep,
        "{\"a\":\"" + std::string(2 << 20, 'x') + "\"}"})
    EXPECT_FALSE(parse_json_document(text, "policy").has_value()) << text.substr(0, 40);
  EXPECT_NE(
      to_text(parse_json_document(R"({"env": {"set": null}})", "policy").error()).find("env.set"),
      std::string::npos);
}

}  // namespace
}  // namespace coop::policy
