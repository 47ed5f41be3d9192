#include "egress/proxy/response.h"

#include <gtest/gtest.h>

namespace coop::egress {
namespace {

struct Passed {
  std::string out{};
  std::string rest{};
  HeadState state = HeadState::incomplete;
  bool operator==(const Passed&) const = default;
};

// Byte by byte: a head may arrive in any pieces.
Passed pass(std::string_view text) {
  Passed passed;
  for (const char c : text) {
    passed.rest += c;
    if (passed.state == HeadState::incomplete)
      passed.state = pass_response_head(passed.rest, passed.out);
  }
  return passed;
}

TEST(ProxyResponseTest, TheClientIsToldThatTheConnectionEnds) {
  EXPECT_EQ(pass("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
            (Passed{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n", "hi",
                    HeadState::passed}));
  EXPECT_EQ(pass("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\n"
                 "X-Connection: a\r\nproxy-connection: x\r\n\r\n"),
            (Passed{"HTTP/1.1 200 OK\r\nX-Connection: a\r\nConnection: close\r\n\r\n", "",
                    HeadState::passed}));
  EXPECT_EQ(pass("HTTP/1.0 404 No\nA: b\n\nx"),
            (Passed{"HTTP/1.0 404 No\nA: b\nConnection: close\r\n\n", "x", HeadState::passed}));
}

TEST(ProxyResponseTest, InterimAnswersPassAtOnce) {
  const std::string interim = "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_EQ(pass(interim), (Passed{interim, "", HeadState::incomplete}));
  EXPECT_EQ(pass(interim + "HTTP/1.1 204 No Content\r\n\r\n"),
            (Passed{interim + "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", "",
                    HeadState::passed}));
}

TEST(ProxyResponseTest, WhatIsNotHttpPassesUnchanged) {
  EXPECT_EQ(pass("SSH-2.0"), (Passed{"", "SSH-2.0", HeadState::passed}));
  EXPECT_EQ(pass("HTTP/1.1 200 OK\r\nA: " + std::string(70000, 'a')).state, HeadState::passed);
}

}  // namespace
}  // namespace coop::egress
