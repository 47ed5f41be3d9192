#include "guards/git/index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace coop::guards {
namespace {

std::string number(std::uint32_t value, std::size_t width = 4) {
  std::string bytes;
  for (std::size_t index = width; index-- > 0;)
    bytes += static_cast<char>(value >> (8 * index) & 0xff);
  return bytes;
}

struct Entry {
  std::string name{};
  std::uint32_t mode = 0100644;
};

struct Layout {
  std::uint32_t version = 2;
  std::size_t hash = 20;
  std::vector<std::size_t> blocks{};  // entries in each; none: no table
};

std::string extension(const std::string& name, const std::string& data) {
  return name + number(static_cast<std::uint32_t>(data.size())) + data;
}

std::string varint(std::size_t value) {
  std::string bytes(1, static_cast<char>(value & 127));
  while (value >>= 7) bytes.insert(0, 1, static_cast<char>(128 | (--value & 127)));
  return bytes;
}

std::string fixed_part(const Entry& entry, const Layout& layout) {
  const auto length = static_cast<std::uint32_t>(std::min<std::size_t>(entry.name.size(), 0xfff));
  return std::string(24, '\0') + number(entry.mode) + std::string(12 + layout.hash, 'h') +
         number(length, 2);
}

std::string index_of(const std::vector<Entry>& entries, const Layout& layout = {},
                     const std::string& extensions = {}) {
  std::string bytes =
      "DIRC" + number(layout.version) + number(static_cast<std::uint32_t>(entries.size()));
  std::string previous;
  std::string table = number(1);
  std::size_t next = 0;
  std::size_t block = 0;
  for (std::size_t index = 0; index < entries.size(); ++index) {
    const Entry& entry = entries[index];
    const bool first = block < layout.blocks.size() && index == next;
    if (first) {
      table += number(static_cast<std::uint32_t>(bytes.size())) +
               number(static_cast<std::uint32_t>(layout.blocks[block]));
      next += layout.blocks[block++];
    }
    std::string one = fixed_part(entry, layout);
    if (layout.version == 4) {
      const auto same = std::ranges::mismatch(previous, entry.name).in1 - previous.begin();
      const auto common = first ? 0 : static_cast<std::size_t>(same);
      one += varint(previous.size() - common) + entry.name.substr(common) + '\0';
    } else {
      one += entry.name;
      one += std::string(8 - one.size() % 8, '\0');
    }
    bytes += one;
    previous = entry.name;
  }
  const std::size_t end = bytes.size();
  bytes += extensions;
  if (!layout.blocks.empty())
    bytes += extension("IEOT", table) + extension("EOIE", number(static_cast<std::uint32_t>(end)) +
                                                              std::string(layout.hash, 'e'));
  return bytes + std::string(layout.hash, 'c');
}

std::optional<std::string> judge(const std::string& bytes,
                                 ObjectFormat format = ObjectFormat::sha1) {
  return danger_of_index({.size = bytes.size(),
                          .read =
                              [&](std::uint64_t offset, std::span<char> buffer) {
                                if (offset + buffer.size() > bytes.size()) return false;
                                std::memcpy(buffer.data(), bytes.data() + offset, buffer.size());
                                return true;
                              }},
                         format);
}

const std::vector<Entry> kUsual{{".gitignore"},      {".github/x.yml"}, {"a", 0120000},
                                {"a-b/c", 0100755},  {"a/..b/...c"},    {"g"},
                                {"module", 0160000}, {"src/git~2.c"},   {"x\\2dy.service"}};
const std::vector<std::string> kHostile{"../x",
                                        "/etc/x",
                                        "a/../../x",
                                        "..",
                                        ".",
                                        "a/./b",
                                        "a//b",
                                        "a/",
                                        ".git/hooks/pre-commit",
                                        ".GIT/config",
                                        "sub/.git/config",
                                        ".git",
                                        ".git./x",
                                        ".git /x",
                                        "git~1/x",
                                        ".g\u200cit/x",
                                        "\ufeff.git/x",
                                        ".git::$INDEX_ALLOCATION/x",
                                        "a\\.git\\config"};

TEST(IndexTest, UsualPathsStayInEveryVersion) {
  for (const std::uint32_t version : {2U, 3U, 4U}) {
    EXPECT_EQ(judge(index_of(kUsual, {.version = version})), std::nullopt) << version;
    EXPECT_EQ(judge(index_of(kUsual, {.version = version, .hash = 32}), ObjectFormat::sha256),
              std::nullopt)
        << version;
  }
  EXPECT_EQ(judge(index_of({})), std::nullopt);
  const std::string longest(5000, 'n');
  for (const std::uint32_t version : {2U, 4U})
    EXPECT_EQ(judge(index_of({{"a"}, {longest}, {longest + "/x"}}, {.version = version})),
              std::nullopt);
}

TEST(IndexTest, PathsThatGitWouldNotAddAreSeenInEveryVersion) {
  for (const std::string& path : kHostile)
    for (const std::uint32_t version : {2U, 3U, 4U}) {
      std::vector<Entry> entries = kUsual;
      entries.push_back({path});
      EXPECT_NE(judge(index_of(entries, {.version = version})), std::nullopt) << path;
      EXPECT_NE(judge(index_of(entries, {.version = version, .hash = 32}), ObjectFormat::sha256),
                std::nullopt)
          << path;
    }
  EXPECT_NE(judge(index_of({{std::string("a\0b", 3)}})), std::nullopt);
}

TEST(IndexTest, ModesAreJudgedWithThePath) {
  EXPECT_EQ(judge(index_of({{".gitmodules"}})), std::nullopt);
  EXPECT_NE(judge(index_of({{".gitmodules", 0120000}})), std::nullopt);
  EXPECT_EQ(judge(index_of({{"sparse/", 0040000}})), std::nullopt);
  EXPECT_NE(judge(index_of({{"device", 0020666}})), std::nullopt);
}

TEST(IndexTest, TheFormatOfTheRepositoryDecides) {
  EXPECT_NE(judge(index_of(kUsual), ObjectFormat::sha256), std::nullopt);
  EXPECT_NE(judge(index_of(kUsual, {.hash = 32}), ObjectFormat::sha1), std::nullopt);
}

TEST(IndexTest, EntriesWithoutAPathBelongToASplitIndex) {
  const std::string link = extension("link", std::string(20, 'b'));
  EXPECT_EQ(judge(index_of({{""}, {"new"}}, {}, link)), std::nullopt);
  EXPECT_NE(judge(index_of({{""}, {"new"}})), std::nullopt);
  EXPECT_NE(judge(index_of({{""}, {"../x"}}, {}, link)), std::nullopt);
}

TEST(IndexTest, UnknownMandatoryExtensionsAreRefused) {
  EXPECT_EQ(judge(index_of(kUsual, {}, extension("TREE", "abc"))), std::nullopt);
  EXPECT_EQ(judge(index_of(kUsual, {}, extension("XYZW", "abc"))), std::nullopt);
  EXPECT_EQ(judge(index_of(kUsual, {}, extension("sdir", ""))), std::nullopt);
  EXPECT_NE(judge(index_of(kUsual, {}, extension("xyzw", "abc"))), std::nullopt);
  EXPECT_NE(judge(index_of(kUsual, {}, "TREE" + number(1000) + "abc")), std::nullopt);
}

TEST(IndexTest, TheTableOfBlocksMustNameTheEntries) {
  const std::vector<std::size_t> blocks{4, kUsual.size() - 4};
  for (const std::uint32_t version : {2U, 4U}) {
    const Layout layout{.version = version, .blocks = blocks};
    EXPECT_EQ(judge(index_of(kUsual, layout)), std::nullopt) << version;
    // git would load the second block from anywhere in the file.
    std::string bytes = index_of(kUsual, layout);
    const std::size_t table = bytes.find("IEOT") + 8 + 4 + 8;
    bytes.replace(table, 4, number(12));
    EXPECT_NE(judge(bytes), std::nullopt) << version;
    // Or look for the extensions, and with them for the table, elsewhere.
    bytes = index_of(kUsual, layout);
    bytes.replace(bytes.find("EOIE") + 8, 4, number(40));
    EXPECT_NE(judge(bytes), std::nullopt) << version;
  }
  EXPECT_NE(judge(index_of(kUsual, {.blocks = {4, 4}})), std::nullopt);
}

TEST(IndexTest, WhatIsCutOffIsRefused) {
  for (const std::uint32_t version : {2U, 4U}) {
    const std::string bytes = index_of(kUsual, {.version = version});
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_NE(judge(bytes.substr(0, size)), std::nullopt) << size;
  }
  EXPECT_NE(judge("DIRC" + number(5) + number(0) + std::string(20, 'c')), std::nullopt);
}

}  // namespace
}  // namespace coop::guards
