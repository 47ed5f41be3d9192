#include "base/redact.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace coop {
namespace {

std::string hidden(std::string_view text, const std::vector<std::string>& secrets = {}) {
  return redact(text, secrets);
}

// Put together here, so that no scanner takes this file for a leak.
std::string token(const std::string& prefix, std::size_t length) {
  return prefix + std::string(length, 'A');
}

TEST(RedactTest, TextWithoutSecretsStays) {
  for (const std::string_view text :
       {"", "nothing here", "sk-", "task-force-of-many-letters-indeed", "disk-0123456789abcdef0123",
        "http://example.com:8080/@x", "mailto:ann@example.com", "https://ann@example.com/",
        "-----BEGIN CERTIFICATE-----", "eyJust a word", "AKIA", "a.b.c"})
    EXPECT_EQ(hidden(text), text);
}

TEST(RedactTest, GivenValuesAreReplacedWhereverTheyAre) {
  EXPECT_EQ(hidden("x hunter22 y hunter22", {"hunter22"}), "x [redacted] y [redacted]");
  EXPECT_EQ(hidden("ahunter22b", {"hunter22"}), "a[redacted]b");
  EXPECT_EQ(hidden("line\nhunter22\n", {"line\nhunter22"}), "[redacted]\n");
  EXPECT_EQ(hidden("x", {""}), "x");
}

TEST(RedactTest, OverlappingValuesLeaveNoRest) {
  EXPECT_EQ(hidden("abcdef", {"abcd", "cdef"}), "[redacted]");
  EXPECT_EQ(hidden("abcdef", {"bc", "abcdef"}), "[redacted]");
  EXPECT_EQ(hidden("abcdef", {"abcdef", "bc"}), "[redacted]");
  EXPECT_EQ(hidden("xababay", {"aba"}), "x[redacted]y");
  EXPECT_EQ(hidden("abcdef", {"abc", "def"}), "[redacted][redacted]");
}

TEST(RedactTest, WellKnownTokensAreRecognised) {
  for (const std::string& secret :
       {token("sk-", 20), token("sk-ant-api03-", 40), token("sk-or-v1-", 40), token("ghp_", 36),
        token("gho_", 36), token("github_pat_", 40), token("glpat-", 20), token("xoxb-1-", 10),
        token("xapp-1-", 10), token("AKIA", 16), token("AIza", 35), token("hf_", 34)}) {
    EXPECT_EQ(hidden("key=" + secret + ", done"), "key=[redacted], done") << secret;
    EXPECT_EQ(hidden(secret), "[redacted]") << secret;
  }
  EXPECT_EQ(hidden(token("sk-", 20) + " " + token("sk-", 21)), "[redacted] [redacted]");
}

TEST(RedactTest, WordsThatOnlyEndLikeATokenStay) {
  EXPECT_EQ(hidden("ta" + token("sk-", 30)), "ta" + token("sk-", 30));
  EXPECT_EQ(hidden(token("sk-", 19)), token("sk-", 19));
}

TEST(RedactTest, JsonWebTokensAreRecognised) {
  const std::string jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl";
  EXPECT_EQ(hidden("Bearer " + jwt + "!"), "Bearer [redacted]!");
  EXPECT_EQ(hidden("eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0."), "[redacted]");
  EXPECT_EQ(hidden("eyJhbGciOiJIUzI1NiJ9.other.part"), "eyJhbGciOiJIUzI1NiJ9.other.part");
}

TEST(RedactTest, PrivateKeysGoAsAWholeEvenWhenCutOff) {
  const std::string begin = "-----BEGIN OPENSSH PRIVATE" + std::string(" KEY-----\n");
  const std::string end = "-----END OPENSSH PRIVATE" + std::string(" KEY-----");
  EXPECT_EQ(hidden("a " + begin + "AAAA\nBBBB\n" + end + " b"), "a [redacted] b");
  EXPECT_EQ(hidden("a " + begin + "AAAA\nBB"), "a [redacted]");
  const std::string certificate = "-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----\n";
  EXPECT_EQ(hidden(certificate + begin + "AAAA\n" + end), certificate + "[redacted]");
}

TEST(RedactTest, OnlyThePasswordOfAUrlGoes) {
  EXPECT_EQ(hidden("postgres://ann:pa55@db/x"), "postgres://ann:[redacted]@db/x");
  EXPECT_EQ(hidden("https://:t@h"), "https://:[redacted]@h");
  EXPECT_EQ(hidden("https://a:b@c@h/?q=x:y@z"), "https://a:[redacted]@h/?q=x:y@z");
  EXPECT_EQ(hidden("see http://h:80 and ann@x"), "see http://h:80 and ann@x");
  EXPECT_EQ(hidden("https://ann:@h"), "https://ann:@h");
}

TEST(RedactTest, NamesOfVariablesWithSecretsAreTold) {
  for (const std::string_view name :
       {"ANTHROPIC_API_KEY", "DB_PASSWORD", "GH_TOKEN", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD",
        "MYSQL_PWD", "CLIENT_SECRET", "api_key", "apiKey", "TOKEN", "SMTP_PASS", "NPM_AUTH",
        "SENTRY_DSN", "GITHUB_PAT", "SECRET_KEY_BASE", "GPG_PASSPHRASE", "NPM_TOKEN_2"})
    EXPECT_TRUE(names_a_secret(name)) << name;
}

TEST(RedactTest, NamesOfOtherVariablesAreNot) {
  for (const std::string_view name :
       {"", "_", "PATH", "HOME", "PWD", "OLDPWD", "SSH_AUTH_SOCK", "TOKEN_FILE", "KEYBOARD",
        "MONKEY", "MAX_TOKENS", "TOKENIZERS_PARALLELISM", "SSH_PUBLIC_KEY", "KEY", "LANG",
        "COMPASS_DIR", "PATTERN", "SSL_CERT_FILE"})
    EXPECT_FALSE(names_a_secret(name)) << name;
}

}  // namespace
}  // namespace coop
