#include "base/log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "sys/fd.h"

namespace coop {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using Json = nlohmann::json;

// A file in memory that a logger writes to.
class Log {
 public:
  explicit Log(LogFormat format, LogLevel least = LogLevel::debug)
      : fd_(::memfd_create("log", MFD_CLOEXEC)), logger(fd_.get(), format, least) {}

  std::string text() const {
    ::lseek(fd_.get(), 0, SEEK_SET);
    return read_all(fd_.get(), "log").value_or("");
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    std::istringstream all(text());
    for (std::string line; std::getline(all, line);) lines.push_back(line);
    return lines;
  }
  Json json() const { return Json::parse(text(), nullptr, false); }

 private:
  UniqueFd fd_;

 public:
  Logger logger;
};

TEST(LogTest, ATextRecordHasTimeLevelSessionSpanMessageAndFields) {
  Log log(LogFormat::text);
  log.logger.set_id("s1");
  const std::vector<LogField> fields{
      {"count", "3"}, {"name", "a b"}, {"empty", ""}, {"said", "\"x\""}, {"pair", "a=b"}};
  log.logger.write(LogLevel::debug, "tool_execute/sandbox_exec", "started", fields);
  const std::string line = log.text();
  EXPECT_THAT(line.substr(0, 19), MatchesRegex("coop: [0-9:]+\\.[0-9]+ "));
  EXPECT_EQ(line.substr(19),
            "debug [s1] tool_execute/sandbox_exec: started count=3 name=\"a b\" empty=\"\" "
            "said=\"\\\"x\\\"\" pair=\"a=b\"\n");
}

TEST(LogTest, WithoutSessionAndSpanTheyAreLeftOut) {
  Log log(LogFormat::text);
  log.logger.write(LogLevel::warn, "", "no landlock");
  EXPECT_EQ(log.text().substr(19), "warn no landlock\n");
}

TEST(LogTest, AJsonRecordIsAnObjectOnOneLine) {
  Log log(LogFormat::json);
  log.logger.set_id("s1");
  const std::vector<LogField> fields{{"path", "/x"}, {"count", std::int64_t{3}}};
  log.logger.write(LogLevel::error, "setup", "failed", fields);
  Json object = log.json();
  ASSERT_TRUE(object.is_object()) << log.text();
  EXPECT_THAT(object["time"].get<std::string>(),
              MatchesRegex("[0-9]+-[0-9]+-[0-9]+T[0-9]+:[0-9]+:[0-9]+\\.[0-9][0-9][0-9]Z"));
  object.erase("time");
  EXPECT_EQ(object, (Json{{"level", "error"},
                          {"pid", ::getpid()},
                          {"session", "s1"},
                          {"span", "setup"},
                          {"message", "failed"},
                          {"fields", {{"path", "/x"}, {"count", 3}}}}));
  EXPECT_THAT(log.text(), testing::StartsWith("{\"time\":"));
}

TEST(LogTest, RecordsBelowTheLeastLevelAreNotWritten) {
  Log log(LogFormat::text, LogLevel::warn);
  EXPECT_FALSE(log.logger.wants(LogLevel::debug));
  EXPECT_FALSE(log.logger.wants(LogLevel::info));
  EXPECT_TRUE(log.logger.wants(LogLevel::warn));
  EXPECT_TRUE(log.logger.wants(LogLevel::error));
  log.logger.write(LogLevel::info, "", "one");
  log.logger.write(LogLevel::error, "", "two");
  ASSERT_EQ(log.lines().size(), 1u);
  EXPECT_THAT(log.text(), HasSubstr("error two"));
}

TEST(LogTest, OneRecordIsOneLineWhateverIsInIt) {
  const std::string nasty = std::string("a\nb\r\x1b[31m\x7f\xff\0z", 13) + "\u009b\u0085é\\";
  for (const LogFormat format : {LogFormat::text, LogFormat::json}) {
    Log log(format);
    log.logger.set_id(nasty);
    const std::vector<LogField> fields{{nasty, nasty}};
    log.logger.write(LogLevel::info, nasty, nasty, fields);
    const std::string text = log.text();
    ASSERT_TRUE(text.ends_with('\n'));
    for (const char c : text.substr(0, text.size() - 1)) {
      EXPECT_GE(static_cast<unsigned char>(c), 0x20);
      EXPECT_NE(c, '\x7f');
    }
    EXPECT_THAT(text, Not(HasSubstr("\u009b")));
    EXPECT_THAT(text, Not(HasSubstr("\u0085")));
    EXPECT_THAT(text, Not(HasSubstr("\xff")));
    EXPECT_TRUE(format == LogFormat::text || log.json().is_object()) << text;
  }
}

TEST(LogTest, NoSecretIsWrittenInEitherFormat) {
  // Quoting changes each of these; the secret must be removed nevertheless.
  const std::vector<std::string> secrets{"hunter22",    "with \"quotes\"", "two\nlines",
                                         "back\\slash", "tab\there!",      "clé-secrète"};
  for (const LogFormat format : {LogFormat::text, LogFormat::json}) {
    for (const std::string& secret : secrets) {
      Log log(format);
      log.logger.add_secret(secret);
      log.logger.set_id("s-" + secret);
      const std::vector<LogField> fields{{"value", "a=" + secret}, {"plain", secret}};
      log.logger.write(LogLevel::info, "in/" + secret, "got " + secret + "!", fields);
      if (format == LogFormat::text) {
        EXPECT_EQ(log.text().substr(19),
                  "info [s-[redacted]] in/[redacted]: got [redacted]! value=\"a=[redacted]\" "
                  "plain=[redacted]\n");
      } else {
        Json object = log.json();
        object.erase("time");
        object.erase("pid");
        EXPECT_EQ(object, (Json{{"level", "info"},
                                {"session", "s-[redacted]"},
                                {"span", "in/[redacted]"},
                                {"message", "got [redacted]!"},
                                {"fields", {{"value", "a=[redacted]"}, {"plain", "[redacted]"}}}}));
      }
    }
  }
}

TEST(LogTest, ASecretThatWasEscapedBeforeIsFoundToo) {
  Log log(LogFormat::text);
  log.logger.add_secret("two\nlines\"x");
  log.logger.write(LogLevel::info, "", "got two\\x0alines\"x and two\\nlines\\\"x");
  EXPECT_EQ(log.text().substr(19), "info got [redacted] and [redacted]\n");
}

TEST(LogTest, TokensAreRecognisedWithoutBeingNamed) {
  Log log(LogFormat::json);
  const std::vector<LogField> fields{{"url", "https://ann:pa55@example.com/"}};
  log.logger.write(LogLevel::info, "", "key sk-" + std::string(30, 'x'), fields);
  EXPECT_EQ(log.json()["message"], "key [redacted]");
  EXPECT_EQ(log.json()["fields"]["url"], "https://ann:[redacted]@example.com/");
}

TEST(LogTest, ShortSecretsAreNotTaken) {
  Log log(LogFormat::text);
  log.logger.add_secret("");
  log.logger.add_secret("start");
  log.logger.add_secret("a long one");
  log.logger.write(LogLevel::info, "", "started a long one");
  EXPECT_EQ(log.text().substr(19), "info started [redacted]\n");
}

TEST(LogTest, RecordsOfSeveralThreadsDoNotMix) {
  Log log(LogFormat::json);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&log] {
      for (int count = 0; count < 100; ++count) {
        log.logger.set_id(std::to_string(count));
        log.logger.write(LogLevel::info, "", std::string(1000, 'x'));
      }
    });
  for (std::thread& thread : threads) thread.join();
  const std::vector<std::string> lines = log.lines();
  EXPECT_EQ(lines.size(), 400u);
  for (const std::string& line : lines) EXPECT_TRUE(Json::accept(line)) << line;
}

// A SOCK_SEQPACKET socket keeps message boundaries, so it shows how many writes there were.
TEST(LogTest, ARecordIsWrittenWithOneCall) {
  auto pair = make_socket_pair();
  ASSERT_TRUE(pair.has_value());
  Logger logger(pair->first.get(), LogFormat::text, LogLevel::debug);
  logger.write(LogLevel::info, "", "one");
  logger.write(LogLevel::info, "", "two");
  std::array<char, 256> buffer{};
  const ssize_t count = ::read(pair->second.get(), buffer.data(), buffer.size());
  ASSERT_GT(count, 19);
  EXPECT_EQ(std::string(buffer.data() + 19, static_cast<std::size_t>(count) - 19), "info one\n");
}

TEST(LogTest, ADescriptorThatCannotBeWrittenIsNoFailure) {
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  Logger logger(full.get(), LogFormat::text, LogLevel::debug);
  logger.write(LogLevel::error, "", "is lost");
  Logger closed(-1, LogFormat::json, LogLevel::debug);
  closed.write(LogLevel::error, "", "is lost");
}

}  // namespace
}  // namespace coop
