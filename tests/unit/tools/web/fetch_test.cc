// Fetching, from real servers on loopback: limits, redirects, and names that change their address.
#include <gmock/gmock.h>
#include <poll.h>

#include <chrono>
#include <cstdlib>

#include "base/address.h"
#include "loopback_server.h"
#include "policy/destinations/forbidden_addresses.h"
#include "tools/web/urls.h"

namespace coop::tools {
namespace {

using namespace coop::test;
using testing::HasSubstr;
using testing::StartsWith;

using List = std::vector<std::string>;

// Answers one list after the other, the last one for ever, and counts.
class Names {
 public:
  explicit Names(std::vector<List> answers) : answers_(std::move(answers)) {}
  Resolver resolver() {
    return [this](const std::string& host) -> Result<std::vector<std::string>> {
      asked.push_back(host);
      return answers_[std::min(asked.size(), answers_.size()) - 1];
    };
  }
  std::vector<std::string> asked{};

 private:
  std::vector<List> answers_;
};

std::string failure(const Result<Fetched>& page) {
  return page ? "fetched " + page->url : to_text(page.error());
}

TEST(FetchTest, GivesStatusTypeAndBody) {
  Server server(always(response("200 OK", "Content-Type: text/plain; charset=utf-8\r\n", "hello")));
  const Result<Fetched> page = fetch(server.url("/a/../b?q=%20"), {}, no_resolver, kLoopback);
  ASSERT_TRUE(page.has_value()) << failure(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_EQ(page->url, server.url("/a/../b?q=%20"));
  EXPECT_EQ(page->content_type, "text/plain; charset=utf-8");
  EXPECT_EQ(page->body, "hello");
  EXPECT_FALSE(page->truncated);
  // Nothing of ours goes along: no cookies, no credentials, no referrer.
  EXPECT_EQ(server.last_head(),
            "GET /a/../b?q=%20 HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                "\r\nUser-Agent: coop/0.1\r\nAccept: */*\r\n"
                "Accept-Encoding: gzip\r\n\r\n");
}

TEST(FetchTest, GoesPastTheEnvironmentsProxies) {
  Server proxy(always(response("200 OK", "", "from the proxy")));
  Server server(always(response("200 OK", "", "direct")));
  const std::string url = proxy.url("");
  for (const char* name : {"http_proxy", "all_proxy", "ALL_PROXY"}) ::setenv(name, url.c_str(), 1);
  const Result<Fetched> page = fetch(server.url("/"), {}, no_resolver, kLoopback);
  for (const char* name : {"http_proxy", "all_proxy", "ALL_PROXY"}) ::unsetenv(name);
  ASSERT_TRUE(page.has_value()) << failure(page);
  EXPECT_EQ(page->body, "direct");
  EXPECT_EQ(proxy.connections(), 0);
}

TEST(FetchTest, WithoutAnExceptionLoopbackIsRefusedAndNotConnectedTo) {
  Server server(always(response("200 OK", "", "secret")));
  EXPECT_EQ(failure(fetch(server.url("/"), {}, no_resolver)),
            "address guard: 127.0.0.1 is loopback: this machine");
  Names names({List{"127.0.0.1"}});
  EXPECT_EQ(failure(fetch(server.url("/", "a.example"), {}, names.resolver())),
            "address guard: a.example has the address 127.0.0.1, which is loopback: this machine");
  EXPECT_EQ(failure(fetch("http://169.254.169.254/latest/meta-data/", {}, no_resolver, kLoopback)),
            "address guard: 169.254.169.254 is link-local (cloud metadata)");
  EXPECT_THAT(failure(fetch(server.url("/", "[::ffff:127.0.0.1]"), {}, no_resolver, kLoopback)),
              StartsWith("address guard: "));
  EXPECT_EQ(server.connections(), 0);
}

TEST(FetchTest, ARefusalSaysWhatWouldAllowIt) {
  const auto grant = [](const char* url, FetchRules rules) {
    const Result<Fetched> page = fetch(url, {}, no_resolver, std::move(rules));
    return page ? std::nullopt : page.error().grant;
  };
  const FetchRules none{.network = {.mode = NetworkMode::none}};
  EXPECT_EQ(grant("https://a.example/", none), (Grant{"--allow-net", "a.example"}));
  EXPECT_EQ(grant("https://a.example:8443/", none), (Grant{"--allow-net", "a.example:8443"}));
  EXPECT_EQ(grant("http://10.1.2.3/", {}), (Grant{"--allow-net", "10.1.2.3"}));
  // Never for the machine's credentials, nor for its own ports by another name.
  EXPECT_EQ(grant("http://169.254.169.254/", {}), std::nullopt);
  EXPECT_EQ(grant("http://127.0.0.1/", {}), std::nullopt);
}

TEST(FetchTest, CutsAtTheSizeLimitAndSaysSo) {
  const std::string body(1000, 'x');
  Server server(always(response("200 OK", "", body)));
  for (const std::size_t size : {1UL, 999UL, 1000UL, 1001UL}) {
    const Result<Fetched> page = fetch(server.url("/"), {.size = size}, no_resolver, kLoopback);
    ASSERT_TRUE(page.has_value()) << failure(page);
    EXPECT_EQ(page->body, body.substr(0, size));
    EXPECT_EQ(page->truncated, size < body.size()) << size;
  }
}

TEST(FetchTest, EndsAnAnswerWithoutEndAtTheSizeLimit) {
  Server server([](int fd, const std::string&) {
    const std::string piece(65536, 'x');
    bool open = send_all(fd, "HTTP/1.1 200 OK\r\n\r\n");
    while (open) open = send_all(fd, piece);
  });
  const Result<Fetched> page = fetch(server.url("/"), {.size = 200000}, no_resolver, kLoopback);
  ASSERT_TRUE(page.has_value()) << failure(page);
  EXPECT_EQ(page->body.size(), 200000U);
  EXPECT_TRUE(page->truncated);
}

TEST(FetchTest, TheSizeLimitCountsWhatAPackedAnswerUnpacksTo) {
  using namespace std::literals;
  // 64 KiB of zeros in 96 bytes.
  const std::string zeros =
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xed\xc1\x01\x01\x00\x00\x00\x80\x90\xfe\xaf\xee\x08\x0a"s +
      std::string(63, '\0') + "\x6a\xeb\x8e\x97\xd7\x00\x00\x01\x00"s;
  Server server(always(response("200 OK", "Content-Encoding: gzip\r\n", zeros)));
  const Result<Fetched> all = fetch(server.url("/"), {}, no_resolver, kLoopback);
  ASSERT_TRUE(all.has_value()) << failure(all);
  EXPECT_EQ(all->body, std::string(65536, '\0'));
  const Result<Fetched> cut = fetch(server.url("/"), {.size = 1000}, no_resolver, kLoopback);
  ASSERT_TRUE(cut.has_value()) << failure(cut);
  EXPECT_EQ(cut->body.size(), 1000U);
  EXPECT_TRUE(cut->truncated);
}

TEST(FetchTest, AnAnswerWithoutABodyIsAnAnswer) {
  Server server(always("HTTP/1.1 204 No Content\r\n\r\n"));
  const Result<Fetched> page = fetch(server.url("/"), {}, no_resolver, kLoopback);
  ASSERT_TRUE(page.has_value()) << failure(page);
  EXPECT_EQ(page->status, 204);
  EXPECT_EQ(page->body, "");
  EXPECT_EQ(page->content_type, "");
  EXPECT_FALSE(page->truncated);
}

TEST(FetchTest, AWrongContentLengthIsMarkedOrIgnored) {
  Server few(always("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this"));
  const Result<Fetched> page = fetch(few.url("/"), {}, no_resolver, kLoopback);
  ASSERT_TRUE(page.has_value()) << failure(page);
  EXPECT_EQ(page->body, "only this");
  EXPECT_TRUE(page->truncated);

  Server many(always("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nonly this"));
  const Result<Fetched> exact = fetch(many.url("/"), {}, no_resolver, kLoopback);
  ASSERT_TRUE(exact.has_value()) << failure(exact);
  EXPECT_EQ(exact->body, "only");
  EXPECT_FALSE(exact->truncated);

  Server none(always("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nonly this"));
  EXPECT_THAT(failure(fetch(none.url("/"), {}, no_resolver, kLoopback)),
              StartsWith("fetch http://"));
}

TEST(FetchTest, WhatIsNoHttpIsNoAnswer) {
  for (const char* text : {"", "SSH-2.0-OpenSSH_9.2\r\n", "\r\n\r\n", "+OK\r\n"}) {
    Server server(always(text));
    EXPECT_THAT(failure(fetch(server.url("/"), {}, no_resolver, kLoopback)),
                StartsWith("fetch http://"))
        << text;
  }
}

TEST(FetchTest, AFloodOfHeadersIsRefused) {
  Server server([](int fd, const std::string&) {
    bool open = send_all(fd, "HTTP/1.1 200 OK\r\n");
    const std::string header = "X-Flood: " + std::string(500, 'x') + "\r\n";
    for (int count = 0; open && count < 10000; ++count) open = send_all(fd, header);
  });
  EXPECT_THAT(failure(fetch(server.url("/"), {}, no_resolver, kLoopback)), HasSubstr("of headers"));

  Server early([](int fd, const std::string&) {
    bool open = true;
    for (int count = 0; open && count < 100000; ++count)
      open = send_all(fd, "HTTP/1.1 103 Early Hints\r\nX-Flood: x\r\n\r\n");
  });
  EXPECT_THAT(failure(fetch(early.url("/"), {}, no_resolver, kLoopback)), HasSubstr("of headers"));
}

TEST(FetchTest, ControlCharactersOfAHeaderAreEscaped) {
  Server server(always(response("200 OK", "Content-Type: text/\x1b[2J\xff\r\n", "x")));
  const Result<Fetched> page = fetch(server.url("/"), {}, no_resolver, kLoopback);
  ASSERT_TRUE(page.has_value()) << failure(page);
  EXPECT_EQ(page->content_type, R"(text/\x1b[2J\xff)");
}

// Sends a byte now and then until the other side has gone.
void trickle(int fd, const std::string&) {
  bool open = send_all(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
  for (int count = 0; open && count < 100; ++count) {
    open = send_all(fd, "x");
    pollfd gone{.fd = fd, .events = POLLRDHUP, .revents = 0};
    if (::poll(&gone, 1, 50) > 0) return;
  }
}

TEST(FetchTest, ASlowServerHitsTheTimeLimit) {
  Server server(trickle);
  const auto begin = std::chrono::steady_clock::now();
  const FetchLimits limits{.time = std::chrono::milliseconds(300)};
  EXPECT_EQ(failure(fetch(server.url("/"), limits, no_resolver, kLoopback)),
            "fetch " + server.url("/") + ": stalled, or took longer than 300ms in all");
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(took, std::chrono::milliseconds(250));
  EXPECT_LT(took, std::chrono::seconds(3));
}

TEST(FetchTest, TheTimeLimitIsForAllRedirectsTogether) {
  Server server([](int fd, const std::string&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    send_all(fd, redirect_to("/again"));
  });
  const FetchLimits limits{.time = std::chrono::milliseconds(300), .redirects = 100};
  EXPECT_THAT(failure(fetch(server.url("/"), limits, no_resolver, kLoopback)),
              HasSubstr("took longer than 300ms in all"));
  EXPECT_LE(server.connections(), 3);
}

TEST(FetchTest, ASlowResolverUsesUpTheTimeToo) {
  Server server(always(response("200 OK", "", "late")));
  const Resolver slow = [](const std::string&) -> Result<std::vector<std::string>> {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    return std::vector<std::string>{"127.0.0.1"};
  };
  const FetchLimits limits{.time = std::chrono::milliseconds(20)};
  EXPECT_THAT(failure(fetch(server.url("/", "a.example"), limits, slow, kLoopback)),
              HasSubstr("took longer than 20ms in all"));
  EXPECT_EQ(server.connections(), 0);
}

TEST(FetchRedirectTest, AreFollowedWhateverTheirForm) {
  Server other(site({{"/there", response("200 OK", "", "there")}}));
  Server server(
      site({{"/whole", redirect_to(other.url("/there#part"))},
            {"/scheme", redirect_to("//127.0.0.1:" + std::to_string(other.port()) + "/there")},
            {"/path", redirect_to("/dir/end")},
            {"/dir/relative", redirect_to("../dir/./end")},
            {"/dir/query", redirect_to("?end")},
            {"/dir/query?end", response("200 OK", "", "query")},
            {"/dir/end", response("200 OK", "", "end")},
            {"/none", response("302 Found", "", "no location")},
            {"/304", response("304 Not Modified", "Location: /dir/end\r\n", "")},
            {"/trailer",
             "HTTP/1.1 302 Found\r\nTransfer-Encoding: chunked\r\n\r\n"
             "2\r\nhi\r\n0\r\nLocation: /dir/end\r\n\r\n"}}));
  const std::map<std::string, std::pair<std::string, std::string>> expected{
      {"/whole", {other.url("/there"), "there"}},
      {"/scheme", {other.url("/there"), "there"}},
      {"/path", {server.url("/dir/end"), "end"}},
      {"/dir/relative", {server.url("/dir/end"), "end"}},
      {"/dir/query", {server.url("/dir/query?end"), "query"}},
      {"/none", {server.url("/none"), "no location"}},
      {"/304", {server.url("/304"), ""}},
      {"/trailer", {server.url("/trailer"), "hi"}}};
  for (const auto& [path, end] : expected) {
    const Result<Fetched> page = fetch(server.url(path), {}, no_resolver, kLoopback);
    ASSERT_TRUE(page.has_value()) << path << ": " << failure(page);
    EXPECT_EQ(std::pair(page->url, page->body), end) << path;
  }
}

TEST(FetchRedirectTest, EveryRedirectingStatusIsFollowed) {
  for (const char* status : {"301 x", "302 x", "303 x", "307 x", "308 x"}) {
    Server server(site({{"/", response(status, "Location: /end\r\n", "")},
                        {"/end", response("200 OK", "", "end")}}));
    const Result<Fetched> page = fetch(server.url("/"), {}, no_resolver, kLoopback);
    ASSERT_TRUE(page.has_value()) << failure(page);
    EXPECT_EQ(page->body, "end") << status;
  }
}

TEST(FetchRedirectTest, ToAForbiddenPlaceAreRefused) {
  const std::map<std::string, std::string> expected{
      {"http://169.254.169.254/latest/",
       "address guard: 169.254.169.254 is link-local (cloud metadata)"},
      {"http://127.0.0.2/", "address guard: 127.0.0.2 is loopback: this machine"},
      {"http://[::1]/", "address guard: ::1 is loopback: this machine"},
      {"//10.0.0.1/", "address guard: 10.0.0.1 is private"},
      {"http://0x7f.1/", "url guard: \"0x7f.1\" is an odd form of an address"},
      {"http://localhost/", "url guard: \"localhost\" names this machine"},
      {"file:///etc/passwd", "url guard: \"file\" is not fetched"},
      {"http://u@127.0.0.1/", "url guard: a user name before the host \"u@127.0.0.1\""}};
  for (const auto& [location, why] : expected) {
    Server server(always(redirect_to(location)));
    EXPECT_EQ(failure(fetch(server.url("/"), {}, no_resolver, kLoopback)),
              "following a redirect of " + server.url("/") + ": " + why);
    EXPECT_EQ(server.connections(), 1);
  }
}

TEST(FetchRedirectTest, ALoopEndsAtTheLimit) {
  Server server(always(redirect_to("/")));
  EXPECT_THAT(failure(fetch(server.url("/"), {}, no_resolver, kLoopback)),
              HasSubstr("too many redirects"));
  EXPECT_EQ(server.connections(), 6);
  EXPECT_THAT(failure(fetch(server.url("/"), {.redirects = 0}, no_resolver, kLoopback)),
              HasSubstr("too many redirects"));
  EXPECT_EQ(server.connections(), 7);
}

TEST(FetchRebindingTest, ANameIsAskedForOncePerRequest) {
  Server server(always(response("200 OK", "", "first")));
  Server second(always(response("200 OK", "", "second")), "127.0.0.2", server.port());
  Names names({List{"127.0.0.1"}, List{"127.0.0.2"}});
  const Result<Fetched> page =
      fetch(server.url("/", "A.example."), {}, names.resolver(), kLoopback);
  ASSERT_TRUE(page.has_value()) << failure(page);
  EXPECT_EQ(page->body, "first");
  EXPECT_EQ(page->url, server.url("/", "a.example"));
  EXPECT_EQ(names.asked, std::vector<std::string>{"a.example"});
  EXPECT_THAT(server.last_head(), HasSubstr("Host: a.example:" + std::to_string(server.port())));
  EXPECT_EQ(second.connections(), 0);
}

TEST(FetchRebindingTest, ANameThatChangesBetweenRedirectsIsCheckedAgain) {
  for (const char* bad : {"127.0.0.2", "10.0.0.1"}) {
    Server server(always(redirect_to("/next")));
    Server second(always(response("200 OK", "", "second")), "127.0.0.2", server.port());
    Names names({List{"127.0.0.1"}, List{bad}});
    EXPECT_THAT(failure(fetch(server.url("/", "a.example"), {}, names.resolver(), kLoopback)),
                HasSubstr("address guard: a.example has the address " + std::string(bad)));
    EXPECT_EQ(names.asked.size(), 2U);
    EXPECT_EQ(server.connections(), 1);
    EXPECT_EQ(second.connections(), 0);
  }
}

TEST(FetchRebindingTest, OneBadAddressForbidsTheName) {
  Server server(always(response("200 OK", "", "x")));
  for (const char* bad : {"10.0.0.1", "127.0.0.2", "::1", "fe80::1%lo", "", "127.1"}) {
    for (const List& list : {List{"127.0.0.1", bad}, List{bad, "127.0.0.1"}}) {
      Names names({list});
      EXPECT_THAT(failure(fetch(server.url("/", "a.example"), {}, names.resolver(), kLoopback)),
                  StartsWith("address guard: a.example has the address " + std::string(bad)));
    }
  }
  Names none({List{}});
  EXPECT_THAT(failure(fetch(server.url("/", "a.example"), {}, none.resolver(), kLoopback)),
              HasSubstr("the name has no address"));
  EXPECT_EQ(server.connections(), 0);
}

TEST(FetchRebindingTest, SeveralGoodAddressesAreTriedInTurn) {
  Server server(always(response("200 OK", "", "x")));
  Names names({List{"127.0.0.3", "127.0.0.1"}});  // no server at the first
  const FetchRules both{.addresses = {"127.0.0.1", "127.0.0.3"}};
  const Result<Fetched> page = fetch(server.url("/", "a.example"), {}, names.resolver(), both);
  ASSERT_TRUE(page.has_value()) << failure(page);
  EXPECT_EQ(page->body, "x");
}

TEST(FetchTest, TheSystemsResolverKnowsItsOwnAndFailsForNonsense) {
  const auto own = system_resolver()("localhost");
  ASSERT_TRUE(own.has_value()) << to_text(own.error());
  for (const std::string& address : *own)
    EXPECT_EQ(policy::forbidden(prefix_of(address_bytes(address).value()))->reason,
              "loopback: this machine");
  EXPECT_FALSE(own->empty());
  EXPECT_FALSE(system_resolver()("no such\nname").has_value());
}

}  // namespace
}  // namespace coop::tools
