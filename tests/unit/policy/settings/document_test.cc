#include "policy/settings/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace coop::policy {
namespace {

using testing::StartsWith;

Table must_parse(std::string_view text) {
  const auto table = parse_document(text, "f.toml");
  EXPECT_TRUE(table.has_value()) << to_text(table.error());
  return table.value_or(Table{});
}

Error must_refuse(std::string_view text) {
  const auto table = parse_document(text, "f.toml");
  EXPECT_FALSE(table.has_value()) << text;
  return table ? Error{} : to_error({&table.error(), 1});
}

std::string refusal(std::string_view text) { return to_text(must_refuse(text)); }

std::string repeat(int count, const std::string& text) {
  std::string result;
  for (int done = 0; done < count; ++done) result += text;
  return result;
}

TEST(DocumentTest, ValuesOfEachTypeAreRead) {
  const Table table = must_parse(
      "yes = true\n"
      "whole = -7\n"
      "real = 1.5\n"
      "text = \"a\\tb\"\n"
      "list = [1, \"two\"]\n"
      "empty = {}\n");
  const Table expected{
      {"yes", {1, 1}, {{1, 7}, true}},
      {"whole", {2, 1}, {{2, 9}, std::int64_t{-7}}},
      {"real", {3, 1}, {{3, 8}, 1.5}},
      {"text", {4, 1}, {{4, 8}, std::string("a\tb")}},
      {"list", {5, 1}, {{5, 8}, List{{{5, 9}, std::int64_t{1}}, {{5, 12}, std::string("two")}}}},
      {"empty", {6, 1}, {{6, 9}, Table{}}},
  };
  EXPECT_EQ(table, expected);
}

TEST(DocumentTest, NothingIsAnEmptyTable) {
  EXPECT_EQ(must_parse(""), Table{});
  EXPECT_EQ(must_parse("\n# only a comment\n"), Table{});
}

TEST(DocumentTest, EntriesComeInTheOrderWritten) {
  const Table table = must_parse("z = 1\na = 2\nm = 3\n[y]\n[b]\n[k]\n");
  std::vector<std::string> keys;
  for (const Entry& entry : table) keys.push_back(entry.key);
  EXPECT_EQ(keys, (std::vector<std::string>{"z", "a", "m", "y", "b", "k"}));
}

TEST(DocumentTest, ATableIsWhereItsHeaderIs) {
  const Table table = must_parse("\n  [sandbox]\n  memory = '2g'\n");
  const Table expected{
      {"sandbox", {2, 4}, {{2, 3}, Table{{"memory", {3, 3}, {{3, 12}, std::string("2g")}}}}}};
  EXPECT_EQ(table, expected);
}

TEST(DocumentTest, DottedKeysAreTablesAtTheirParts) {
  const Table table = must_parse("b.k.x = 1\nb.a = 2\n");
  const Table k{{"x", {1, 5}, {{1, 9}, std::int64_t{1}}}};
  const Table b{{"k", {1, 3}, {{1, 3}, k}}, {"a", {2, 3}, {{2, 7}, std::int64_t{2}}}};
  EXPECT_EQ(table, (Table{{"b", {1, 1}, {{1, 1}, b}}}));
}

TEST(DocumentTest, InlineTablesKeepOrderAndPlaces) {
  const Table table = must_parse("s = { z = 1, a.b = [ { q = 2 } ] }\n");
  const Table inner{{"q", {1, 24}, {{1, 28}, std::int64_t{2}}}};
  const Table a{{"b", {1, 16}, {{1, 20}, List{{{1, 22}, inner}}}}};
  const Table s{{"z", {1, 7}, {{1, 11}, std::int64_t{1}}}, {"a", {1, 14}, {{1, 14}, a}}};
  EXPECT_EQ(table, (Table{{"s", {1, 1}, {{1, 5}, s}}}));
}

TEST(DocumentTest, EachOfAnArrayOfTablesIsWhereItsHeaderIs) {
  const Table table =
      must_parse("[[users]]\nname = 'ann'\n[users.sandbox]\ncpus = 2\n[[users]]\nname = 'bob'\n");
  const Table sandbox{{"cpus", {4, 1}, {{4, 8}, std::int64_t{2}}}};
  const Table ann{{"name", {2, 1}, {{2, 8}, std::string("ann")}},
                  {"sandbox", {3, 8}, {{3, 1}, sandbox}}};
  const Table bob{{"name", {6, 1}, {{6, 8}, std::string("bob")}}};
  const Node users{{1, 1}, List{{{1, 1}, ann}, {{5, 1}, bob}}};
  EXPECT_EQ(table, (Table{{"users", {1, 3}, users}}));
}

TEST(DocumentTest, AParentNamedAfterItsChildStandsWhereItWasFirstNamed) {
  const Table table = must_parse("[p.q]\n[n]\n[p]\nx = 1\n");
  const Table p{{"q", {1, 4}, {{1, 1}, Table{}}}, {"x", {4, 1}, {{4, 5}, std::int64_t{1}}}};
  const Table expected{{"p", {1, 2}, {{3, 1}, p}}, {"n", {2, 2}, {{2, 1}, Table{}}}};
  EXPECT_EQ(table, expected);
}

TEST(DocumentTest, ColumnsCountCharactersAndAByteOrderMarkCountsNothing) {
  const Table expected{{"é", {1, 1}, {{1, 7}, std::string("ü")}}};
  EXPECT_EQ(must_parse("\"é\" = \"ü\"\n"), expected);
  EXPECT_EQ(must_parse("\xef\xbb\xbf\"é\" = \"ü\"\r\n"), expected);
}

TEST(DocumentTest, EntriesAreFoundByName) {
  const Table table = must_parse("a = 1\nb = 2\n");
  ASSERT_NE(find(table, "b"), nullptr);
  EXPECT_EQ(find(table, "b")->at, (Position{2, 1}));
  EXPECT_EQ(find(table, "c"), nullptr);
  EXPECT_EQ(find(Table{}, "a"), nullptr);
}

TEST(DocumentTest, TypesHaveNamesForMessages) {
  const Table table = must_parse("a = true\nb = 1\nc = 1.5\nd = ''\ne = []\nf = {}\n");
  std::vector<std::string> names;
  for (const Entry& entry : table) names.push_back(type_name(entry.value));
  EXPECT_EQ(names, (std::vector<std::string>{"true or false", "a whole number", "a number",
                                             "a string", "a list", "a table"}));
}

TEST(DocumentTest, MistakesInTheSyntaxNameTheirPlace) {
  EXPECT_EQ(refusal("a"), "f.toml:1:2: in this key-value pair: the file ends too early");
  EXPECT_EQ(refusal("a b = 1"), "f.toml:1:3: in this key-value pair: expected '=', saw 'b'");
  EXPECT_EQ(refusal("a = 1 b = 2"),
            "f.toml:1:7: in this key-value pair: expected the end of the line, saw 'b'");
  EXPECT_EQ(refusal("= 1"), "f.toml:1:1: expected a key or a [table], saw '='");
  EXPECT_EQ(refusal("\n[=]"), "f.toml:2:2: in this key: expected a key, saw '='");
  EXPECT_EQ(refusal("[]"),
            "f.toml:1:2: in this table header: a table without a name is not allowed");
  EXPECT_EQ(refusal("[a\n"), "f.toml:1:3: in this table header: expected ']', saw '\\n'");
  EXPECT_EQ(refusal("a = \"x\nb = 1"),
            "f.toml:1:7: in this string: a control character, or the line ends before the closing "
            "quote");
  EXPECT_EQ(refusal("a = '''x"), "f.toml:1:9: in this literal string: the file ends too early");
  EXPECT_EQ(refusal("a = \"\\q\""), "f.toml:1:7: in this string: unknown escape sequence '\\q'");
  EXPECT_EQ(refusal("a = [1 2]"),
            "f.toml:1:8: in this array: expected comma or closing ']', saw '2'");
  EXPECT_EQ(refusal("a = {b=1\n}"),
            "f.toml:1:9: in this inline table: expected key or closing '}', saw '\\n'");
  EXPECT_EQ(refusal("a = [}"),
            "f.toml:1:6: in this value: neither a number, true, false, a list nor a table");
  EXPECT_EQ(must_refuse("a").kind, Error::Kind::invalid);
}

TEST(DocumentTest, OtherEncodingsAreRefusedAtTheFirstWrongByte) {
  EXPECT_EQ(refusal("a = 'x'\n\xff"), "f.toml:2:1: not UTF-8, or a control character");
  EXPECT_EQ(refusal("# é \xe9\na = 1"), "f.toml:1:5: not UTF-8, or a control character");
  EXPECT_EQ(refusal("a = 'x\xc3"), "f.toml:1:7: not UTF-8, or a control character");
  EXPECT_EQ(refusal("a = '\u009b2J'"), "f.toml:1:6: not UTF-8, or a control character");
  EXPECT_EQ(refusal(std::string("\xff\xfe"
                                "a\0",
                                4)),
            "f.toml:1:1: not UTF-8, or a control character");
}

TEST(DocumentTest, TextWithoutQuotesIsMetWithAHint) {
  EXPECT_EQ(refusal("memory = 2g\n"), "f.toml:1:11: in this number: expected digit, saw 'g'");
  for (const std::string_view text : {"a = 2g", "a = none", "a = 1.5g", "a = 1h30m", "a = yes",
                                      "a = tru", "a = 12:00", "a = 2026-13-01"})
    EXPECT_EQ(must_refuse(std::string(text) + "\n").hint, "text needs quotes") << text;
  EXPECT_EQ(must_refuse("a b = 1").hint, "");
}

TEST(DocumentTest, AKeyIsDefinedOnce) {
  EXPECT_EQ(refusal("a = 1\na = 2\n"),
            "f.toml:2:5: in this key-value pair: cannot redefine the existing integer 'a'");
  EXPECT_EQ(refusal("[a]\n[a]\n"),
            "f.toml:2:1: in this table header: cannot redefine the existing table 'a'");
  EXPECT_EQ(refusal("[[a]]\n[a]\n"),
            "f.toml:2:1: in this table header: cannot redefine the existing array 'a' as table");
  EXPECT_EQ(refusal("a.b = 1\na.b = 2"),
            "f.toml:2:7: in this key-value pair: cannot redefine the existing integer 'a.b'");
}

TEST(DocumentTest, DatesAndNumbersThatAreNoneAreNothingOfOurs) {
  for (const std::string_view value :
       {"2026-11-16", "11:00:00", "2026-11-16T11:00:00", "2026-11-16T11:00:00Z", "nan", "+nan",
        "-nan", "inf", "+inf", "-inf"}) {
    const auto table = parse_document("a = " + std::string(value), "f.toml");
    ASSERT_TRUE(table) << to_text(table.error());
    EXPECT_EQ(*table, (Table{Entry{"a", {1, 1}, Node{{1, 5}, Foreign{}}}})) << value;
    EXPECT_EQ(type_name(table->front().value), "a date, inf or nan");
  }
}

TEST(DocumentTest, NumbersThatDoNotFitAreRefused) {
  EXPECT_EQ(refusal("a = 99999999999999999999"),
            "f.toml:1:25: in this number: '99999999999999999999' is not representable in 64 bits");
  EXPECT_THAT(refusal("a = 1e999"), StartsWith("f.toml:1:"));
}

TEST(DocumentTest, ControlCharactersInKeysAndNulInTextAreRefused) {
  EXPECT_EQ(refusal("x = 1\n\"a\\u001b[2J\" = 1"),
            "f.toml:2:1: the key \"a\\x1b[2J\" has a control character in it");
  EXPECT_EQ(refusal("[a.\"b\\u007f\"]"),
            "f.toml:1:4: the key \"b\\x7f\" has a control character in it");
  EXPECT_EQ(refusal("a = { \"\\u009b\" = 1 }"),
            "f.toml:1:7: the key \"\\xc2\\x9b\" has a control character in it");
  EXPECT_EQ(refusal("a = ['b', \"c\\u0000d\"]"),
            "f.toml:1:11: a string with the character \\u0000 in it");
  EXPECT_EQ(must_parse("a = \"\\u001b\\n\"").front().value, (Node{{1, 5}, std::string("\x1b\n")}));
}

TEST(DocumentTest, WhatAMessageQuotesIsPrintableAndShort) {
  const std::string key = "\"\\u001b" + std::string(1000, 'k') + "é\"";
  const Error error = must_refuse(key + " = 1\n" + key + " = 2\n");
  EXPECT_LE(error.subject.size(), 204u);
  EXPECT_TRUE(error.subject.ends_with("kkk…")) << error.subject;
  const Error single = must_refuse(key + " = 1\n");
  EXPECT_LE(single.subject.size(), 204u);
  for (const std::string& text : {error.subject, single.subject, refusal("a = \x1b"),
                                  refusal("a é= 1"), refusal("a = 1\x7f")})
    for (const char c : text)
      EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << text;
  const auto table = parse_document("a", "\x1b.toml");
  EXPECT_EQ(to_text(to_error({&table.error(), 1})),
            "\\x1b.toml:1:2: in this key-value pair: the file ends too early");
}

TEST(DocumentTest, AFileLargerThanAMebibyteIsRefused) {
  const std::string most = "#" + std::string((1 << 20) - 1, 'x');
  EXPECT_EQ(must_parse(most), Table{});
  EXPECT_EQ(refusal(most + "x"), "f.toml: larger than 1 MiB");
}

TEST(DocumentTest, NestingHasALimitInEveryShape) {
  const std::string deep = "nested deeper than 32";
  EXPECT_EQ(must_parse("a = " + repeat(31, "[") + "1" + repeat(31, "]")).size(), 1u);
  EXPECT_EQ(refusal("a = " + repeat(32, "[") + "1" + repeat(32, "]")),
            "f.toml:1:37: in this value: " + deep);
  EXPECT_EQ(refusal("a = " + repeat(100'000, "[")), "f.toml:1:37: in this value: " + deep);
  EXPECT_THAT(refusal(repeat(100'000, "a={")), StartsWith("f.toml:1:"));

  EXPECT_EQ(must_parse(repeat(31, "a.") + "a = 1").size(), 1u);
  EXPECT_EQ(must_parse("[" + repeat(31, "a.") + "a]").size(), 1u);
  EXPECT_EQ(refusal(repeat(32, "a.") + "a = 1"), "f.toml:1:64: a key of more than 32 parts");
  EXPECT_EQ(refusal(repeat(10'000, "a . ") + "a = 1"), "f.toml:1:127: a key of more than 32 parts");
  EXPECT_EQ(refusal("\n[" + repeat(10'000, "'a.b'.") + "a]"),
            "f.toml:2:193: a key of more than 32 parts");
  EXPECT_EQ(refusal("a = {" + repeat(10'000, "a.") + "a = 1}"),
            "f.toml:1:69: a key of more than 32 parts");

  // Each of these is fine on its own, and together they are too deep.
  EXPECT_EQ(refusal("[" + repeat(20, "a.") + "a]\n" + repeat(20, "b.") + "b = 1"),
            "f.toml:2:23: " + deep);
  EXPECT_EQ(refusal(repeat(20, "a.") + "a = {" + repeat(20, "b.") + "b = 1}"),
            "f.toml:1:68: " + deep);
}

TEST(DocumentTest, DotsThatAreNotInKeysAreNoParts) {
  const std::string dots(100, '.');
  EXPECT_EQ(must_parse("a = '" + dots + "'").size(), 1u);
  EXPECT_EQ(must_parse("'" + dots + "' = 1").size(), 1u);
  EXPECT_EQ(must_parse("\"\\\"" + dots + "\" = 1").size(), 1u);
  EXPECT_EQ(must_parse("# " + dots + "\na = \"\"\"\n" + dots + "\"\"\"\"\"\nb = ''").size(), 2u);
  EXPECT_EQ(must_parse("a = [" + repeat(100, "1.5, ") + "]").size(), 1u);
  EXPECT_EQ(must_parse(repeat(3, "# " + dots + "\n")).size(), 0u);
}

TEST(DocumentTest, TablesHaveALimitInEveryShape) {
  EXPECT_EQ(must_parse(repeat(2000, "[[a]]\n")).front().value.list()->size(), 2000u);
  EXPECT_EQ(refusal(repeat(2001, "[[a]]\n")), "f.toml:2001:1: more than 2000 tables");
  EXPECT_EQ(must_parse("a = [" + repeat(2000, "{},") + "]").size(), 1u);
  EXPECT_EQ(refusal("a = [" + repeat(2001, "{},") + "]"), "f.toml:1:6006: more than 2000 tables");
  std::string dotted;
  for (int count = 0; count < 2001; ++count) dotted += "a" + std::to_string(count) + ".b = 1\n";
  EXPECT_EQ(refusal(dotted), "f.toml:2001:9: more than 2000 tables");
}

TEST(DocumentTest, TheLargestFilesTakeNoLongTime) {
  std::string headers;
  for (int count = 0; count < 1000; ++count)
    headers += "[" + repeat(31, "a" + std::to_string(count) + ".") + "b]\n";
  for (int count = 0; count < 1000; ++count) headers += "[a" + std::to_string(count) + "]\n";
  std::string keys;
  for (int count = 0; keys.size() < (1 << 20) - 16; ++count)
    keys += "k" + std::to_string(count) + "=1\n";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(must_parse(headers).size(), 1000u);
  EXPECT_GT(must_parse(keys).size(), 90'000u);
  EXPECT_FALSE(parse_document(std::string(1 << 20, '['), "f.toml").has_value());
  EXPECT_FALSE(parse_document(std::string(1 << 20, '.'), "f.toml").has_value());
  EXPECT_FALSE(parse_document(std::string(1 << 20, '"'), "f.toml").has_value());
  EXPECT_FALSE(parse_document(repeat(1 << 19, "''"), "f.toml").has_value());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace coop::policy
