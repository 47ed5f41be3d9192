// Cron expressions: what they select, and what is refused.
#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "policy/people/cron_expression.h"

namespace coop::policy {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t bits(std::initializer_list<unsigned> values) {
  std::uint64_t set = 0;
  for (const unsigned value : values) set |= std::uint64_t{1} << value;
  return set;
}

constexpr std::uint64_t from_to(unsigned first, unsigned last) {
  std::uint64_t set = 0;
  for (unsigned value = first; value <= last; ++value) set |= std::uint64_t{1} << value;
  return set;
}

constexpr CronExpression kEveryMinute{.minutes = from_to(0, 59),
                                      .hours = from_to(0, 23),
                                      .days = from_to(1, 31),
                                      .months = from_to(1, 12),
                                      .weekdays = from_to(0, 6)};

CronExpression parsed(std::string_view text) {
  const Result<CronExpression> cron = parse_cron(text);
  if (cron) return *cron;
  ADD_FAILURE() << text << ": " << to_text(cron.error());
  return {};
}

std::string refusal(std::string_view text) {
  const Result<CronExpression> cron = parse_cron(text);
  return cron ? "accepted" : cron.error().subject;
}

TEST(CronTest, StarsAreEveryMinute) {
  EXPECT_EQ(parsed("* * * * *"), kEveryMinute);
  EXPECT_EQ(parsed("  *\t*  * *   *  "), kEveryMinute);
}

TEST(CronTest, ValuesRangesStepsAndListsAreUnderstood) {
  CronExpression expected = kEveryMinute;
  expected.minutes = bits({0});
  expected.hours = bits({2});
  EXPECT_EQ(parsed("0 2 * * *"), expected);

  expected = kEveryMinute;
  expected.minutes = bits({0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55});
  expected.hours = from_to(9, 17);
  expected.months = bits({1, 7});
  expected.weekdays = from_to(1, 5);
  EXPECT_EQ(parsed("*/5 9-17 * jan,jul mon-fri"), expected);

  expected = kEveryMinute;
  expected.minutes = bits({3, 10, 20, 30, 59});
  expected.days = bits({1, 15, 31});
  EXPECT_EQ(parsed("10-30/10,3,59,59 * 31,1,15 * *"), expected);
}

TEST(CronTest, NamesAreTakenInAnyCase) {
  EXPECT_EQ(parsed("* * * JAN-Mar SUN"), parsed("* * * 1-3 0"));
  EXPECT_EQ(parsed("0 0 * jul Wed,THU"), parsed("0 0 * 7 3,4"));
}

TEST(CronTest, SundayIsZeroAndSeven) {
  EXPECT_EQ(parsed("* * * * 7"), parsed("* * * * 0"));
  EXPECT_EQ(parsed("* * * * 5-7").weekdays, bits({0, 5, 6}));
  EXPECT_EQ(parsed("* * * * fri-sun").weekdays, bits({0, 5, 6}));
  EXPECT_EQ(parsed("* * * * sun-tue").weekdays, bits({0, 1, 2}));
  EXPECT_EQ(parsed("* * * * 0-7").weekdays, from_to(0, 6));
  EXPECT_EQ(parsed("* * * * */2").weekdays, bits({0, 2, 4, 6}));
}

TEST(CronTest, NicknamesStandForTheirFields) {
  EXPECT_EQ(parsed("@yearly"), parsed("0 0 1 1 *"));
  EXPECT_EQ(parsed("@annually"), parsed("0 0 1 1 *"));
  EXPECT_EQ(parsed("@monthly"), parsed("0 0 1 * *"));
  EXPECT_EQ(parsed("@weekly"), parsed("0 0 * * 0"));
  EXPECT_EQ(parsed("@daily"), parsed("0 0 * * *"));
  EXPECT_EQ(parsed("@midnight"), parsed("0 0 * * *"));
  EXPECT_EQ(parsed(" @hourly "), parsed("0 * * * *"));
}

TEST(CronTest, ErrorsNameTheFieldItsTextAndWhatItMayBe) {
  EXPECT_EQ(refusal("60 * * * *"), "minute \"60\" is not 0 to 59");
  EXPECT_EQ(refusal("* 24 * * *"), "hour \"24\" is not 0 to 23");
  EXPECT_EQ(refusal("* * 0 * *"), "day \"0\" is not 1 to 31");
  EXPECT_EQ(refusal("* * 32 * *"), "day \"32\" is not 1 to 31");
  EXPECT_EQ(refusal("* * * 13 *"), "month \"13\" is not 1 to 12 or jan to dec");
  EXPECT_EQ(refusal("* * * january *"), "month \"january\" is not 1 to 12 or jan to dec");
  EXPECT_EQ(refusal("* * * * 8"), "weekday \"8\" is not 0 to 7 or sun to sat");
  EXPECT_EQ(refusal("* * * * jan"), "weekday \"jan\" is not 0 to 7 or sun to sat");
  EXPECT_EQ(refusal("mon * * * *"), "minute \"mon\" is not 0 to 59");
  EXPECT_EQ(refusal("5- * * * *"), "minute \"\" is not 0 to 59");
  EXPECT_EQ(refusal("-5 * * * *"), "minute \"\" is not 0 to 59");
  EXPECT_EQ(refusal("1-2-3 * * * *"), "minute \"2-3\" is not 0 to 59");
  EXPECT_EQ(refusal("+5 * * * *"), "minute \"+5\" is not 0 to 59");
  EXPECT_EQ(refusal("1.5 * * * *"), "minute \"1.5\" is not 0 to 59");
  EXPECT_EQ(refusal("*-5 * * * *"), "minute \"*\" is not 0 to 59");
  EXPECT_EQ(refusal("99999999999999999999 * * * *"),
            "minute \"99999999999999999999\" is not 0 to 59");
  EXPECT_EQ(refusal(",5 * * * *"), "minute has an empty element in its list");
  EXPECT_EQ(refusal("5, * * * *"), "minute has an empty element in its list");
}

TEST(CronTest, StepsNeedARangeAndASize) {
  EXPECT_EQ(refusal("5/10 * * * *"), "minute \"5/10\" is a step without a range");
  EXPECT_EQ(refusal("*/0 * * * *"), "minute step \"0\" is not 1 to 60");
  EXPECT_EQ(refusal("*/ * * * *"), "minute step \"\" is not 1 to 60");
  EXPECT_EQ(refusal("*/61 * * * *"), "minute step \"61\" is not 1 to 60");
  EXPECT_EQ(refusal("*/2/2 * * * *"), "minute step \"2/2\" is not 1 to 60");
  EXPECT_EQ(refusal("* * * * */8"), "weekday step \"8\" is not 1 to 7");
  EXPECT_EQ(refusal("* * * */mon *"), "month step \"mon\" is not 1 to 12");
  EXPECT_EQ(parsed("*/60 * * * *").minutes, bits({0}));
}

TEST(CronTest, ARangeThatRunsBackwardsIsRefusedWithTheTwoItMeans) {
  const Result<CronExpression> cron = parse_cron("0 22-6 * * *");
  ASSERT_FALSE(cron.has_value());
  EXPECT_EQ(to_text(cron.error()), "cron expression: hour range \"22-6\" runs backwards");
  EXPECT_EQ(cron.error().hint, "write 22-23,0-6");
  EXPECT_TRUE(parse_cron("0 22-23,0-6 * * *").has_value());
}

TEST(CronTest, OtherNumbersOfFieldsAreRefused) {
  EXPECT_EQ(refusal(""), "it is empty");
  EXPECT_EQ(refusal(" \t "), "it is empty");
  EXPECT_EQ(refusal("5"), "\"5\" has 1 field, not five");
  EXPECT_EQ(refusal("0 2 * *"), "\"0 2 * *\" has 4 fields, not five");
  EXPECT_EQ(refusal("0 0 2 * * *"), "\"0 0 2 * * *\" has 6 fields, not five");
  EXPECT_EQ(refusal("@reboot"), "\"@reboot\" is not a known time");
  EXPECT_EQ(refusal("@every 5m"), "\"@every 5m\" is not a known time");
  EXPECT_EQ(refusal("@DAILY"), "\"@DAILY\" is not a known time");
}

TEST(CronTest, WhatOtherSchedulersHaveIsRefusedWithWhatIsUnderstood) {
  for (const char* text : {"0 0 ? * 1", "0 0 L * *", "0 0 15W * *", "0 0 * * 5#3", "? * * * *"}) {
    const Result<CronExpression> cron = parse_cron(text);
    ASSERT_FALSE(cron.has_value()) << text;
    EXPECT_THAT(cron.error().subject, HasSubstr("uses ?, L, W or #, which cron does not have"));
    EXPECT_THAT(cron.error().hint, HasSubstr("minute hour day month weekday"));
  }
  EXPECT_EQ(refusal("0 0 * * 5L"), "weekday \"5L\" is not 0 to 7 or sun to sat");
}

TEST(CronTest, ADateThatNeverComesIsRefused) {
  EXPECT_EQ(refusal("0 0 30 2 *"), "\"0 0 30 2 *\" never comes: none of the months has such a day");
  for (const char* text : {"0 0 31 feb,apr,jun,sep,nov *", "0 0 30-31 2 0-6", "0 0 31 4 *"})
    EXPECT_THAT(refusal(text), HasSubstr("never comes")) << text;
  for (const char* text : {"0 0 29 2 *", "0 0 30 2,3 *", "0 0 28-31 2 *", "0 0 31 12 *"})
    EXPECT_EQ(refusal(text), "accepted") << text;
}

TEST(CronTest, AnImpossibleDayBesideAWeekdayIsTheWeekdayAlone) {
  EXPECT_EQ(refusal("0 0 30 2 mon"), "accepted");
}

TEST(CronTest, HostileTextIsNeitherObeyedNorPrinted) {
  EXPECT_EQ(refusal("\x1b[2J * * * *"), "minute \"\\x1b[2J\" is not 0 to 59");
  EXPECT_EQ(refusal("*\n* * * *"), "\"*\\x0a* * * *\" has 4 fields, not five");
  EXPECT_LT(refusal(std::string(100'000, 'x') + " * * * *").size(), 200u);
}

}  // namespace
}  // namespace coop::policy
