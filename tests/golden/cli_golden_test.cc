// Complete output of `policy show --origin`, `policy diff`, `trust` and `config check`.
#include <sys/stat.h>

#include "golden/golden.h"
#include "unit/support/cli_runner.h"
#include "unit/support/temp_tree.h"

namespace coop::test {
namespace {

// A home and a project whose paths are removed from what is compared.
class CliGoldenTest : public testing::Test {
 protected:
  CliGoldenTest() {
    tree.must("mkdir -p home/.config/coop project/.coop outside");
    tree.write("home/.config/coop/policy.toml",
               "[sandbox]\nmemory = \"2g\"\ntimeout = \"10m\"\n"
               "readable_paths = [\"~/tools?\"]\nhidden_paths = [\"~/private\"]\n");
    tree.must("chmod 600 home/.config/coop/policy.toml");
    tree.write("project/.coop/policy.toml",
               "[sandbox]\nmemory = \"1g\"\nnetwork = \"full\"\n"
               "writable_paths = [\"/srv/other?\", \"build?\"]\nhidden_paths = [\".env\"]\n");
    tree.write("home/.config/coop/coop.toml", kConfig);
    tree.must("chmod 600 home/.config/coop/coop.toml");
  }

  Ran coop(const std::vector<std::string>& arguments) const {
    return run_cli(tree / "project",
                   {{"HOME", tree / "home"}, {"XDG_STATE_HOME", tree / "state"}, {"USER", "ann"}},
                   arguments);
  }

  std::string text_of(const std::vector<std::string>& arguments, int code = 0) const {
    const Ran ran = coop(arguments);
    EXPECT_EQ(ran.code, code) << ran.error;
    std::string text = ran.out + ran.error;
    for (std::size_t at = 0; (at = text.find(tree.path(), at)) != std::string::npos;)
      text.replace(at, tree.path().size(), "");
    return text;
  }

  static constexpr const char* kConfig = R"([agent]
id = "reid"

[sandbox]
enabled = true
memory = "512m"

[[users]]
name = "alice"
trust = "owner"
match = ["terminal:default", "signal:+15555550100"]

[[users]]
name = "bob"
trust = "full"
match = ["signal:+15555550101"]
sandbox = { memory = "256m", cpus = 1 }

[[users]]
name = "carol"
trust = "familiar"
match = ["signal:+15555550102"]

[[cron]]
name = "deploy"
cron = "0 2 * * *"
user = "bob"
message = "run the deploy pipeline"
sandbox = { memory = "1g" }
)";

  const TempTree tree;
};

TEST_F(CliGoldenTest, PolicyShow) {
  expect_golden("policy_show.txt", text_of({"policy", "show"}));
  expect_golden("policy_show_origin.txt", text_of({"policy", "show", "--origin"}));
  expect_golden("policy_show.json", text_of({"policy", "show", "--json"}));
}

TEST_F(CliGoldenTest, PolicyCheckOfAProjectThatWidens) {
  expect_golden("policy_check.txt", text_of({"policy", "check"}, 1));
}

TEST_F(CliGoldenTest, PolicyDiff) {
  tree.write("project/a.toml", "[sandbox]\nmemory = \"1g\"\nnetwork = \"none\"\n");
  tree.write("project/b.toml", "[sandbox]\nmemory = \"2g\"\nhidden_paths = [\"/srv/x\"]\n");
  expect_golden("policy_diff.txt", text_of({"policy", "diff", "a.toml", "b.toml"}, 1));
  EXPECT_EQ(text_of({"policy", "diff", "a.toml", "a.toml"}), "");
}

TEST_F(CliGoldenTest, WhatIsExportedIsImportedAgain) {
  const std::string exported = text_of({"policy", "export", "--scope", "user"});
  expect_golden("policy_export.txt", exported);
  tree.write("project/copy.toml", coop({"policy", "export", "--scope", "user"}).out);
  const std::string before = read_text(tree / "home/.config/coop/policy.toml");
  EXPECT_EQ(text_of({"policy", "import", "copy.toml", "--dry-run"}), "nothing changes\n");
  EXPECT_EQ(read_text(tree / "home/.config/coop/policy.toml"), before);
  EXPECT_EQ(coop({"policy", "import", "copy.toml"}).code, 0);
  EXPECT_EQ(read_text(tree / "home/.config/coop/policy.toml"),
            read_text(tree / "project/copy.toml"));
  EXPECT_EQ(read_text(tree / "home/.config/coop/policy.toml.previous"), before);
  EXPECT_EQ(text_of({"policy", "export", "--scope", "user"}), exported);
}

TEST_F(CliGoldenTest, ABrokenImportChangesNothing) {
  tree.write("project/broken.toml", "[sandbox]\nmemory = \"much\"\n");
  const std::string before = read_text(tree / "home/.config/coop/policy.toml");
  const Ran ran = coop({"policy", "import", "broken.toml"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("broken.toml:2:10"), std::string::npos) << ran.out;
  EXPECT_EQ(read_text(tree / "home/.config/coop/policy.toml"), before);
  EXPECT_FALSE(exists(tree / "home/.config/coop/policy.toml.previous"));
}

TEST_F(CliGoldenTest, PolicyHosts) {
  const std::string group = text_of({"policy", "hosts", "@Bitbucket"});
  EXPECT_EQ(group,
            "@bitbucket\n"
            "  bitbucket.org             the site, git over https, raw files\n"
            "  bitbucket.org:22          git over ssh\n"
            "  api.bitbucket.org         the API\n");
  EXPECT_EQ(text_of({"policy", "hosts", "bitbucket"}), group);
  EXPECT_NE(text_of({"policy", "hosts"}).find("\n" + group), std::string::npos);
  EXPECT_EQ(text_of({"policy", "hosts", "rust", "--json"}),
            "[\n  {\n    \"group\": \"@rust\",\n    \"hosts\": [\n      {\n"
            "        \"host\": \"static.rust-lang.org\",\n"
            "        \"reason\": \"toolchains, for rustup\"\n      }\n    ]\n  }\n]\n");
}

// The group is named beside the place or flag that has it.
TEST_F(CliGoldenTest, ARuleOfAGroupNamesTheGroup) {
  tree.must("rm -r project/.coop");
  tree.write("home/.config/coop/policy.toml",
             "[sandbox.network]\nallow = [\"@bitbucket\"]\ndeny = [\"@rust\"]\n");
  const std::string file = "/home/.config/coop/policy.toml";
  EXPECT_EQ(text_of({"policy", "explain", "-w", ".", "bitbucket.org:22"}),
            "bitbucket.org:22: reachable by network.allow \"bitbucket.org:22\" (" + file +
                ":2 @bitbucket) (where its address is a public one)\n");
  EXPECT_EQ(text_of({"policy", "explain", "-w", ".", "static.rust-lang.org"}),
            "static.rust-lang.org: denied by network.deny \"static.rust-lang.org\" (" + file +
                ":3 @rust)\n");
  EXPECT_EQ(text_of({"policy", "explain", "-w", ".", "--deny-net", "@pypi:443", "pypi.org:443"}),
            "pypi.org:443: denied by network.deny \"pypi.org:443\" (--deny-net @pypi:443)\n");
  EXPECT_EQ(text_of({"policy", "export"}),
            "[sandbox]\n\n[sandbox.network]\nmode = \"allowlist\"\nallow = [\"@bitbucket\"]\n"
            "deny = [\"@rust\"]\n");
  EXPECT_NE(text_of({"policy", "show", "--origin"}).find("  \"@rust\",  "), std::string::npos);
}

TEST_F(CliGoldenTest, Trust) {
  tree.must("rm -r project/.coop");
  for (const char* name : {"owner", "bob", "group", "stranger", "cron"}) {
    const std::string who(name);
    std::vector<std::string> arguments{"trust"};
    if (who == "owner") arguments.insert(arguments.end(), {"terminal:default"});
    if (who == "bob") arguments.insert(arguments.end(), {"signal:+15555550101"});
    if (who == "group") arguments.insert(arguments.end(), {"terminal:default", "--group"});
    if (who == "stranger") arguments.insert(arguments.end(), {"signal:+15555550199"});
    if (who == "cron") arguments.insert(arguments.end(), {"--cron", "deploy"});
    expect_golden("trust_" + who + ".txt", text_of(arguments));
  }
  expect_golden("trust.json", text_of({"trust", "--as", "bob", "--json"}));
}

TEST_F(CliGoldenTest, ABrokenConfigurationGrantsNoTrust) {
  tree.write("home/.config/coop/coop.toml",
             "[[users]]\nname = \"bob\"\ntrust = \"fulll\"\nmatch = [\"a:b\"]\n");
  const Ran ran = coop({"trust", "a:b"});
  EXPECT_EQ(ran.code, 125);
  EXPECT_NE(ran.error.find("coop.toml:3:9"), std::string::npos) << ran.error;
}

TEST_F(CliGoldenTest, Help) {
  EXPECT_EQ(coop({"policy", "--help"}).code, 0);
  EXPECT_NE(text_of({"policy", "--help"}).find("exit code: 1 when `check`"), std::string::npos);
  EXPECT_EQ(text_of({"help", "run"}), text_of({"run", "--help"}));
  EXPECT_EQ(text_of({"help", "policy", "show"}), text_of({"policy", "show", "--help"}));
  EXPECT_EQ(coop({"policy", "show", "--help"}).code, 0);
  EXPECT_EQ(coop({"trust", "--help"}).code, 0);
  EXPECT_EQ(coop({"config", "check", "--help"}).code, 0);
  EXPECT_EQ(coop({"policy", "shwo"}).code, 125);
  EXPECT_NE(coop({"policy", "shwo"}).error.find("did you mean show?"), std::string::npos);
  EXPECT_NE(coop({"policy", "show", "--orign"}).error.find("--origin"), std::string::npos);
}

TEST_F(CliGoldenTest, TheSchemaIsPrinted) {
  EXPECT_EQ(text_of({"policy", "schema"}),
            contents_of(std::string(COOP_SOURCE_DIRECTORY) + "/docs/schema/policy.schema.json"));
}

}  // namespace
}  // namespace coop::test
