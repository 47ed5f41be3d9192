#include "mcp/id_finder.h"

#include <gtest/gtest.h>

namespace coop::mcp {
namespace {

Json id_in(std::string_view text) {
  IdFinder finder;
  for (const char c : text) finder.feed({&c, 1});  // pieces may end anywhere
  return finder.id();
}

TEST(IdFinderTest, FindsTheIdOfTheMessageItself) {
  EXPECT_EQ(id_in(R"({"jsonrpc":"2.0","id":7,"method":"x","params":{"id":8}})"), 7);
  EXPECT_EQ(id_in(R"({"params":{"a":[{"id":8}],"b":"\"id\":9"}, "id" : "a\"b" })"), "a\"b");
  EXPECT_EQ(id_in(R"({"name":"id","id":null})"), nullptr);
  EXPECT_EQ(id_in(R"({"params":{"id":8}})"), nullptr);
  EXPECT_EQ(id_in(R"([{"id":8}])"), nullptr);
  EXPECT_EQ(id_in("no JSON at all"), nullptr);
}

}  // namespace
}  // namespace coop::mcp
