#include "policy/settings/findings.h"

#include <gtest/gtest.h>

namespace coop::policy {
namespace {

const Finding kError{.severity = Severity::error,
                     .check = "sandbox_memory",
                     .file = "coop.toml",
                     .at = {3, 10},
                     .message = "\"2x\" has an unknown unit",
                     .fix = "write it as \"2g\""};
const Finding kWarning{
    .severity = Severity::warning, .check = "sandbox_available", .message = "no landlock"};

TEST(FindingsTest, APlaceIsAsExactAsWhatIsKnown) {
  EXPECT_EQ(place_of("coop.toml", {3, 10}), "coop.toml:3:10");
  EXPECT_EQ(place_of("coop.toml", {3, 0}), "coop.toml:3");
  EXPECT_EQ(place_of("coop.toml", {}), "coop.toml");
  EXPECT_EQ(place_of("", {3, 10}), "");
  EXPECT_EQ(place_of("a\x1b[2Jb", {1, 1}), "a\\x1b[2Jb:1:1");
}

TEST(FindingsTest, AFindingIsALineAndItsFixAnother) {
  EXPECT_EQ(to_text(kError),
            "coop.toml:3:10: error: sandbox_memory: \"2x\" has an unknown unit\n"
            "    fix: write it as \"2g\"\n");
  EXPECT_EQ(to_text(kWarning), "warning: sandbox_available: no landlock\n");
  EXPECT_EQ(to_text(Finding{.severity = Severity::info, .file = "f", .message = "m"}),
            "f: info: m\n");
}

TEST(FindingsTest, OnlyErrorsCountAsErrors) {
  EXPECT_FALSE(has_errors({}));
  EXPECT_FALSE(has_errors(Findings{kWarning, Finding{.severity = Severity::info}}));
  EXPECT_TRUE(has_errors(Findings{kWarning, kError}));
}

TEST(FindingsTest, TheFirstErrorIsReportedAndTheOthersCounted) {
  const Error one{Error::Kind::invalid,         0,  "coop.toml:3:10",
                  "\"2x\" has an unknown unit", {}, "write it as \"2g\""};
  EXPECT_EQ(to_error(Findings{kWarning, kError}), one);

  const Finding bare{.check = "sandbox_no_owner", .message = "missing"};
  EXPECT_EQ(to_error(Findings{kError, bare}).hint, "write it as \"2g\"; 1 more error");
  EXPECT_EQ(to_error(Findings{kError, bare, kWarning, kError}).hint,
            "write it as \"2g\"; 2 more errors");
  const Error other{Error::Kind::invalid,   0, "sandbox_no_owner", "missing", {},
                    "there is 1 more error"};
  EXPECT_EQ(to_error(Findings{bare, kError}), other);
  EXPECT_EQ(to_error(Findings{bare, bare, bare}).hint, "there are 2 more errors");
}

TEST(FindingsTest, AskingForAnErrorWhereThereIsNoneIsOurMistake) {
  EXPECT_EQ(to_error(Findings{kWarning}).kind, Error::Kind::internal);
}

}  // namespace
}  // namespace coop::policy
