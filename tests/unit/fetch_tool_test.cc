// What fetch_url gives the model.
#include "tools/fetch_tool.h"

#include <gmock/gmock.h>

#include "loopback_server.h"

namespace coop::tools {
namespace {

using namespace coop::test;
using testing::HasSubstr;
using testing::StartsWith;

TEST(FetchUrlTest, GivesTheTextAndItsFacts) {
  Server server(
      always(response("404 Not Found", "Content-Type: text/html\r\n", "caf\xc3\xa9\x1b[2J\xe9")));
  const ToolOutput output = fetch_url({{"url", server.url("/")}}, nobody, kLoopback);
  EXPECT_EQ(output.text, "HTTP 404\nurl: " + server.url("/") +
                             "\ncontent type: text/html\n\ncafé\xef\xbf\xbd[2J\xef\xbf\xbd");
  const Json expected{{"status", 404},
                      {"url", server.url("/")},
                      {"content_type", "text/html"},
                      {"truncated", false},
                      {"size", 10}};
  EXPECT_EQ(output.structured, expected);
  EXPECT_FALSE(output.failed);
}

TEST(FetchUrlTest, SaysWhatWasCut) {
  Server server(always(response("200 OK", "", "h\xc3\xa9llo")));
  const ToolOutput output =
      fetch_url({{"url", server.url("/")}, {"max_bytes", 2}}, nobody, kLoopback);
  EXPECT_EQ(output.text, "HTTP 200\nurl: " + server.url("/") +
                             "\ncontent type: not given\ncut after 2 bytes\n\nh\xef\xbf\xbd");
  const Json expected{{"status", 200},
                      {"url", server.url("/")},
                      {"content_type", ""},
                      {"truncated", true},
                      {"size", 2}};
  EXPECT_EQ(output.structured, expected);
}

TEST(FetchUrlTest, OfWhatIsNotTextOnlyTypeAndSizeAreGiven) {
  using namespace std::literals;
  for (const std::string& body :
       {"\x89PNG\r\n\x1a\n\0\0"s, "\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff\xfe"s}) {
    Server server(always(response("200 OK", "Content-Type: image/png\r\n", body)));
    const ToolOutput output = fetch_url({{"url", server.url("/")}}, nobody, kLoopback);
    EXPECT_EQ(output.text, "HTTP 200\nurl: " + server.url("/") +
                               "\ncontent type: image/png\n\n[not text: image/png, 10 bytes]\n");
  }
}

TEST(FetchUrlTest, RefusalsNameTheGuard) {
  const ToolOutput address = fetch_url({{"url", "http://169.254.169.254/"}}, nobody);
  EXPECT_TRUE(address.failed);
  EXPECT_THAT(address.text,
              HasSubstr("address guard: 169.254.169.254 is link-local (cloud metadata)"));
  EXPECT_EQ(address.structured["outcome"], "refused");
  EXPECT_EQ(address.structured["denials"][0]["rule"], "address guard");
  const ToolOutput url = fetch_url({{"url", "http://127.1/"}}, nobody);
  EXPECT_TRUE(url.failed);
  EXPECT_THAT(url.text, HasSubstr("url guard: \"127.1\" is an odd form of an address"));
}

TEST(FetchUrlTest, AServerThatGivesNoAnswerIsAFailureAndNoRefusal) {
  Server server(always(""));
  const ToolOutput output = fetch_url({{"url", server.url("/")}}, nobody, kLoopback);
  EXPECT_TRUE(output.failed);
  EXPECT_THAT(output.text, StartsWith("fetch " + server.url("/") + ": "));
  EXPECT_EQ(output.structured.value("outcome", ""), "failed");
}

TEST(FetchUrlTest, OddArgumentsAreRefusedNotThrown) {
  const std::vector<Json> odd{Json::object(),
                              Json::array(),
                              Json(),
                              Json{{"url", 5}},
                              Json{{"url", "http://8.8.8.8/"}, {"max_bytes", "many"}},
                              Json{{"url", "http://8.8.8.8/"}, {"max_bytes", -1}},
                              Json{{"url", "http://8.8.8.8/"}, {"max_bytes", 0}}};
  for (const Json& arguments : odd) {
    const ToolOutput output = fetch_url(arguments, nobody);
    EXPECT_TRUE(output.failed);
    EXPECT_THAT(output.text, HasSubstr("fetch_url: "));
  }
}

}  // namespace
}  // namespace coop::tools
