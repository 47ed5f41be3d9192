#include "mcp/http/rules.h"

#include <gtest/gtest.h>

#include "mcp/http/http.h"

namespace coop::mcp {
namespace {

constexpr std::string_view kToken = "0123456789abcdef";

HttpHead good_head() {
  return {.method = "POST",
          .target = "/mcp",
          .host = "127.0.0.1:8080",
          .authorization = "Bearer " + std::string(kToken),
          .content_type = "application/json"};
}

unsigned status_of(const HttpHead& head) {
  const auto refusal = refuse_head(head, 8080, kToken);
  return refusal ? refusal->status : 200;
}

TEST(HttpRulesTest, OnlyThisMachinesOwnNamesAreServed) {
  for (const char* host : {"127.0.0.1:8080", "localhost:8080", "LocalHost:8080", "[::1]:8080"}) {
    HttpHead head = good_head();
    head.host = host;
    EXPECT_EQ(status_of(head), 200U) << host;
  }
  for (const char* host : {"", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8081", "evil.example:8080",
                           "localhost.evil.example:8080", "127.0.0.1.evil.example:8080",
                           "127.0.0.1:8080@evil.example", "0.0.0.0:8080", "127.1:8080"}) {
    HttpHead head = good_head();
    head.host = host;
    EXPECT_EQ(status_of(head), 403U) << host;
  }
}

TEST(HttpRulesTest, PagesOfOtherSitesAreNot) {
  for (const char* origin : {"http://localhost:3000", "http://127.0.0.1", "https://[::1]:1"}) {
    HttpHead head = good_head();
    head.has_origin = true;
    head.origin = origin;
    EXPECT_EQ(status_of(head), 200U) << origin;
  }
  for (const char* origin :
       {"", "null", "http://evil.example", "http://localhost.evil.example", "http://localhost:",
        "http://localhost:80@evil.example", "http://127.0.0.1.evil.example", "file://",
        "chrome-extension://localhost", "http://localhost/", "http://localhost:3000/x"}) {
    HttpHead head = good_head();
    head.has_origin = true;
    head.origin = origin;
    EXPECT_EQ(status_of(head), 403U) << origin;
  }
}

TEST(HttpRulesTest, OnlyWhoKnowsTheTokenIsServed) {
  HttpHead head = good_head();
  head.authorization = "bearer  " + std::string(kToken) + " ";
  EXPECT_EQ(status_of(head), 200U);
  for (const char* value :
       {"", "Bearer", "Bearer ", "0123456789abcdef", "Basic 0123456789abcdef",
        "Bearer 0123456789abcde", "Bearer 0123456789abcdeF", "Bearer 0123456789abcdef0",
        "Bearer 0123456789abcdef0123456789abcdef"}) {
    head.authorization = value;
    EXPECT_EQ(status_of(head), 401U) << value;
  }
}

TEST(HttpRulesTest, WithoutATokenEveryRequestIsRefused) {
  HttpHead head = good_head();
  for (const char* value : {"Bearer x", "Bearer ", ""}) {
    head.authorization = value;
    const auto refusal = refuse_head(head, 8080, "");
    ASSERT_TRUE(refusal.has_value()) << value;
    EXPECT_EQ(refusal->status, 401U);
  }
}

TEST(HttpRulesTest, TheRestOfTheHeadMustFitToo) {
  const auto changed = [](auto change) {
    HttpHead head = good_head();
    change(head);
    return status_of(head);
  };
  EXPECT_EQ(changed([](HttpHead& head) { head.repeated = true; }), 400U);
  EXPECT_EQ(changed([](HttpHead& head) { head.target = "/"; }), 404U);
  EXPECT_EQ(changed([](HttpHead& head) { head.target = "/mcp?token=x"; }), 404U);
  EXPECT_EQ(changed([](HttpHead& head) { head.method = "GET"; }), 405U);
  EXPECT_EQ(changed([](HttpHead& head) { head.method = "DELETE"; }), 200U);
  EXPECT_EQ(changed([](HttpHead& head) { head.content_type = "text/plain"; }), 415U);
  EXPECT_EQ(changed([](HttpHead& head) { head.content_type = "application/json; charset=utf-8"; }),
            200U);
}

TEST(HttpRulesTest, ARefusedHostIsToldThePort) {
  HttpHead head = good_head();
  head.host = "127.0.0.1:9999";
  EXPECT_EQ(refuse_head(head, 8080, kToken)->reason,
            "Host \"127.0.0.1:9999\" is not 127.0.0.1:8080, localhost:8080 or [::1]:8080");
}

TEST(HttpRulesTest, AnUnknownRevisionIsToldTheKnownOnes) {
  HttpHead head = good_head();
  const Json message{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "ping"}};
  head.version = "2025-06-18";
  EXPECT_EQ(refuse_mismatch(head, message), std::nullopt);
  head.version = "1999-01-01";
  const Json data{
      {"supported", {"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}},
      {"requested", "1999-01-01"}};
  EXPECT_EQ(
      refuse_mismatch(head, message),
      (HttpRefusal{400, "MCP-Protocol-Version \"1999-01-01\" is not spoken here", -32022, data}));
}

TEST(HttpRulesTest, WhatTheHeadRepeatsMustAgreeWithTheBody) {
  Json message{{"jsonrpc", "2.0"},
               {"id", 1},
               {"method", "tools/call"},
               {"params",
                {{"name", "bash"},
                 {"_meta",
                  {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                   {"io.modelcontextprotocol/clientCapabilities", Json::object()}}}}}};
  HttpHead head = good_head();
  head.version = "2026-07-28";
  head.mcp_method = "tools/call";
  head.mcp_name = "bash";
  EXPECT_EQ(refuse_mismatch(head, message), std::nullopt);
  head.mcp_name = "=?base64?YmFzaA==?=";
  EXPECT_EQ(refuse_mismatch(head, message), std::nullopt);
  for (const char* name : {"", "read_file", "=?base64?cmVhZF9maWxl?="}) {
    head.mcp_name = name;
    EXPECT_EQ(refuse_mismatch(head, message)->code, -32020) << name;
  }
  head.mcp_name = "bash";
  head.mcp_method = "tools/list";
  EXPECT_EQ(refuse_mismatch(head, message)->code, -32020);
  head.mcp_method = "tools/call";
  head.version = "2025-11-25";
  EXPECT_EQ(refuse_mismatch(head, message)->code, -32020);
  head.version = "2026-07-28";
  EXPECT_EQ(refuse_mismatch(head, {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "ping"}})->code,
            -32602);
  message["params"]["_meta"].erase("io.modelcontextprotocol/clientCapabilities");
  EXPECT_EQ(refuse_mismatch(head, message)->code, -32602);
  EXPECT_EQ(refuse_mismatch(head, message)->status, 400U);
}

TEST(HttpRulesTest, AcceptIsReadAsLists) {
  EXPECT_TRUE(accepts("", "text/event-stream"));
  EXPECT_TRUE(accepts("*/*", "text/event-stream"));
  EXPECT_TRUE(accepts("text/*;q=0.5", "text/event-stream"));
  EXPECT_TRUE(accepts("application/json, text/event-stream", "text/event-stream"));
  EXPECT_FALSE(accepts("application/json", "text/event-stream"));
}

TEST(HttpRulesTest, OnlyLoopbackIsListenedOn) {
  EXPECT_EQ(parse_listen_address("127.0.0.1:8080")->port, 8080);
  EXPECT_EQ(parse_listen_address("8080")->address, "127.0.0.1");
  EXPECT_EQ(parse_listen_address("localhost:0")->port, 0);
  EXPECT_EQ(parse_listen_address("[::1]:1")->address, "::1");
  for (const char* text :
       {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "0.0.0.0:8080",
        "192.168.0.1:8080", ":8080", "[::]:8080", "::1:80", "127.0.0.1:80x", "example.com:80"})
    EXPECT_FALSE(parse_listen_address(text).has_value()) << text;
}

TEST(HttpRulesTest, TokensAreLongAndNotTheSame) {
  const std::string one = *make_token();
  EXPECT_EQ(one.size(), 64U);
  EXPECT_NE(one, *make_token());
}

}  // namespace
}  // namespace coop::mcp
