// Which URLs are refused, and how the good ones are read.
#include "tools/web/urls.h"

#include <gmock/gmock.h>

#include <map>

namespace coop::tools {
namespace {

using testing::HasSubstr;

std::string why_refused(std::string_view text) {
  const Result<Url> url = parse_url(text);
  if (url) return "not refused: read as " + to_text(*url);
  EXPECT_EQ(url.error().operation, "url guard") << text;
  return url.error().subject;
}

TEST(UrlTest, RefusesWhatIsNoWholeHttpUrl) {
  for (const char* text :
       {"", "a.example", "a.example/x", "//a.example/x", "/x", "1http://a.example/"})
    EXPECT_THAT(why_refused(text), HasSubstr("is not a whole URL")) << text;
  for (const char* text : {"ftp://a.example/", "file:///etc/passwd", "gopher://a.example:70/_x",
                           "javascript:alert(1)", "httpss://a.example/", "dict://a.example/",
                           "a.example:80/x", "data:text/html,x", "view-source:http://a.example/"})
    EXPECT_THAT(why_refused(text), HasSubstr("is not fetched")) << text;
  for (const char* text : {"http:", "http:/a.example/", "http:a.example", "https:/x"})
    EXPECT_THAT(why_refused(text), HasSubstr("no // after the scheme")) << text;
  for (const char* text :
       {"http://", "http:///x", "http://:80/", "http://?x", "http://#", "http://./"})
    EXPECT_EQ(why_refused(text), "no host") << text;
}

TEST(UrlTest, RefusesCharactersThatParsersDisagreeOn) {
  using namespace std::literals;
  for (const std::string_view text :
       {" http://a.example/"sv, "http://a.example/ "sv, "http://a.example/a b"sv,
        "http://a.example/\r\nHost: b.example"sv, "ht\ttp://a.example/"sv, "http://a.exa\nmple/"sv,
        "http://a.example\0.b.example/"sv, "http://a.example/\x7f"sv})
    EXPECT_THAT(why_refused(text), HasSubstr("a blank or control character in")) << text;
  EXPECT_EQ(why_refused("http://a.example\t/"),
            R"(a blank or control character in "http://a.example\x09/")");
  EXPECT_THAT(why_refused(R"(http://a.example\@b.example/)"), HasSubstr("a backslash in"));
  EXPECT_THAT(why_refused(R"(http:\\a.example\)"), HasSubstr("a backslash in"));
  EXPECT_THAT(why_refused("http://a.example/\xff"), HasSubstr("is not UTF-8"));
  EXPECT_THAT(why_refused("http://a.example/" + std::string(9000, 'x')), HasSubstr("longer than"));
  // Short enough as it is written, and too long as it is sent.
  std::string umlauts = "http://a.example/";
  for (int count = 0; count < 3000; ++count) umlauts += "ä";
  EXPECT_THAT(why_refused(umlauts), HasSubstr("longer than"));
}

TEST(UrlTest, RefusesOddHosts) {
  for (const char* text : {"http://user@a.example/", "http://u:p@a.example/", "http://@a.example/",
                           "http://a.example@b.example/", "http://a.example:80@b.example/"})
    EXPECT_THAT(why_refused(text), HasSubstr("a user name before the host")) << text;
  for (const char* text :
       {"http://a%2eexample/", "http://%31%32%37.0.0.1/", "http://a.example%00.b/"})
    EXPECT_THAT(why_refused(text), HasSubstr("a percent sign in the host")) << text;
  for (const char* text : {"http://münchen.example/", "http://①②⑦.0.0.1/", "http://a。example/"})
    EXPECT_THAT(why_refused(text), HasSubstr("is not ASCII")) << text;
  for (const char* text : {"http://a_b.example/", "http://a,b.example/", "http://a*.example/",
                           "http://a.example]/", "http://a!b.example/", "http://{a}.example/"})
    EXPECT_THAT(why_refused(text), HasSubstr("has characters no host name has")) << text;
  for (const char* text : {"http://a..example/", "http://.a.example/", "http://a.example../",
                           "http://-a.example/", "http://a-.example/"})
    EXPECT_THAT(why_refused(text), HasSubstr("is no host name")) << text;
  EXPECT_THAT(why_refused("http://" + std::string(64, 'a') + ".example/"),
              HasSubstr("is no host name"));
  std::string overlong = "http://";
  for (int count = 0; count < 130; ++count) overlong += "a.";
  EXPECT_THAT(why_refused(overlong + "example/"), HasSubstr("is too long"));
}

TEST(UrlTest, RefusesMetadataNamesAlwaysAndOtherLocalNamesWithoutARule) {
  const std::map<std::string, std::string> names{
      {"localhost", "names this machine"},
      {"LOCALHOST", "names this machine"},
      {"localhost.", "names this machine"},
      {"a.localhost", "names this machine"},
      {"a.b.localhost.", "names this machine"},
      {"localhost.localdomain", "names this machine"},
      {"printer.local", "names a machine nearby (mDNS)"},
      {"local", "names a machine nearby (mDNS)"},
      {"db.internal", "names a machine of a private network"},
      {"vault.prod.INTERNAL.", "names a machine of a private network"},
      {"metadata.google.internal", "names a cloud metadata service"},
      {"Metadata.Google.Internal.", "names a cloud metadata service"},
      {"instance-data.ec2.internal", "names a cloud metadata service"},
      {"metadata.aws.internal", "names a cloud metadata service"},
      {"metadata", "names a cloud metadata service"},
      {"instance-data", "names a cloud metadata service"},
      {"router.home.arpa", "names a machine of a home network"},
      {"intranet", "has no dot"},
      {"com", "has no dot"},
      {"router.", "has no dot"},
  };
  for (const auto& [host, reason] : names) {
    const Result<Url> url = parse_url("http://" + host + "/");
    EXPECT_EQ(url.has_value(), reason != "names a cloud metadata service") << host;
    const Result<void> refused = url ? check_public_name(url->host) : std::unexpected(url.error());
    ASSERT_FALSE(refused.has_value()) << host;
    EXPECT_EQ(refused.error().operation, "url guard") << host;
    EXPECT_THAT(refused.error().subject, HasSubstr(reason)) << host;
  }
  EXPECT_TRUE(check_public_name("mylocal.example").has_value());
}

TEST(UrlTest, RefusesOddFormsOfAddresses) {
  for (const char* host :
       {"2130706433", "127.1", "127.0.1", "0177.0.0.1", "127.0.0.01", "0x7f.1", "0x7f.0.0.1",
        "0x7f000001", "017700000001", "1.2.3.4.5", "256.1.1.1", "1.2.3.256", "1.2.3.0x4", "0",
        "00.0.0.0", "a.1", "a.example.0x7f", "1.2.3.4x", "127.0.0.1.5."})
    EXPECT_THAT(why_refused("http://" + std::string(host) + "/"),
                HasSubstr("is an odd form of an address"))
        << host;
  for (const char* host : {"[127.0.0.1]", "[]", "[:]", "[::g]", "[1:2:3]", "[v1.a]", "[::1.2.3]",
                           "[1:2:3:4:5:6:7:8:9]", "[a.example]"})
    EXPECT_THAT(why_refused("http://" + std::string(host) + "/"),
                HasSubstr("in brackets is no IPv6 address"))
        << host;
  for (const char* host : {"[fe80::1%eth0]", "[fe80::1%25eth0]", "[::1%]"})
    EXPECT_THAT(why_refused("http://" + std::string(host) + "/"),
                HasSubstr("an interface in the address"))
        << host;
  EXPECT_THAT(why_refused("http://[::1/"), HasSubstr("no ] in the host"));
  EXPECT_THAT(why_refused("http://[::1]x/"), HasSubstr("something after the address"));
  EXPECT_THAT(why_refused("http://[::1].a.example/"), HasSubstr("something after the address"));
  EXPECT_THAT(why_refused("http://::1/"), HasSubstr("no host"));
}

TEST(UrlTest, RefusesOddPorts) {
  for (const char* port :
       {"0", "65536", "99999", "-1", "+80", "80a", "8 0", "0x50", "80:80", "4294967376"})
    EXPECT_FALSE(parse_url("http://a.example:" + std::string(port) + "/").has_value()) << port;
  EXPECT_EQ(why_refused("http://a.example:65536/"), "\"65536\" is no port");
}

TEST(UrlTest, AnErrorShowsNoMoreThanIsNeededAndNoControlCharacters) {
  const std::string subject = why_refused("http://a.example/" + std::string(3000, 'x') + "\x1b[2J");
  EXPECT_LT(subject.size(), 300U);
  EXPECT_EQ(why_refused("http://a\xc2\x9b.example/").find('\x9b'), std::string::npos);
}

TEST(UrlTest, GoodOnesAreReadAndNormalised) {
  const std::map<std::string, Url> good{
      {"http://a.example", {"http", "a.example", 80, "/"}},
      {"https://a.example/", {"https", "a.example", 443, "/"}},
      {"HTTPS://A.Example/Path", {"https", "a.example", 443, "/Path"}},
      {"http://a.example./x", {"http", "a.example", 80, "/x"}},
      {"http://a.example:/x", {"http", "a.example", 80, "/x"}},
      {"http://a.example:8080/x", {"http", "a.example", 8080, "/x"}},
      {"https://a.example:80/", {"https", "a.example", 80, "/"}},
      {"https://a.example:00443/", {"https", "a.example", 443, "/"}},
      {"http://a.example:65535/", {"http", "a.example", 65535, "/"}},
      {"http://a.example?q=1", {"http", "a.example", 80, "/?q=1"}},
      {"http://a.example#part", {"http", "a.example", 80, "/"}},
      {"http://a.example/x?q=1&r=http://b.example/#part",
       {"http", "a.example", 80, "/x?q=1&r=http://b.example/"}},
      {"http://a.example/@b.example", {"http", "a.example", 80, "/@b.example"}},
      {"http://a.example/?u=x@b.example", {"http", "a.example", 80, "/?u=x@b.example"}},
      {"http://a.example/a%20b%2F", {"http", "a.example", 80, "/a%20b%2F"}},
      {"http://a.example/ä?ö#ü", {"http", "a.example", 80, "/%C3%A4?%C3%B6"}},
      {"http://a.example/%c3%a4%2f%zz%", {"http", "a.example", 80, "/%C3%A4%2F%zz%"}},
      {"http://a.example/a/../b", {"http", "a.example", 80, "/a/../b"}},
      {"http://a.example//x", {"http", "a.example", 80, "//x"}},
      {"http://xn--mnchen-3ya.example/", {"http", "xn--mnchen-3ya.example", 80, "/"}},
      {"http://r3---sn-1.a.example/", {"http", "r3---sn-1.a.example", 80, "/"}},
      {"http://1.2.3.4.nip.example/", {"http", "1.2.3.4.nip.example", 80, "/"}},
      {"http://notlocalhost.example/", {"http", "notlocalhost.example", 80, "/"}},
      {"http://mylocal.mylocal/", {"http", "mylocal.mylocal", 80, "/"}},
      {"http://8.8.8.8/", {"http", "8.8.8.8", 80, "/"}},
      {"http://8.8.8.8.:81/", {"http", "8.8.8.8", 81, "/"}},
      {"http://[2606:4700::1111]/", {"http", "2606:4700::1111", 80, "/"}},
      {"http://[2606:4700:0:0::1.2.3.4]:81/x", {"http", "2606:4700::102:304", 81, "/x"}},
  };
  for (const auto& [text, expected] : good) {
    const Result<Url> url = parse_url(text);
    ASSERT_TRUE(url.has_value()) << text << ": " << to_text(url.error());
    EXPECT_EQ(*url, expected) << text << " is " << to_text(*url);
    EXPECT_EQ(parse_url(to_text(*url)), expected) << text;
  }
}

TEST(UrlTest, ArePrintedWithoutTheUsualPort) {
  for (const auto& [text, expected] : std::map<std::string, std::string>{
           {"http://A.example.:080/x#y", "http://a.example/x"},
           {"https://a.example:80/x", "https://a.example:80/x"},
           {"https://[2606:4700:0::1]:444", "https://[2606:4700::1]:444/"}})
    EXPECT_EQ(to_text(parse_url(text).value()), expected);
}

TEST(UrlReferenceTest, LeadsWhereABrowserWouldGo) {
  const Url base = parse_url("https://a.example:8443/b/c?d=/e").value();
  const std::map<std::string, std::string> expected{
      {"https://b.example/x", "https://b.example/x"},
      {"HTTPS://b.example", "https://b.example/"},
      {"//b.example:1/x", "https://b.example:1/x"},
      {"/x", "https://a.example:8443/x"},
      {"/x/./y/../z?q=../r", "https://a.example:8443/x/z?q=../r"},
      {"/../../x", "https://a.example:8443/x"},
      {"/x/..", "https://a.example:8443/"},
      {"/x/y/..", "https://a.example:8443/x/"},
      {"/x/.", "https://a.example:8443/x/"},
      {"/x//y", "https://a.example:8443/x//y"},
      {"x", "https://a.example:8443/b/x"},
      {"x?q", "https://a.example:8443/b/x?q"},
      {"../x", "https://a.example:8443/x"},
      {"./", "https://a.example:8443/b/"},
      {"?q", "https://a.example:8443/b/c?q"},
      {"#part", "https://a.example:8443/b/c?d=/e"},
      {"", "https://a.example:8443/b/c?d=/e"},
      {" \t/x ", "https://a.example:8443/x"},
      {"/x:y", "https://a.example:8443/x:y"},
      {"ä", "https://a.example:8443/b/%C3%A4"},
  };
  for (const auto& [location, text] : expected) {
    const Result<Url> url = resolve_reference(base, location);
    ASSERT_TRUE(url.has_value()) << location << ": " << to_text(url.error());
    EXPECT_EQ(to_text(*url), text) << location;
  }
}

TEST(UrlReferenceTest, LeadsFromHttpToHttpsAndNotBack) {
  const Url plain = parse_url("http://a.example/").value();
  const Url secure = parse_url("https://a.example/").value();
  EXPECT_EQ(resolve_reference(plain, "https://a.example/"), secure);
  EXPECT_EQ(resolve_reference(plain, "http://a.example/"), plain);
  const Result<Url> back = resolve_reference(secure, "http://a.example/");
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(to_text(back.error()), "url guard: a redirect from https to \"http://a.example/\"");
}

TEST(UrlReferenceTest, IsCheckedLikeAnyOtherUrl) {
  const Url base = parse_url("https://a.example/b/c").value();
  for (const char* location :
       {"file:///etc/passwd", "//metadata/", "///x", "//u@b.example/", R"(/\b.example)",
        R"(\\b.example)", "/a b", "http:x", "x:y", "/\x01"})
    EXPECT_FALSE(resolve_reference(base, location).has_value()) << location;
  EXPECT_FALSE(resolve_reference(base, std::string(1U << 20U, '/')).has_value());
  EXPECT_FALSE(resolve_reference(base, std::string(1U << 20U, 'x')).has_value());
}

}  // namespace
}  // namespace coop::tools
