// Principals: senders, users, cron jobs, agents, and the layers that apply to them.
#include <gmock/gmock.h>

#include "config_text.h"

namespace coop::policy {
namespace {

using testing::ElementsAre;

constexpr std::string_view kPeople = R"([sandbox]
enabled = true
[[users]]
name = "ann"
trust = "owner"
match = ["terminal:default", "signal:+15550001000"]
[[users]]
name = "ben"
trust = "inner"
match = ["signal:+15550001001"]
[[users]]
name = "hook"
trust = "familiar"
match = ["webhook:*"]
[[users]]
name = "stranger"
trust = "public"
match = ["webhook:evil"]
)";

// "user trust ceiling→trust: reason"
std::string described(const Principal& principal) {
  return (principal.user == nullptr ? "-" : principal.user->name) + " " +
         std::string(to_text(principal.user_trust)) + "/" +
         std::string(to_text(principal.ceiling)) + " " + std::string(to_text(principal.trust)) +
         ": " + principal.reason;
}

// As above; the file may have warnings.
std::string who(std::string_view text, std::string_view sender,
                Conversation conversation = Conversation::direct) {
  const ReadConfig read = read_text(text);
  EXPECT_FALSE(has_errors(read.findings));
  const Principal principal = principal_of_sender(read.config, sender, conversation);
  EXPECT_EQ(principal.sender, sender);
  return described(principal);
}

TEST(PrincipalTest, ASenderIsTheUserWhoseMatchItIs) {
  EXPECT_EQ(who(kPeople, "terminal:default"),
            "ann owner/owner owner: matched \"terminal:default\" (coop.toml:3)");
  EXPECT_EQ(who(kPeople, "signal:+15550001000"),
            "ann owner/owner owner: matched \"signal:+15550001000\" (coop.toml:3)");
  EXPECT_EQ(who(kPeople, "signal:+15550001001"),
            "ben inner/owner inner: matched \"signal:+15550001001\" (coop.toml:7)");
}

TEST(PrincipalTest, EveryoneOfAChannelIsMatchedAfterTheExactOnes) {
  EXPECT_EQ(who(kPeople, "webhook:build"),
            "hook familiar/owner familiar: matched \"webhook:*\" (coop.toml:11)");
  EXPECT_EQ(who(kPeople, "webhook:evil"),
            "stranger public/owner public: matched \"webhook:evil\" (coop.toml:15)");
  EXPECT_EQ(who(kPeople, "webhook:*"),
            "hook familiar/owner familiar: matched \"webhook:*\" (coop.toml:11)");
}

TEST(PrincipalTest, ASenderWithoutAMatchIsPublic) {
  for (const char* sender :
       {"", ":", "terminal", "terminal:", "terminal:Default", "Terminal:default",
        "terminal:default ", " terminal:default", "terminal:other", "signal:+1555000100",
        "signal:+155500010000", "signal:*", "SIGNAL:+15550001000", "webhook", "webhook:", ":build",
        "webhooks:build", "*:*", "*"})
    EXPECT_EQ(who(kPeople, sender), "- public/owner public: no user matches this sender") << sender;
}

TEST(PrincipalTest, InAGroupTheCeilingIsFamiliar) {
  const Conversation group = Conversation::group;
  EXPECT_EQ(who(kPeople, "terminal:default", group),
            "ann owner/familiar familiar: matched \"terminal:default\" (coop.toml:3); in a group "
            "the ceiling is familiar");
  EXPECT_EQ(who(kPeople, "signal:+15550001001", group),
            "ben inner/familiar familiar: matched \"signal:+15550001001\" (coop.toml:7); in a "
            "group the ceiling is familiar");
  EXPECT_EQ(who(kPeople, "webhook:build", group),
            "hook familiar/familiar familiar: matched \"webhook:*\" (coop.toml:11)");
  EXPECT_EQ(who(kPeople, "signal:other", group),
            "- public/familiar public: no user matches this sender");
}

TEST(PrincipalTest, TheTerminalIsTheOwnersUnlessTheSandboxIsDisabled) {
  const std::string ben = "[[users]]\nname = \"ben\"\ntrust = \"inner\"\nmatch = [\"s:1\"]\n";
  EXPECT_EQ(
      who("[sandbox]\nenabled = true\n" + ben, "terminal:default"),
      "- owner/owner owner: no user matches, and the terminal is the owner's unless the sandbox "
      "is disabled");
  EXPECT_EQ(
      who("[sandbox]\nenabled = true\n" + ben, "terminal:default", Conversation::group),
      "- owner/familiar familiar: no user matches, and the terminal is the owner's unless the "
      "sandbox is disabled; in a group the ceiling is familiar");
  EXPECT_EQ(who("[sandbox]\nenabled = false\n" + ben, "terminal:default"),
            "- public/owner public: no user matches this sender");
  EXPECT_EQ(who(ben, "terminal:default"),
            "- owner/owner owner: no user matches, and the terminal is the owner's unless the "
            "sandbox is disabled");
  EXPECT_EQ(who("[sandbox]\nenabled = true\n" + ben, "terminal:1"),
            "- public/owner public: no user matches this sender");
}

TEST(PrincipalTest, AMatchOfTheTerminalHoldsWhateverItsTrust) {
  EXPECT_EQ(who("[sandbox]\nenabled = true\n[[users]]\nname = \"kid\"\ntrust = "
                "\"public\"\nmatch = [\"terminal:*\"]\n",
                "terminal:default"),
            "kid public/owner public: matched \"terminal:*\" (coop.toml:3)");
}

TEST(PrincipalTest, TheTerminalAsksWhetherTheAgentIsSandboxed) {
  const Config config = good_config(
      "[[agents]]\nid = \"on\"\n[[agents]]\nid = \"off\"\nsandbox = { mode = \"disabled\" }\n");
  const auto trust = [&](const Agent* agent) {
    return principal_of_sender(config, "terminal:default", Conversation::direct, agent).trust;
  };
  EXPECT_EQ(trust(&config.agents[0]), TrustLevel::owner);
  EXPECT_EQ(trust(&config.agents[1]), TrustLevel::public_);
  EXPECT_EQ(trust(nullptr), TrustLevel::owner);  // the first agent's
}

TEST(PrincipalTest, AUserIsFoundByName) {
  const Config config = read_text(kPeople).config;
  const Result<Principal> ben = principal_of_user(config, "ben", Conversation::direct);
  ASSERT_TRUE(ben.has_value());
  EXPECT_EQ(described(*ben), "ben inner/owner inner: user \"ben\" (coop.toml:7)");
  EXPECT_EQ(ben->sender, "");
  const Result<Principal> ann = principal_of_user(config, "ann", Conversation::group);
  ASSERT_TRUE(ann.has_value());
  EXPECT_EQ(described(*ann),
            "ann owner/familiar familiar: user \"ann\" (coop.toml:3); in a group the ceiling is "
            "familiar");
}

TEST(PrincipalTest, AnUnknownNameIsAnErrorWithTheNearest) {
  const Config config = read_text(kPeople).config;
  const Result<Principal> near = principal_of_user(config, "bne", Conversation::direct);
  ASSERT_FALSE(near.has_value());
  EXPECT_EQ(to_text(near.error()), "coop.toml: no user is called \"bne\"");
  EXPECT_EQ(near.error().hint, "did you mean \"ben\"?");
  const Result<Principal> far = principal_of_user(config, "\x1b[2Jxyz", Conversation::direct);
  ASSERT_FALSE(far.has_value());
  EXPECT_EQ(to_text(far.error()), "coop.toml: no user is called \"\\x1b[2Jxyz\"");
  EXPECT_EQ(far.error().hint, "");
  EXPECT_FALSE(principal_of_user(config, "", Conversation::direct).has_value());
}

TEST(PrincipalTest, AUserWithoutANameIsNotFoundByName) {
  const Config config = read_text("[[users]]\ntrust = \"owner\"\n").config;
  EXPECT_FALSE(principal_of_user(config, "", Conversation::direct).has_value());
}

TEST(PrincipalTest, JobsAndAgentsAreFoundByName) {
  const Config config = good_config(
      "[[agents]]\nid = \"main\"\n[[agents]]\nid = \"spare\"\n[[cron]]\nname = \"nightly\"\ncron = "
      "\"@daily\"\ncommand = \"x\"\n");
  const auto job = find_cron(config, "nightly");
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(*job, &config.cron[0]);
  const auto no_job = find_cron(config, "nigthly");
  ASSERT_FALSE(no_job.has_value());
  EXPECT_EQ(to_text(no_job.error()), "coop.toml: no cron job is called \"nigthly\"");
  EXPECT_EQ(no_job.error().hint, "did you mean \"nightly\"?");

  const auto spare = find_agent(config, "spare");
  ASSERT_TRUE(spare.has_value());
  EXPECT_EQ(*spare, &config.agents[1]);
  const auto first = find_agent(config, "");
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(*first, &config.agents[0]);
  const auto no_agent = find_agent(config, "man");
  ASSERT_FALSE(no_agent.has_value());
  EXPECT_EQ(no_agent.error().hint, "did you mean \"main\"?");

  const Config empty = good_config("");
  const auto none = find_agent(empty, "");
  ASSERT_TRUE(none.has_value());
  EXPECT_EQ(*none, nullptr);
  EXPECT_FALSE(find_agent(empty, "main").has_value());
}

TEST(PrincipalTest, LayersComeInTheOrderTheyHold) {
  const Config config = good_config(
      "[sandbox]\nmemory = \"1g\"\n[agent.sandbox]\nmemory = \"2g\"\n[[users]]\nname = "
      "\"ben\"\ntrust = \"inner\"\nsandbox = { memory = \"3g\" }\n[[cron]]\nname = \"x\"\ncron = "
      "\"@daily\"\ncommand = \"y\"\nsandbox = { memory = \"4g\" }\n");
  EXPECT_THAT(layers_of(config, &config.agents[0], &config.users[0], &config.cron[0]),
              ElementsAre(Layer{Scope::config, config.sandbox},
                          Layer{Scope::config, config.agents[0].sandbox},
                          Layer{Scope::override, config.users[0].sandbox},
                          Layer{Scope::override, config.cron[0].sandbox}));
  EXPECT_THAT(layers_of(config, nullptr, &config.users[0], nullptr),
              ElementsAre(Layer{Scope::config, config.sandbox},
                          Layer{Scope::override, config.users[0].sandbox}));
  EXPECT_THAT(layers_of(config, nullptr, nullptr, nullptr),
              ElementsAre(Layer{Scope::config, config.sandbox}));
}

}  // namespace
}  // namespace coop::policy
