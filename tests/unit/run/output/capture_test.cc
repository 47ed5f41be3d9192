// Bounded output: the head and the tail are kept, everything is counted.
#include "run/output/capture.h"

#include <gtest/gtest.h>

#include <random>

namespace coop::run {
namespace {

Captured captured(std::uint64_t limit, const std::vector<std::string>& pieces) {
  BoundedText text(limit);
  for (const std::string& piece : pieces) text.append(piece);
  return std::move(text).take();
}

TEST(CaptureTest, WhatFitsIsKeptWhole) {
  EXPECT_EQ(captured(10, {}), (Captured{}));
  EXPECT_EQ(captured(10, {"abc", "", "defghij"}), (Captured{"abcdefghij", 10, false}));
}

TEST(CaptureTest, TheMiddleIsCutAndTheCutIsMarked) {
  EXPECT_EQ(captured(10, {"0123456789abcdefghij"}),
            (Captured{"01234\n[… 10 bytes cut …]\nfghij", 20, true}));
  EXPECT_EQ(captured(10, {"0123456789", "a"}),
            (Captured{"01234\n[… 1 bytes cut …]\n6789a", 11, true}));
}

TEST(CaptureTest, ALimitOfNothingKeepsNothingAndStillCounts) {
  EXPECT_EQ(captured(0, {"abc", "d"}), (Captured{"\n[… 4 bytes cut …]\n", 4, true}));
  EXPECT_EQ(captured(1, {"abc"}).total_bytes, 3u);
}

TEST(CaptureTest, HowTheBytesArriveDoesNotMatter) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string whole;
    const std::size_t size = random() % 300;
    for (std::size_t index = 0; index < size; ++index)
      whole += static_cast<char>('a' + random() % 26);
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < whole.size();) {
      const std::size_t length = 1 + random() % 40;
      pieces.push_back(whole.substr(at, length));
      at += length;
    }
    const std::uint64_t limit = 2 * (random() % 60);
    const Captured expected = captured(limit, {whole});
    EXPECT_EQ(captured(limit, pieces), expected) << limit << " of " << size;
    EXPECT_EQ(expected.truncated, size > limit);
    if (!expected.truncated) {
      EXPECT_EQ(expected.text, whole);
    } else {
      EXPECT_TRUE(expected.text.starts_with(whole.substr(0, limit / 2)));
      EXPECT_TRUE(expected.text.ends_with(whole.substr(size - limit / 2)));
    }
  }
}

TEST(CaptureTest, AFloodIsCountedWithoutBeingKept) {
  BoundedText text(1000);
  const std::string piece(65536, 'x');
  for (int index = 0; index < 1000; ++index) text.append(piece);
  const Captured result = std::move(text).take();
  EXPECT_EQ(result.total_bytes, 65536000u);
  EXPECT_TRUE(result.truncated);
  EXPECT_LT(result.text.size(), 1100u);
}

}  // namespace
}  // namespace coop::run
