#include "tools/arguments.h"

#include <gtest/gtest.h>

namespace coop::tools {
namespace {

const Json kSchema = {{"properties",
                       {{"path", {{"type", "string"}}},
                        {"lines", {{"type", "integer"}, {"minimum", 1}, {"maximum", 9}}}}},
                      {"required", {"path"}}};

std::string refused(const Json& arguments, const Json& schema = kSchema) {
  const Result<void> checked = check_arguments(arguments, schema);
  if (checked) return "accepted";
  return to_text(checked.error()) +
         (checked.error().hint.empty() ? "" : " | " + checked.error().hint);
}

TEST(ArgumentsTest, AnUnknownNameListsTheValidOnes) {
  EXPECT_EQ(refused({{"path", "a"}, {"lines", 3}}), "accepted");  // control
  EXPECT_EQ(refused({{"file_name", "a"}}),
            "arguments: unknown argument \"file_name\"; valid: path, lines");
  EXPECT_EQ(refused({{"pth", "a"}}),
            "arguments: unknown argument \"pth\"; valid: path, lines | did you mean \"path\"?");
  EXPECT_EQ(refused({{"a\x1b", "a"}}),
            "arguments: unknown argument \"a\\x1b\"; valid: path, lines");
  EXPECT_EQ(refused({{"x", 1}}, {{"properties", Json::object()}}),
            "arguments: unknown argument \"x\"; there are none");
}

TEST(ArgumentsTest, TypesRangesAndMissingOnesAreNamed) {
  EXPECT_EQ(refused({{"path", 1}}), "argument \"path\": must be a string");
  EXPECT_EQ(refused({{"path", "a"}, {"lines", 10}}), "argument \"lines\": must be 1 to 9");
  EXPECT_EQ(refused(Json::object()), "arguments: \"path\" is missing");
}

}  // namespace
}  // namespace coop::tools
