#include "mcp/protocol.h"

#include <gtest/gtest.h>

namespace coop::mcp {
namespace {

std::size_t answers_to(std::string_view text) { return requests_in(Json::parse(text)); }

TEST(ProtocolTest, RequestsAndWhatIsMalformedAreAnswered) {
  EXPECT_EQ(answers_to(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"), 1U);
  EXPECT_EQ(answers_to(R"({"jsonrpc":"2.0","method":"notifications/x"})"), 0U);
  EXPECT_EQ(answers_to(R"({"jsonrpc":"2.0","id":1,"result":{}})"), 0U);  // an answer of the client
  EXPECT_EQ(answers_to(R"({"jsonrpc":"2.0","id":1.5})"), 1U);
  EXPECT_EQ(answers_to(R"({"jsonrpc":"2.0","method":"notifications/x","params":[]})"), 1U);
}

// An answer that is not counted would end the stream before that of the call.
TEST(ProtocolTest, OfABatchEachAnswerIsCounted) {
  EXPECT_EQ(answers_to(R"([{"jsonrpc":"2.0","id":1.5},
                           {"jsonrpc":"2.0","method":"notifications/x"},
                           {"jsonrpc":"2.0","id":"a","method":"tools/call","params":{}}])"),
            2U);
}

}  // namespace
}  // namespace coop::mcp
