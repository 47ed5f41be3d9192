// Replacing a configuration while other threads read it.
#include "policy/people/config_store.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "config_text.h"

namespace coop::policy {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// A file in memory.
struct Text {
  std::mutex mutex;
  Result<std::string> text;

  void set(Result<std::string> next) {
    const std::lock_guard lock(mutex);
    text = std::move(next);
  }
  ConfigStore::Reader reader() {
    return [this]() -> Result<std::string> {
      const std::lock_guard lock(mutex);
      return text;
    };
  }
};

std::string one_user(const std::string& name) {
  return "[[users]]\nname = \"" + name + "\"\ntrust = \"full\"\nmatch = [\"s:" + name + "\"]\n";
}

std::unique_ptr<ConfigStore> must_open(Text& text) {
  auto store = ConfigStore::open("coop.toml", config_surroundings(), text.reader());
  if (store) return std::move(*store);
  ADD_FAILURE() << to_text(store.error());
  return nullptr;
}

TEST(ConfigStoreTest, HoldsWhatTheFileSays) {
  Text text{.text = one_user("ann")};
  const auto store = must_open(text);
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(*store->current(), good_config(one_user("ann")));
}

TEST(ConfigStoreTest, ABrokenFileIsNotOpened) {
  Text text{.text = one_user("ann") + one_user("ann")};
  const auto broken = ConfigStore::open("coop.toml", config_surroundings(), text.reader());
  ASSERT_FALSE(broken.has_value());
  EXPECT_EQ(to_text(broken.error()), "coop.toml:5:1: another user is called \"ann\" (coop.toml:1)");
  text.set(system_error_of(ENOENT, "open", "coop.toml"));
  const auto missing = ConfigStore::open("coop.toml", config_surroundings(), text.reader());
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(to_text(missing.error()),
            "reading the configuration: open \"coop.toml\": ENOENT (No such file or directory)");
}

TEST(ConfigStoreTest, ANewFileReplacesTheOldForThoseWhoAskAgain) {
  Text text{.text = one_user("ann")};
  const auto store = must_open(text);
  const std::shared_ptr<const Config> before = store->current();
  text.set(one_user("ben"));
  const ConfigStore::Reloaded reloaded = store->reload();
  EXPECT_TRUE(reloaded.replaced);
  EXPECT_THAT(reloaded.findings, IsEmpty());
  EXPECT_EQ(*before, good_config(one_user("ann")));
  EXPECT_EQ(*store->current(), good_config(one_user("ben")));
}

TEST(ConfigStoreTest, AnUnchangedFileChangesNothing) {
  Text text{.text = "unknown_thing = 1\n" + one_user("ann")};
  const auto store = must_open(text);
  const std::shared_ptr<const Config> before = store->current();
  const ConfigStore::Reloaded reloaded = store->reload();
  EXPECT_FALSE(reloaded.replaced);
  EXPECT_THAT(reloaded.findings, IsEmpty());
  EXPECT_EQ(store->current(), before);
}

TEST(ConfigStoreTest, WarningsAreTakenAlong) {
  Text text{.text = one_user("ann")};
  const auto store = must_open(text);
  text.set("unknown_thing = 1\n" + one_user("ben"));
  const ConfigStore::Reloaded reloaded = store->reload();
  EXPECT_TRUE(reloaded.replaced);
  ASSERT_EQ(reloaded.findings.size(), 1u);
  EXPECT_EQ(reloaded.findings[0].severity, Severity::warning);
  EXPECT_EQ(*store->current(), read_text("unknown_thing = 1\n" + one_user("ben")).config);
}

TEST(ConfigStoreTest, ABrokenFileKeepsTheOldAndSaysSoEachTime) {
  Text text{.text = one_user("ann")};
  const auto store = must_open(text);
  const std::shared_ptr<const Config> before = store->current();
  text.set("[[users]\n");
  for (int i = 0; i < 2; ++i) {
    const ConfigStore::Reloaded reloaded = store->reload();
    EXPECT_FALSE(reloaded.replaced);
    ASSERT_EQ(reloaded.findings.size(), 1u);
    EXPECT_EQ(reloaded.findings[0].check, "syntax");
    EXPECT_EQ(store->current(), before);
  }
  text.set(one_user("ann"));
  EXPECT_FALSE(store->reload().replaced);  // restored to the old text
  text.set(one_user("ben"));
  EXPECT_TRUE(store->reload().replaced);
}

TEST(ConfigStoreTest, AFileThatCannotBeReadKeepsTheOldAndSaysSo) {
  Text text{.text = one_user("ann")};
  const auto store = must_open(text);
  const std::shared_ptr<const Config> before = store->current();
  text.set(system_error_of(EACCES, "open", "coop.toml"));
  const ConfigStore::Reloaded reloaded = store->reload();
  EXPECT_FALSE(reloaded.replaced);
  const Findings expected{{.severity = Severity::error,
                           .check = "syntax",
                           .file = "coop.toml",
                           .message = "cannot be read: open \"coop.toml\": EACCES (Permission "
                                      "denied)"}};
  EXPECT_EQ(reloaded.findings, expected);
  EXPECT_EQ(store->current(), before);
}

TEST(ConfigStoreTest, ReadersSeeTheOldOneOrTheNewOneAndNothingBetween) {
  Text text{.text = one_user("ann")};
  const auto store = must_open(text);
  std::atomic<int> strange = 0;
  std::atomic<bool> done = false;
  const auto look = [&] {
    while (!done) {
      const std::shared_ptr<const Config> config = store->current();
      const bool whole = config->users.size() == 1 && config->users[0].match.size() == 1 &&
                         config->users[0].match[0] == "s:" + config->users[0].name &&
                         (config->users[0].name == "ann" || config->users[0].name == "ben");
      if (!whole) ++strange;
    }
  };
  std::atomic<int> replaced = 0;
  const auto change = [&] {
    for (int i = 0; i < 60; ++i) {
      if (i % 3 == 0) text.set("[[users]\n");
      else text.set(one_user(i % 2 == 0 ? "ann" : "ben"));
      if (store->reload().replaced) ++replaced;
    }
  };
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < 3; ++i) readers.emplace_back(look);
    {
      const std::jthread first(change);
      const std::jthread second(change);
    }
    done = true;
  }
  EXPECT_EQ(strange, 0);
  EXPECT_GT(replaced, 0);
}

TEST(ConfigStoreTest, AnOldConfigurationOutlivesTheStore) {
  Text text{.text = one_user("ann")};
  auto store = must_open(text);
  const std::shared_ptr<const Config> kept = store->current();
  store.reset();
  EXPECT_EQ(*kept, good_config(one_user("ann")));
}

}  // namespace
}  // namespace coop::policy
