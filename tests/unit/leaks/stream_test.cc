// A secret cut anywhere is found, and no part of it is passed on.
#include <gtest/gtest.h>

#include "leak_samples.h"
#include "leaks/leaks.h"

namespace coop::leaks {
namespace {

const LeakScanner& scanner() {
  static const Result<LeakScanner> made = LeakScanner::create();
  return *made;
}

struct Passed {
  std::string text{};
  std::vector<Leak> leaks{};
  bool operator==(const Passed&) const = default;
};

Passed passed_whole(const LeakScanner& by, std::string_view text) {
  const std::vector<Leak> leaks = by.find(text);
  return {redacted(text, leaks), leaks};
}

Passed passed_in_two(const LeakScanner& by, std::string_view text, std::size_t split) {
  LeakStream stream(by);
  std::string out = stream.feed(text.substr(0, split));
  out += stream.feed(text.substr(split));
  out += stream.finish();
  return {out, stream.found()};
}

Passed passed_in_pieces(const LeakScanner& by, std::string_view text, SampleSource& source,
                        std::size_t most) {
  LeakStream stream(by);
  std::string out;
  for (std::size_t place = 0; place < text.size();) {
    const std::size_t size = 1 + source.number(most);
    out += stream.feed(text.substr(place, size));
    place += size;
  }
  out += stream.finish();
  return {out, stream.found()};
}

TEST(LeakStreamTest, ASampleSplitAnywhereIsFoundWhole) {
  for (const LeakSample& sample : leak_samples_of(31)) {
    if (sample.text.size() > 600) continue;
    const std::string text =
        "first line\nsecond: " + sample.text + std::string(after(sample)) + "\nlast line\n";
    const Passed whole = passed_whole(scanner(), text);
    ASSERT_EQ(whole.leaks.size(), 1U);
    for (std::size_t split = 0; split <= text.size(); ++split)
      ASSERT_EQ(passed_in_two(scanner(), text, split), whole) << sample.name << " at " << split;
  }
}

TEST(LeakStreamTest, EncodedAndWrappedSamplesSplitAnywhereAreFoundWhole) {
  for (const LeakSample& sample : leak_samples_of(32)) {
    if (sample.text.size() > 150 || !after(sample).empty()) continue;
    const std::string base64 = base64_of("words before: " + sample.text);
    std::string wrapped;
    for (std::size_t place = 0; place < base64.size(); place += 32)
      wrapped += base64.substr(place, 32) + "\n";
    for (const std::string& encoded :
         {wrapped, hex_of(sample.text), url_of(sample.text, Escape::everything)}) {
      const std::string text = "before\n" + encoded + "\nbehind\n";
      const Passed whole = passed_whole(scanner(), text);
      ASSERT_EQ(whole.leaks.size(), 1U) << text;
      for (std::size_t split = 0; split <= text.size(); ++split)
        ASSERT_EQ(passed_in_two(scanner(), text, split), whole) << sample.name << " at " << split;
    }
  }
}

TEST(LeakStreamTest, RandomPiecesGiveWhatTheWholeGives) {
  SampleSource source(33);
  std::string text;
  for (std::uint64_t seed = 40; seed < 44; ++seed)
    for (const LeakSample& sample : leak_samples_of(seed)) {
      text += source.of(kWordCharacters, source.number(60)) + "\n";
      text += "x " + sample.text + std::string(after(sample)) + (seed % 2 == 0 ? "\n" : " ");
      text += base64_of(sample.text) + "\n";
    }
  const Passed whole = passed_whole(scanner(), text);
  ASSERT_GE(whole.leaks.size(), 200U);
  for (const std::size_t most : {1U, 7U, 100U, 5000U})
    EXPECT_EQ(passed_in_pieces(scanner(), text, source, most), whole) << most;
}

TEST(LeakStreamTest, HarmlessLinesArePassedOnAtOnce) {
  LeakStream stream(scanner());
  EXPECT_EQ(stream.feed("one\ntwo"), "one\n");
  EXPECT_EQ(stream.feed(" more\nthree\n"), "two more\nthree\n");
  EXPECT_EQ(stream.feed("/usr/share/doc/some/long/path\n"), "");  // may be the first line of a blob
  EXPECT_EQ(stream.feed("and something else\n"),
            "/usr/share/doc/some/long/path\nand something else\n");
  EXPECT_EQ(stream.finish(), "");
}

TEST(LeakStreamTest, AKeyIsHeldUntilItsEnd) {
  SampleSource source(34);
  const std::string key = pem_of(source, "RSA ", 25);
  LeakStream stream(scanner());
  EXPECT_EQ(stream.feed("a\n" + key.substr(0, 700)), "a\n");
  EXPECT_EQ(stream.feed(key.substr(700) + "\nz\n"), "[redacted: private-key]\nz\n");
  EXPECT_EQ(stream.finish(), "");
  const Leak leak{.name = "private-key",
                  .reason = "proves the identity of its owner",
                  .begin = 2,
                  .end = 2 + key.size()};
  EXPECT_EQ(stream.found(), std::vector<Leak>{leak});
}

TEST(LeakStreamTest, ALineWithoutEndIsPassedOnInPartsAndItsSecretsAreNot) {
  SampleSource source(35);
  const LeakSample sample = leak_samples_of(36)[4];
  std::string text;
  std::string expected;
  for (int part = 0; part < 60; ++part) {
    const std::string filler = source.of("ghijklmnop ,;", 5000 + source.number(5000));
    text += filler + " " + sample.text + " ";
    expected += filler + " [redacted: anthropic-key] ";
  }
  LeakStream stream(scanner());
  std::string out;
  std::size_t most_held = 0;
  for (std::size_t place = 0; place < text.size(); place += 1000) {
    out += stream.feed(std::string_view(text).substr(place, 1000));
    most_held = std::max(most_held, place - std::min(place, out.size()));
  }
  EXPECT_LT(most_held, 140'000U);
  out += stream.finish();
  EXPECT_EQ(out, expected);
  EXPECT_EQ(stream.found(), scanner().find(text));
}

TEST(LeakStreamTest, KnownValuesOfSeveralLinesAreFound) {
  const std::vector<LeakScanner::Known> known{{"NOTE", "first line\nsecond line\nthird"}};
  const Result<LeakScanner> made = LeakScanner::create(known);
  ASSERT_TRUE(made.has_value());
  const std::string text = "a\n<first line\nsecond line\nthird>\nb\nc\n";
  const Passed whole{"a\n<[redacted: environment: NOTE]>\nb\nc\n", made->find(text)};
  for (std::size_t split = 0; split <= text.size(); ++split)
    ASSERT_EQ(passed_in_two(*made, text, split), whole) << split;
  SampleSource source(37);
  EXPECT_EQ(passed_in_pieces(*made, text, source, 1), whole);
}

}  // namespace
}  // namespace coop::leaks
