// --hide-secrets: secrets by name in the workspace itself.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <array>

#include "kernel/support.h"

namespace coop::tests {
namespace {

constexpr std::initializer_list<int> kConcealed{ENOENT, EACCES};
const std::string kPrivate = "-----BEGIN PRIVATE KEY-----\n";
const std::string kPublic = "-----BEGIN CERTIFICATE-----\n";

class Project {
 public:
  Project() {
    for (const char* directory :
         {"sub/deep", "node_modules/certs", ".venv/lib/site-packages/certifi", "config", ".aws"})
      make_directories(workspace_ / directory);
    for (const char* name : kSecrets) write_file(workspace_ / name, kPrivate);
    for (const char* name : kPublicNames) write_file(workspace_ / name, kPublic);
    write_file(workspace_ / "node_modules/certs/test.pem", kPrivate);
  }
  static constexpr std::array kSecrets{".env",
                                       "sub/deep/.env.local",
                                       "server.pem",
                                       "sub/id_ed25519",
                                       "sub/deep/tls.key",
                                       "config/prod.env",
                                       ".aws/credentials"};
  static constexpr std::array kPublicNames{"ca.pem",
                                           ".env.example",
                                           "sub/id_generator.py",
                                           "sub/id_ed25519.pub",
                                           "main.c",
                                           ".venv/lib/site-packages/certifi/cacert.pem"};

  const Workspace& workspace() const { return workspace_; }
  std::string operator/(const std::string& name) const { return workspace_ / name; }
  Ran read(const std::string& name, Arguments flags) const {
    return workspace_.inside({"read", name}, flags, workspace_.options());
  }

 private:
  Workspace workspace_{visible_place()};
};

KERNEL_TEST(EscapeWorkspaceSecrets, ByTheirNames) {
  const Project project;
  for (const std::string& view : kViews) {
    for (const char* name : Project::kSecrets) {
      EXPECT_TRUE(escaped(project.read(name, in_view(view)))) << name;  // control
      EXPECT_TRUE(blocked(project.read(name, in_view(view, {"--hide-secrets"})), kConcealed))
          << name;
    }
    for (const char* name : Project::kPublicNames)
      EXPECT_TRUE(escaped(project.read(name, in_view(view, {"--hide-secrets"})))) << name;
    EXPECT_TRUE(
        escaped(project.read("node_modules/certs/test.pem", in_view(view, {"--hide-secrets"}))));
  }
  // A rule that names one shows it.
  EXPECT_TRUE(escaped(project.read(".env", {"--hide-secrets", "--rw", project / ".env"})));
}

KERNEL_TEST(EscapeWorkspaceSecrets, OneThatAppearedSinceTheLastRun) {
  const Project project;
  const Arguments flags{"--hide-secrets"};
  EXPECT_TRUE(escaped(project.read("main.c", flags)));
  make_directories(project / "new/place");
  write_file(project / "new/place/.env", "KEY=1");
  EXPECT_TRUE(escaped(project.read("new/place/.env", {})));  // control
  EXPECT_TRUE(blocked(project.read("new/place/.env", flags), kConcealed));
}

KERNEL_TEST(EscapeWorkspaceSecrets, MovedLinkedAndLocked) {
  const Project project;
  const Arguments flags{"--hide-secrets"};
  ASSERT_EQ(::chmod((project / "config").c_str(), 0), 0);
  make_symlink("sub/settings", project / "link.env");
  write_file(project / "sub/settings", "KEY=1");
  const Workspace& workspace = project.workspace();
  const auto run = [&](const std::string& script, const Arguments& with) {
    return workspace.run(shell(script), with, workspace.options());
  };
  // Control: without the flag each of these reads a secret.
  EXPECT_EQ(run("cat link.env; chmod 755 config; cat config/prod.env; chmod 0 config", {}).out,
            "KEY=1" + kPrivate);
  const std::string attack =
      "mv sub moved; mv .env visible; ln .env hard; cp .env copy; mv .aws node_modules/aws; "
      "chmod 755 config; mv config node_modules/; cat link.env sub/settings";
  EXPECT_EQ(run(attack, flags).out, "");
  // The next run reads whatever has another name now.
  const Ran next = run(
      "cat visible hard copy moved/deep/.env.local moved/id_ed25519 node_modules/aws/credentials "
      "node_modules/config/prod.env config/prod.env",
      flags);
  EXPECT_EQ(next.out, "");
  EXPECT_EQ(read_file(project / ".env"), kPrivate);
}

KERNEL_TEST(EscapeWorkspaceSecrets, InAnotherCaseOrUnderAnotherName) {
  const Project project;
  const Arguments flags{"--hide-secrets"};
  for (const char* name :
       {".ENV", "sub/.Env.Local", "Server.PEM", "sub/ID_RSA", "Credentials.json"})
    write_file(project / name, kPrivate);
  for (const auto& [from, to] :
       {std::pair(".env", "notes.txt"), std::pair("server.pem", "node_modules/certs/readme"),
        std::pair(".aws/credentials", "sub/deep/plain"), std::pair("main.c", "other.c")})
    std::filesystem::create_hard_link(project / from, project / to);
  for (const char* name : {".ENV", "sub/.Env.Local", "Server.PEM", "sub/ID_RSA", "Credentials.json",
                           "notes.txt", "node_modules/certs/readme", "sub/deep/plain"}) {
    EXPECT_TRUE(escaped(project.read(name, {}))) << name;  // control
    EXPECT_TRUE(blocked(project.read(name, flags), kConcealed)) << name;
  }
  EXPECT_TRUE(escaped(project.read("other.c", flags)));  // a link that is no secret
  write_file(project / ".ENV.EXAMPLE", "KEY=");
  EXPECT_TRUE(escaped(project.read(".ENV.EXAMPLE", flags)));
}

// An editor of the host saves by rename, which ends the mount that hides the file. It is hidden again at once, also when it
// was away for a while.
KERNEL_TEST(EscapeWorkspaceSecrets, ReplacedByTheHostDuringTheRun) {
  const Project project;
  for (const Arguments& flags :
       {Arguments{"--hide-secrets"}, Arguments{"--hide", project / ".env"}, Arguments{}}) {
    for (const char* name : {"ready", "go", "got"}) ::unlink((project / name).c_str());
    Arguments command{coop_binary(), "run", "-w", project.workspace().path()};
    command.insert(command.end(), flags.begin(), flags.end());
    command.insert(command.end(), {"--", "sh", "-c",
                                   "touch ready; while [ ! -e go ]; do sleep 0.01; done;"
                                   " cat .env sub/id_ed25519 > got; true"});
    Process coop(command, project.workspace().options());
    ASSERT_TRUE(eventually([&] { return exists(project / "ready"); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ASSERT_EQ(run_bare({"sh", "-ec",
                        "cp .env new; echo NEW >> new; mv new .env; mv sub/id_ed25519 away;"
                        " cp away other; sleep 0.2; mv other sub/id_ed25519; rm away"},
                       {.directory = project.workspace().path()})
                  .exit_code,
              0);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    write_file(project / "go", "");
    EXPECT_EQ(coop.finish().exit_code, 0);
    const std::string got = read_file(project / "got");
    // Without a flag nothing is hidden: the control.
    EXPECT_EQ(got.contains("NEW"), flags.empty()) << got;
    if (flags.size() != 2) {
      EXPECT_EQ(got.contains("PRIVATE"), flags.empty()) << got;
    }
  }
}

// coop.toml gives the trust; below full the secrets are hidden without a word.
KERNEL_TEST(EscapeWorkspaceSecrets, HiddenFromPeopleBelowFullTrust) {
  const Project project;
  const std::string config = project.workspace().around() / "coop.toml";
  write_file(config, "[sandbox]\nenabled = true\nworkspace = \"" + project.workspace().path() +
                         "\"\n[[users]]\nname = \"ann\"\ntrust = \"full\"\nmatch = [\"a:1\"]\n"
                         "[[users]]\nname = \"bob\"\ntrust = \"inner\"\nmatch = [\"b:1\"]\n");
  const auto read = [&](const std::string& user, const std::string& name) {
    return run_coop({"run", "--config", config, "--as", user, "--", "./payload", "read", name},
                    project.workspace().options());
  };
  EXPECT_TRUE(escaped(read("ann", ".env")));  // control
  EXPECT_TRUE(escaped(read("bob", "main.c")));
  EXPECT_TRUE(blocked(read("bob", ".env"), kConcealed));
  const auto tool = [&](const std::string& user, const std::string& name) {
    return run_coop(
        {"tool", "--config", config, "--as", user, "read_file", R"({"path": ")" + name + R"("})"},
        project.workspace().options());
  };
  EXPECT_THAT(tool("bob", "main.c").out, testing::HasSubstr("BEGIN CERTIFICATE"));  // control
  EXPECT_THAT(tool("bob", "server.pem").out + tool("bob", "server.pem").err,
              testing::HasSubstr("hidden"));
  // Who assigns the trust may say otherwise; the user's own policy does not.
  const std::string text = read_file(config);
  write_file(config, "[sandbox]\nhide_secrets = false\n" + text.substr(text.find("enabled")));
  EXPECT_TRUE(escaped(read("bob", ".env")));
}

// git needs its settings, so they stay visible; the run says so.
KERNEL_TEST(EscapeWorkspaceSecrets, ATokenInGitsSettingsIsNamed) {
  const Workspace workspace;
  const auto notes = [&](const std::string& url, const Arguments& flags) {
    run_bare({"sh", "-c", "rm -rf .git; git init -q . && git remote add origin " + url},
             {.directory = workspace.path()});
    const Ran ran = workspace.run({"true"}, flags);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran.err.contains(".git/config has a token");
  };
  EXPECT_TRUE(notes("https://TOKEN@example.com/x.git", {"-v", "--hide-secrets"}));
  EXPECT_FALSE(notes("https://TOKEN@example.com/x.git", {"-v"}));
  EXPECT_FALSE(notes("https://example.com/x@y.git", {"-v", "--hide-secrets"}));
  EXPECT_FALSE(notes("ssh://git@example.com/x.git", {"-v", "--hide-secrets"}));
}

}  // namespace
}  // namespace coop::tests
