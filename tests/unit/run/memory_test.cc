#include "run/memory.h"

#include <gtest/gtest.h>

namespace coop::run {
namespace {

TEST(MemoryTest, OwnPagesAreAddedAndThoseOfFilesAreNot) {
  const ProcessMemory status = parse_memory(
      "Name:\tx\nVmRSS:\t  900 kB\nRssAnon:\t  100 kB\nRssFile:\t  500 kB\nRssShmem:\t   20 kB\n"
      "VmSwap:\t    3 kB\n");
  EXPECT_EQ(status.most, 123u * 1024);
  EXPECT_EQ(status.share, 0u);
  const ProcessMemory rollup = parse_memory(
      "55-7f [rollup]\nRss: 900 kB\nPss: 400 kB\nPss_Anon: 50 kB\nPss_File: 300 kB\n"
      "Pss_Shmem: 7 kB\nSwap: 9 kB\nSwapPss: 2 kB\n");
  EXPECT_EQ(rollup.share, 59u * 1024);
}

TEST(MemoryTest, TextWithoutNumbersIsNothing) {
  for (const char* text : {"", "RssAnon:", "RssAnon:\t kB\n", "Pss_Anon: x kB", "\n\n"})
    EXPECT_EQ(parse_memory(text).most + parse_memory(text).share, 0u) << text;
}

}  // namespace
}  // namespace coop::run
