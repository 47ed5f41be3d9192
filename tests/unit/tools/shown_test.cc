#include "tools/shown.h"

#include <gtest/gtest.h>

namespace coop::tools {
namespace {

TEST(ShownTest, CharactersAreCountedAsClientsCountThem) {
  EXPECT_EQ(characters_of("aé€😀"), 5U);
  EXPECT_EQ(json_characters_of("a\"\n\x01"), 11U);
}

TEST(ShownTest, ABeginningHasWholeCharacters) {
  EXPECT_EQ(beginning_of("aé€", 2, characters_of), "aé");
  EXPECT_EQ(beginning_of("a😀", 2, characters_of), "a");
  EXPECT_EQ(beginning_of("a\nb", 2, json_characters_of), "a");
}

TEST(ShownTest, HeadAndTailAreKept) {
  EXPECT_EQ(clipped("short", 300, characters_of), "short");
  const std::string text = "begin" + std::string(1000, 'x') + "end";
  const std::string cut = clipped(text, 300, characters_of);
  EXPECT_LE(characters_of(cut), 300U);
  EXPECT_TRUE(cut.starts_with("begin"));
  EXPECT_TRUE(cut.ends_with("end"));
  EXPECT_TRUE(cut.contains("[… 808 characters are not shown …]")) << cut;
}

}  // namespace
}  // namespace coop::tools
