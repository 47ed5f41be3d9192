// Secrets are found in every form, and what only resembles one is not.
#include "leaks/leaks.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <thread>

#include "leak_samples.h"

namespace coop::leaks {
namespace {

const LeakScanner& scanner() {
  static const Result<LeakScanner> made = LeakScanner::create();
  return *made;
}

struct Place {
  std::string name{};
  Encoding encoding = Encoding::plain;
  std::string text{};
  bool operator==(const Place&) const = default;
};

void PrintTo(const Place& place, std::ostream* out) {
  *out << place.name << " (" << to_text(place.encoding) << "): " << place.text;
}

std::vector<Place> places_in(const LeakScanner& by, std::string_view text) {
  std::vector<Place> places;
  for (const Leak& leak : by.find(text)) {
    EXPECT_FALSE(leak.reason.empty());
    places.push_back(
        {leak.name, leak.encoding, std::string(text.substr(leak.begin, leak.end - leak.begin))});
  }
  return places;
}

std::vector<LeakSample> samples() {
  std::vector<LeakSample> all;
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    for (LeakSample& sample : leak_samples_of(seed)) all.push_back(std::move(sample));
  return all;
}

TEST(LeaksTest, ThereAreTwoHundredSamplesOfEveryPattern) { EXPECT_GE(samples().size(), 200U); }

TEST(LeaksTest, EverySampleIsFoundAsItIsAndNothingAround) {
  for (const LeakSample& sample : samples()) {
    const std::string text = "see \"" + sample.text + std::string(after(sample)) + "\" there";
    EXPECT_EQ(places_in(scanner(), text),
              (std::vector<Place>{{sample.name, Encoding::plain, sample.text}}));
  }
}

TEST(LeaksTest, ASampleMayBeTheWholeText) {
  for (const LeakSample& sample : samples()) {
    const std::string text = sample.text + std::string(after(sample));
    EXPECT_EQ(places_in(scanner(), text),
              (std::vector<Place>{{sample.name, Encoding::plain, sample.text}}));
  }
}

TEST(LeaksTest, EverySampleIsFoundBehindAnEscape) {
  for (const LeakSample& sample : samples())
    for (const char* escape : {"a\x1b[32m", "\x1b[m\x1b[K", "\\x1b[01;31m", "q=a%3D", "x%0A",
                               "x\\n", "x\\t", "x\\u003d", "x\\x20"}) {
      if (sample.name == "url-password") continue;  // a scheme is a word
      const std::string text = escape + sample.text + std::string(after(sample)) + " there";
      const std::vector<Leak> found = scanner().find(text);
      ASSERT_FALSE(found.empty()) << text;
      EXPECT_EQ(found.front().name, sample.name);
      EXPECT_LE(found.front().begin, std::string_view(escape).size()) << text;
      EXPECT_GE(found.front().end, std::string_view(escape).size() + sample.text.size()) << text;
    }
}

TEST(LeaksTest, AWordThatOnlyEndsLikeOneIsNone) {
  const std::string token = std::string("h") + "f_" + std::string(34, 'a');
  EXPECT_EQ(scanner().find(token).size(), 1U);  // control
  for (const char* before : {"x", "_", "9", "%3x", "[32m", "nn"})
    EXPECT_TRUE(scanner().find(before + token).empty()) << before;
  const std::string key = std::string("s") + "k-" + std::string(32, 'a');
  EXPECT_EQ(scanner().find(key).size(), 1U);  // control
  EXPECT_TRUE(scanner().find("di" + key).empty());
  EXPECT_TRUE(
      scanner().find("fla" + std::string("s") + "k-ant-design-admin-template-pro-vue").empty());
}

TEST(LeaksTest, ALetterBeforeAnUnmistakableTokenDoesNotHideIt) {
  const std::array<std::string_view, 11> always{
      "github-token",      "gitlab-token", "google-api-key", "google-oauth-token",
      "slack-token",       "npm-token",    "pypi-token",     "digitalocean-token",
      "azure-storage-key", "private-key",  "aws-secret-key"};
  std::size_t tried = 0;
  for (const LeakSample& sample : samples()) {
    if (std::ranges::find(always, sample.name) == always.end()) continue;
    ++tried;
    for (const std::string before : {"x", "token", "_", "9"})
      EXPECT_EQ(places_in(scanner(), before + sample.text + std::string(after(sample))),
                (std::vector<Place>{{sample.name, Encoding::plain, sample.text}}));
  }
  EXPECT_GE(tried, 50U);
  const std::string key = std::string("s") + "k-ant-api03-" + std::string(40, 'b');
  EXPECT_EQ(places_in(scanner(), "x" + key),
            (std::vector<Place>{{"anthropic-key", Encoding::plain, key}}));
}

TEST(LeaksTest, WhatIsPutBehindASecretDoesNotHideIt) {
  const std::string github = std::string("gh") + "p_" + std::string(36, 'a');
  const std::string aws = std::string("AK") + "IA" + std::string(16, 'Q');
  const std::string telegram = "123456789:AA" + std::string(33, 'b');
  for (const std::string& text : {github + "-old", github + "_old", aws + "_accessKeys.csv",
                                  "https://api.example/bot" + telegram + "/getMe"})
    EXPECT_EQ(scanner().find(text).size(), 1U) << text;
}

TEST(LeaksTest, EverySampleIsFoundUrlEncoded) {
  for (const LeakSample& sample : samples()) {
    const std::string whole = url_of(sample.text, Escape::everything);
    const std::string host = url_of(after(sample), Escape::everything);
    EXPECT_EQ(places_in(scanner(), "GET /?q=%20" + whole + host + " HTTP/1.1"),
              (std::vector<Place>{{sample.name, Encoding::url, whole}}));
    const std::string specials = url_of(sample.text, Escape::specials);
    const Encoding encoding = specials == sample.text ? Encoding::plain : Encoding::url;
    EXPECT_EQ(places_in(scanner(), specials + url_of(after(sample), Escape::specials)),
              (std::vector<Place>{{sample.name, encoding, specials}}));
  }
}

TEST(LeaksTest, EverySampleIsFoundInBase64) {
  for (const LeakSample& sample : samples()) {
    if (!after(sample).empty()) continue;
    for (const std::string& encoded :
         {base64_of(sample.text), base64_of(sample.text, "+/", ""), base64_of(sample.text, "-_"),
          base64_of(sample.text, "-_", "")})
      EXPECT_EQ(places_in(scanner(), "data: " + encoded + ";"),
                (std::vector<Place>{{sample.name, Encoding::base64, encoded}}));
  }
}

TEST(LeaksTest, EverySampleIsFoundInHexadecimal) {
  for (const LeakSample& sample : samples()) {
    if (!after(sample).empty()) continue;
    for (const std::string& encoded :
         {hex_of(sample.text), hex_of(sample.text, "0123456789ABCDEF"),
          hex_of(sample.text, kLowerHex, "", ":"), hex_of(sample.text, kLowerHex, "", " ")})
      EXPECT_EQ(places_in(scanner(), "(" + encoded + ")"),
                (std::vector<Place>{{sample.name, Encoding::hex, encoded}}));
  }
}

TEST(LeaksTest, PasswordsInEncodedUrlsAreFoundToo) {
  SampleSource source(3);
  const std::string text = "https://ann:" + source.of(kAlphanumeric, 12);
  const std::vector<Leak> base64 = scanner().find(base64_of(text + "@example.org/"));
  ASSERT_EQ(base64.size(), 1U);
  EXPECT_EQ(base64[0].name, "url-password");
  const std::string encoded = hex_of(text);
  EXPECT_EQ(places_in(scanner(), encoded + hex_of("@example.org")),
            (std::vector<Place>{{"url-password", Encoding::hex, encoded}}));
}

TEST(LeaksTest, PrefixedDigitsAreRead) {
  const LeakSample sample = leak_samples_of(7)[22];
  for (const auto& [before, between] :
       {std::pair{"\\x", ""}, std::pair{"0x", ", "}, std::pair{"0x", ","}}) {
    const std::string encoded = hex_of(sample.text, kLowerHex, before, between);
    const std::vector<Leak> leaks = scanner().find("{" + encoded + "}");
    ASSERT_EQ(leaks.size(), 1U) << encoded;
    EXPECT_EQ(leaks[0].name, sample.name);
    EXPECT_EQ(leaks[0].end, encoded.size() + 1);
  }
}

TEST(LeaksTest, WhatStandsBeforeABlobHidesNothing) {
  const LeakSample sample = leak_samples_of(8)[4];
  for (const std::string_view before : {"", "x", "xy", "xyz", "a/b-c", "path/to/"}) {
    const std::vector<Leak> base64 = scanner().find(std::string(before) + base64_of(sample.text));
    ASSERT_EQ(base64.size(), 1U) << before;
    EXPECT_EQ(base64[0].name, sample.name);
    const std::vector<Leak> hex = scanner().find("a" + hex_of(sample.text));
    ASSERT_EQ(hex.size(), 1U);
    EXPECT_EQ(hex[0].begin, 1U);
  }
}

TEST(LeaksTest, ABlobMayBeWrapped) {
  for (const std::string_view line_break : {"\n", "\r\n", "\\n", "\n    "})
    for (const LeakSample& sample : leak_samples_of(9)) {
      if (sample.text.size() < 60) continue;
      const std::string encoded = base64_of("some words before it: " + sample.text + " and after");
      std::string wrapped;
      for (std::size_t place = 0; place < encoded.size(); place += 64)
        wrapped += (place == 0 ? "" : std::string(line_break)) + encoded.substr(place, 64);
      const std::vector<Leak> leaks = scanner().find(wrapped);
      ASSERT_EQ(leaks.size(), 1U) << wrapped;
      EXPECT_EQ(leaks[0].name, sample.name);
      EXPECT_EQ(leaks[0].encoding, Encoding::base64);
    }
}

TEST(LeaksTest, ASecretDeepInABigBlobIsFoundAtItsPlace) {
  SampleSource source(11);
  const LeakSample sample = leak_samples_of(10)[4];
  const std::string before = source.of(kWordCharacters, 900'000) + " ";
  const std::string text =
      base64_of(before + sample.text + " " + source.of(kWordCharacters, 300'000));
  const std::vector<Leak> leaks = scanner().find(text);
  ASSERT_EQ(leaks.size(), 1U);
  EXPECT_EQ(leaks[0].name, sample.name);
  EXPECT_EQ(leaks[0].begin, before.size() * 4 / 3);
}

TEST(LeaksTest, AKeyWithoutAnEndGoesToTheEndOfTheText) {
  SampleSource source(12);
  std::string text = pem_of(source, "EC ", 4);
  text.resize(text.find("-----END"));
  EXPECT_EQ(places_in(scanner(), "a\n" + text),
            (std::vector<Place>{{"private-key", Encoding::plain, text}}));
  const std::string about =
      "looks for \"-----BEGIN RSA " + std::string("PRIVATE KEY-----\" in files");
  EXPECT_EQ(places_in(scanner(), about), std::vector<Place>{});
}

TEST(LeaksTest, OverlappingOnesAreOne) {
  const LeakSample sample = leak_samples_of(13)[10];
  const std::string url = "https://ann:" + sample.text;
  EXPECT_EQ(places_in(scanner(), "fetch " + url + "@host"),
            (std::vector<Place>{{"url-password", Encoding::plain, url}}));
}

TEST(LeaksTest, KnownValuesAreFoundInEveryForm) {
  const std::vector<LeakScanner::Known> known{{"SHORT", "hunter22"},
                                              {"LONG", "a value? of some/length, with signs"},
                                              {"TOO_SHORT", "seven77"}};
  const Result<LeakScanner> made = LeakScanner::create(known);
  ASSERT_TRUE(made.has_value());
  for (std::size_t index = 0; index < 2; ++index) {
    const std::string name = "environment: " + known[index].name;
    const std::string& value = known[index].value;
    const std::vector<std::pair<Encoding, std::string>> forms{
        {Encoding::plain, value},
        {Encoding::url, url_of(value, Escape::everything)},
        {Encoding::base64, base64_of(value)},
        {Encoding::base64, base64_of(value, "-_", "")},
        {Encoding::hex, hex_of(value)},
        {Encoding::hex, hex_of(value, "0123456789ABCDEF")}};
    for (const auto& [encoding, form] : forms)
      EXPECT_EQ(places_in(*made, "is (" + form + ")"),
                (std::vector<Place>{{name, encoding, form}}));
    for (const std::string_view before : {"u", "ui"}) {
      const std::vector<Leak> inside = made->find(base64_of(std::string(before) + value + "!!"));
      ASSERT_EQ(inside.size(), 1U) << before;
      EXPECT_EQ(inside[0].name, name);
    }
  }
  EXPECT_EQ(places_in(*made, "seven77 hunter2 hunter2 2"), std::vector<Place>{});
}

TEST(LeaksTest, KnownValuesThatOverlapAreOneLeak) {
  const std::vector<LeakScanner::Known> known{{"ONE", "abcd-efgh-1"}, {"TWO", "efgh-1-ijkl"}};
  const Result<LeakScanner> made = LeakScanner::create(known);
  EXPECT_EQ(places_in(*made, "(efgh-1-ijkl)"),  // control
            (std::vector<Place>{{"environment: TWO", Encoding::plain, "efgh-1-ijkl"}}));
  EXPECT_EQ(places_in(*made, "(abcd-efgh-1-ijkl)"),
            (std::vector<Place>{{"environment: ONE", Encoding::plain, "abcd-efgh-1-ijkl"}}));
}

TEST(LeaksTest, ManyThreadsMayLookAtOnce) {
  const std::vector<LeakSample> all = leak_samples_of(14);
  std::vector<std::size_t> counts(4);
  {
    std::vector<std::jthread> threads;
    for (std::size_t& count : counts)
      threads.emplace_back([&count, &all] {
        for (const LeakSample& sample : all)
          count += scanner().find(sample.text + std::string(after(sample))).size();
      });
  }
  EXPECT_EQ(counts, std::vector<std::size_t>(4, all.size()));
}

TEST(LeaksTest, RedactedTextNamesWhatWasThere) {
  const LeakSample key = leak_samples_of(15)[4];
  const LeakSample token = leak_samples_of(15)[10];
  const std::string text = "a " + key.text + ", " + base64_of(token.text) + " z";
  EXPECT_EQ(redacted(text, scanner().find(text)),
            "a [redacted: anthropic-key], [redacted: github-token] z");
  EXPECT_EQ(redacted("nothing", {}), "nothing");
}

// Near misses.

TEST(LeaksTest, OneCharacterLessIsNoSecret) {
  // Those of an exact or least length, cut to one below it.
  SampleSource source(20);
  const auto letters = [&](std::size_t count) { return source.of(kAlphanumeric, count); };
  std::size_t tried = 0;
  for (int round = 0; round < 8; ++round)
    for (const auto& [prefix, length] :
         std::vector<std::pair<std::string, std::size_t>>{{"sk-", 31},
                                                          {"sk-"
                                                           "proj-",
                                                           39},
                                                          {"sk-"
                                                           "ant-",
                                                           23},
                                                          {"sk-"
                                                           "or-v1-",
                                                           31},
                                                          {"ghp"
                                                           "_",
                                                           35},
                                                          {"glpat"
                                                           "-",
                                                           19},
                                                          {"AI"
                                                           "za",
                                                           34},
                                                          {"AI"
                                                           "za",
                                                           36},
                                                          {"ya29"
                                                           ".",
                                                           29},
                                                          {"xoxb"
                                                           "-",
                                                           23},
                                                          {"123456789"
                                                           ":AA",
                                                           32},
                                                          {"BS"
                                                           "A",
                                                           27},
                                                          {"BS"
                                                           "A",
                                                           29},
                                                          {"np"
                                                           "m_",
                                                           35},
                                                          {"np"
                                                           "m_",
                                                           37},
                                                          {"pypi-"
                                                           "AgEI",
                                                           49},
                                                          {"sk_"
                                                           "live_",
                                                           23},
                                                          {"h"
                                                           "f_",
                                                           33},
                                                          {"h"
                                                           "f_",
                                                           35},
                                                          {"https://ann:", 5},
                                                          {"sk_"
                                                           "test_",
                                                           40},
                                                          {"xsk-", 48},
                                                          {"desk-", 48},
                                                          {"Ghp"
                                                           "_",
                                                           36}}) {
      const std::string text = prefix + letters(length);
      EXPECT_EQ(places_in(scanner(), "x " + text + " y"), std::vector<Place>{});
      EXPECT_EQ(places_in(scanner(), "https://ann:" + source.of(kAlphanumeric, 5) + "@host"),
                std::vector<Place>{});
      ++tried;
    }
  EXPECT_GE(tried, 190U);
}

TEST(LeaksTest, WrongAlphabetsAreNoSecret) {
  SampleSource source(21);
  for (int round = 0; round < 10; ++round) {
    std::string key_id = "AK" + std::string("IA") + source.of(kUpperAndDigits, 16);
    key_id[7] = 'x';
    std::string ocean = "dop" + std::string("_v1_") + source.of(kLowerHex, 64);
    ocean[20] = 'g';
    std::string npm = "np" + std::string("m_") + source.of(kAlphanumeric, 36);
    npm[15] = '.';
    const std::string discord = source.of("PQRST", 24) + "." + source.of(kAlphanumeric, 6) + "." +
                                source.of(kAlphanumeric, 38);
    for (const std::string& text : {key_id, ocean, npm, discord})
      EXPECT_EQ(places_in(scanner(), text), std::vector<Place>{});
  }
}

TEST(LeaksTest, WhatProgramsWriteIsNoSecret) {
  SampleSource source(22);
  const auto hex = [&](std::size_t count) { return source.of(kLowerHex, count); };
  std::string png = "\x89PNG\r\n";
  for (int byte = 0; byte < 3000; ++byte) png += static_cast<char>(source.number(256));
  std::vector<std::string> texts{"data:image/png;base64," + base64_of(png),
                                 "!function(e,t){\"object\"==typeof exports&&\"undefined\"!=typeof "
                                 "module?t(exports):t(e.sk={})}",
                                 "https://example.org:8080/path@2x.png?x=%20y",
                                 "http://ann@host:123456/",
                                 "ssh://git@host:2222/",
                                 "https://ann:${PASSWORD}@host",
                                 "https://ann:<password>@host",
                                 "-----BEGIN CERTIFICATE-----",
                                 "risk-assessment-of-the-long-named-thing-nobody-reads",
                                 "aws_secret_access_key = $SECRET"};
  for (int round = 0; round < 40; ++round) {
    texts.push_back("commit " + hex(40));
    texts.push_back(hex(8) + "-" + hex(4) + "-4" + hex(3) + "-a" + hex(3) + "-" + hex(12));
    texts.push_back("\"integrity\": \"sha512-" + source.of(kStandardBase64, 86) + "==\"");
    texts.push_back("golang.org/x/sys v0.1.0 h1:" + source.of(kStandardBase64, 43) + "=");
    texts.push_back("sha256:" + hex(64));
  }
  EXPECT_GE(texts.size(), 200U);
  for (const std::string& text : texts) EXPECT_EQ(places_in(scanner(), text), std::vector<Place>{});
}

}  // namespace
}  // namespace coop::leaks
