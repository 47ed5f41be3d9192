// Tools of each trust, really called: in the sandbox, or on the host for the owner.
#include "tools/session.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <mutex>
#include <thread>

#include "support/harness.h"

namespace coop::tools {
namespace {

using coop::tests::Workspace;
using policy::TrustLevel;

std::unique_ptr<Session> open_session(const Workspace& workspace,
                                      TrustLevel trust = TrustLevel::full,
                                      OnLeak on_leak = OnLeak::redact) {
  Result<std::unique_ptr<Session>> session = Session::open(
      {.trust = trust, .policy = Policy{.workspace = workspace.path()}, .on_leak = on_leak});
  if (session) return std::move(*session);
  ADD_FAILURE() << to_text(session.error());
  std::abort();
}

// A call of each tool that works for whoever may use it. fetch_url needs a network: refused by the
// guard, which is behind the trust.
Json good_arguments(std::string_view tool) {
  if (tool == "bash") return {{"command", "echo hello"}};
  if (tool == "exec") return {{"program", "echo"}, {"arguments", {"hello"}}};
  if (tool == "write_file") return {{"path", "new.txt"}, {"content", "x"}};
  if (tool == "edit_file") return {{"path", "file.txt"}, {"old", "hello"}, {"new", "hello"}};
  if (tool == "list_files") return Json::object();
  if (tool == "search_files") return {{"pattern", "hello"}};
  if (tool == "fetch_url") return {{"url", "http://127.0.0.1/"}};
  return {{"path", "file.txt"}};
}

KERNEL_TEST(ToolSession, EachTrustMayUseItsToolsAndNoOther) {
  for (const TrustLevel trust : {TrustLevel::owner, TrustLevel::full, TrustLevel::inner,
                                 TrustLevel::familiar, TrustLevel::public_}) {
    const Workspace workspace;
    coop::tests::write_file(workspace / "file.txt", "hello\n");
    const std::unique_ptr<Session> session = open_session(workspace, trust);
    EXPECT_EQ(session->sandboxed(), trust != TrustLevel::owner);
    for (const ToolInfo& tool : tool_table()) {
      const ToolOutput output = session->call(tool.name, good_arguments(tool.name));
      const bool may = policy::may_use(trust, tool.name);
      const std::string what = std::string(to_text(trust)) + " " + std::string(tool.name);
      if (!may) {
        EXPECT_TRUE(output.failed) << what;
        EXPECT_NE(output.text.find("needs the trust " + std::string(to_text(tool.least))),
                  std::string::npos)
            << what << ": " << output.text;
      } else if (tool.name == "fetch_url") {
        // The owner meets the address guard, others already the policy.
        EXPECT_TRUE(output.failed) << what;
        const char* rule = trust == TrustLevel::owner ? "loopback" : "no network";
        EXPECT_NE(output.text.find(rule), std::string::npos) << output.text;
      } else {
        EXPECT_FALSE(output.failed) << what << ": " << output.text;
      }
    }
  }
}

KERNEL_TEST(ToolSession, CommandsOfOthersAreInTheSandboxAndTheOwnersAreNot) {
  const Workspace workspace;
  const Json command{{"command", "hostname; cat /etc/passwd | wc -l"}};
  const ToolOutput inside = open_session(workspace, TrustLevel::full)->call("bash", command);
  EXPECT_NE(inside.text.find("coop-"), std::string::npos) << inside.text;
  const ToolOutput outside = open_session(workspace, TrustLevel::owner)->call("bash", command);
  EXPECT_EQ(outside.text.find("coop-"), std::string::npos) << outside.text;
}

KERNEL_TEST(ToolSession, ACommandsEndIsInTheResult) {
  const Workspace workspace;
  const std::unique_ptr<Session> session = open_session(workspace);
  const ToolOutput failed = session->call("bash", {{"command", "echo out; echo err >&2; exit 3"}});
  EXPECT_TRUE(failed.failed);
  EXPECT_EQ(failed.text, "out\nerr\n[exit code 3]");
  EXPECT_EQ(failed.structured["exit_code"], 3);
  const ToolOutput late = session->call("bash", {{"command", "sleep 60"}, {"timeout", 1}});
  EXPECT_EQ(late.structured["outcome"], "timed_out");
  const ToolOutput much =
      session->call("bash", {{"command",
                              "echo first; head -c 1000000 /dev/zero | tr '\\0' x; "
                              "echo; echo last"}});
  EXPECT_LT(much.text.size(), 110000U);
  EXPECT_TRUE(much.text.starts_with("first\n"));
  EXPECT_TRUE(much.text.ends_with("last\n"));
  EXPECT_NE(much.text.find("bytes cut"), std::string::npos);
}

KERNEL_TEST(ToolSession, WorkingDirectoriesAreInTheWorkspace) {
  const Workspace workspace;
  coop::tests::make_directories(workspace / "sub");
  coop::tests::make_symlink("/usr", workspace / "usr");
  const std::unique_ptr<Session> session = open_session(workspace);
  EXPECT_EQ(session->call("bash", {{"command", "pwd"}, {"directory", "sub"}}).text, "/work/sub\n");
  for (const char* directory : {"..", "/etc", "missing", "usr", "payload"}) {
    const ToolOutput output = session->call("bash", {{"command", "pwd"}, {"directory", directory}});
    EXPECT_TRUE(output.failed) << directory;
    EXPECT_NE(output.text.find("working directory"), std::string::npos) << output.text;
  }
}

KERNEL_TEST(ToolSession, ToolsOfTheWorkspaceAreOnThePath) {
  const Workspace workspace;
  coop::tests::make_directories(workspace / "tools/bin");
  coop::tests::write_file(workspace / "tools/bin/mine", "#!/bin/sh\necho mine\n");
  ::chmod((workspace / "tools/bin/mine").c_str(), 0755);
  const std::unique_ptr<Session> session = open_session(workspace);
  EXPECT_EQ(session->call("bash", {{"command", "mine"}}).text, "mine\n");
  EXPECT_EQ(session->call("exec", {{"program", "mine"}}).text, "mine\n");
  // They take no other program's place, and the owner does not run what others have written.
  coop::tests::write_file(workspace / "tools/bin/ls", "#!/bin/sh\necho mine\n");
  ::chmod((workspace / "tools/bin/ls").c_str(), 0755);
  EXPECT_NE(session->call("bash", {{"command", "ls"}}).text, "mine\n");
  const std::unique_ptr<Session> owner = open_session(workspace, TrustLevel::owner);
  EXPECT_NE(owner->call("bash", {{"command", "ls"}}).text, "mine\n");
  EXPECT_TRUE(owner->call("bash", {{"command", "mine"}}).failed);
}

KERNEL_TEST(ToolSession, TheOwnersToolsAreNotLedOutByALinkOfOthers) {
  const Workspace workspace;
  const std::string target = workspace.around().path() + "/target";
  coop::tests::write_file(target, "before");
  coop::tests::make_symlink(target, workspace / "report.md");
  const std::unique_ptr<Session> owner = open_session(workspace, TrustLevel::owner);
  EXPECT_FALSE(owner->call("write_file", {{"path", target}, {"content", "meant"}}).failed);
  const ToolOutput wrote =
      owner->call("write_file", {{"path", "report.md"}, {"content", "not meant"}});
  EXPECT_TRUE(wrote.failed);
  EXPECT_EQ(wrote.structured["denials"][0]["rule"], "links of the workspace");
  EXPECT_TRUE(owner->call("read_file", {{"path", "report.md"}}).failed);
  EXPECT_EQ(coop::tests::read_file(target), "meant");
}

KERNEL_TEST(ToolSession, WhoTheAgentIsCommandsDoNotWriteEither) {
  const Workspace workspace;
  coop::tests::write_file(workspace / "Soul.md", "me");
  const std::unique_ptr<Session> session = open_session(workspace);
  EXPECT_FALSE(session->call("bash", {{"command", "echo x > other.md"}}).failed);  // control
  EXPECT_TRUE(session->call("bash", {{"command", "echo x > Soul.md"}}).failed);
  EXPECT_TRUE(session->call("bash", {{"command", "mv Soul.md away.md"}}).failed);
  EXPECT_TRUE(session->call("write_file", {{"path", "USER.md/x"}, {"content", "x"}}).failed);
  EXPECT_EQ(coop::tests::read_file(workspace / "Soul.md"), "me");
}

KERNEL_TEST(ToolSession, AFileWithASecretIsNotSentInPart) {
  const Workspace workspace;
  coop::tests::write_file(workspace / "key", std::string("gh") + "p_" + std::string(36, 'a'));
  const ToolOutput output = open_session(workspace)->call("send_file", {{"path", "key"}});
  EXPECT_TRUE(output.failed);
  EXPECT_FALSE(output.structured.contains("data"));
}

KERNEL_TEST(ToolSession, SecretsThatThePolicySetsAreKnown) {
  const Workspace workspace;
  Policy policy{.workspace = workspace.path()};
  policy.set_environment["MY_TOKEN"] = "plain-internal-value-123";
  const std::unique_ptr<Session> session = Session::open({.policy = policy}).value();
  const ToolOutput output = session->call("bash", {{"command", "echo $MY_TOKEN"}});
  EXPECT_EQ(output.text.find("plain-internal"), std::string::npos) << output.text;
  EXPECT_NE(output.text.find("MY_TOKEN"), std::string::npos) << output.text;
}

// One call after the other has it, and none is kept waiting by a sandbox that was made ahead.
KERNEL_TEST(ToolSession, APublishedPortServesEachCall) {
  const Workspace workspace;
  Policy policy;
  policy.workspace = workspace.path();
  policy.publish = {{.host = 18431, .sandbox = 8000, .origin = "--publish"}};
  const std::unique_ptr<Session> session = Session::open({.policy = policy}).value();
  session->warm_up();
  for (int count = 0; count < 3; ++count) {
    const ToolOutput output = session->call("bash", {{"command", "echo served"}});
    EXPECT_FALSE(output.failed) << output.text;
    EXPECT_NE(output.text.find("served"), std::string::npos) << output.text;
  }
  EXPECT_FALSE(Pool::create(policy, 1).has_value());
}

KERNEL_TEST(ToolSession, VariablesThatInjectCodeAreRefused) {
  const Workspace workspace;
  const std::unique_ptr<Session> session = open_session(workspace);
  EXPECT_EQ(session
                ->call("exec", {{"program", "sh"},
                                {"arguments", {"-c", "echo $A"}},
                                {"environment", {{"A", "b"}}}})
                .text,
            "b\n");  // control
  for (const char* name : {"LD_PRELOAD", "BASH_ENV", "PYTHONPATH", "NODE_OPTIONS", "BASH_FUNC_ls%%",
                           "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "LESSOPEN", "PS4"}) {
    const ToolOutput output =
        session->call("exec", {{"program", "true"}, {"environment", {{name, "x"}}}});
    EXPECT_TRUE(output.failed) << name;
    EXPECT_NE(output.text.find("injects code"), std::string::npos) << output.text;
    EXPECT_EQ(output.text.find("--unsafe-env"), std::string::npos) << output.text;
  }
  EXPECT_TRUE(
      session->call("exec", {{"program", "true"}, {"environment", {{"A\nB", "x"}}}}).failed);
}

KERNEL_TEST(ToolSession, WithoutASandboxNothingRuns) {
  const Workspace workspace;
  Policy policy{.workspace = workspace.path()};
  policy.network = NetworkMode::veth;  // which this version cannot do
  Result<std::unique_ptr<Session>> session = Session::open({.policy = policy});
  if (!session) return;  // refused even sooner
  const ToolOutput output = (*session)->call("bash", {{"command", "touch ran"}});
  EXPECT_TRUE(output.failed);
  EXPECT_FALSE(coop::tests::exists(workspace / "ran"));
}

// Put together here, so that no scanner of sources takes it for one.
std::string some_secret() { return std::string("gh") + "p_" + std::string(36, 'a'); }

KERNEL_TEST(ToolSession, ASecretInTheArgumentsStopsTheCall) {
  const Workspace workspace;
  const std::unique_ptr<Session> session = open_session(workspace);
  const ToolOutput output =
      session->call("bash", {{"command", "touch ran; echo " + some_secret()}});
  EXPECT_TRUE(output.failed);
  EXPECT_NE(output.text.find("was not made"), std::string::npos) << output.text;
  EXPECT_FALSE(coop::tests::exists(workspace / "ran"));
}

KERNEL_TEST(ToolSession, ASecretInAResultIsReplacedWithheldOrEndsTheSession) {
  const Workspace workspace;
  coop::tests::write_file(workspace / "token", "token: " + some_secret() + "\n");
  const Json read{{"command", "cat token; base64 -w0 token"}};
  for (const OnLeak on_leak : {OnLeak::redact, OnLeak::block, OnLeak::terminate}) {
    const std::unique_ptr<Session> session = open_session(workspace, TrustLevel::full, on_leak);
    const ToolOutput output = session->call("bash", read);
    const std::string all = output.text + output.structured.dump();
    EXPECT_EQ(all.find(some_secret()), std::string::npos) << all;
    EXPECT_NE(output.text.find("leak guard"), std::string::npos) << output.text;
    EXPECT_EQ(output.failed, on_leak != OnLeak::redact);
    EXPECT_EQ(session->terminated(), on_leak == OnLeak::terminate);
    const ToolOutput next = session->call("bash", {{"command", "true"}});
    EXPECT_EQ(next.failed, on_leak == OnLeak::terminate) << next.text;
    EXPECT_EQ(session->call("read_file", {{"path", "token"}}).text.find(some_secret()),
              std::string::npos);
  }
}

KERNEL_TEST(ToolSession, WhatAppearsLaterAndMatchesAPatternIsHiddenToo) {
  const Workspace workspace;
  Policy policy{.workspace = workspace.path()};
  policy.rules.push_back(PathRule{.kind = RuleKind::hide,
                                  .path = workspace / "*.env",
                                  .if_missing = Missing::skip,
                                  .origin = "policy.toml:3",
                                  .pattern = true});
  Result<std::unique_ptr<Session>> opened = Session::open({.policy = policy});
  ASSERT_TRUE(opened.has_value()) << to_text(opened.error());
  const std::unique_ptr<Session> session = std::move(*opened);
  session->warm_up();
  EXPECT_FALSE(session->call("bash", {{"command", "true"}}).failed);
  // By somebody else, while a prepared sandbox waits.
  coop::tests::write_file(workspace / "later.env", "KEY=s3cret\n");
  coop::tests::write_file(workspace / "plain", "visible\n");
  const std::string read = session->call("bash", {{"command", "cat later.env plain"}}).text;
  EXPECT_EQ(read.find("s3cret"), std::string::npos) << read;
  EXPECT_NE(read.find("visible"), std::string::npos) << read;  // control
  const ToolOutput file = session->call("read_file", {{"path", "later.env"}});
  EXPECT_TRUE(file.failed);
  EXPECT_EQ(file.structured["denials"][0]["rule"], "policy.toml:3") << file.structured.dump();
  EXPECT_EQ(session->call("search_files", {{"pattern", "s3cret"}}).text.find("KEY"),
            std::string::npos);
}

KERNEL_TEST(ToolSession, WithoutASandboxEveryAnswerSaysSo) {
  const Workspace workspace;
  const std::unique_ptr<Session> off =
      Session::open({.trust = TrustLevel::inner,
                     .policy = Policy{.workspace = workspace.path()},
                     .sandbox_enabled = false})
          .value();
  EXPECT_EQ(off->isolation(), Isolation::disabled);
  EXPECT_NE(off->instructions().find("DISABLED"), std::string::npos);
  EXPECT_EQ(off->call("bash", {{"command", "true"}}).structured["isolation"], "disabled");
  const std::unique_ptr<Session> owner = open_session(workspace, TrustLevel::owner);
  EXPECT_EQ(owner->call("bash", {{"command", "true"}}).structured["isolation"], "bypass");
  const std::unique_ptr<Session> inside = open_session(workspace);
  EXPECT_FALSE(inside->call("bash", {{"command", "true"}}).structured.contains("isolation"));
}

KERNEL_TEST(ToolSession, ASecretWithQuotesInItIsFoundInArgumentsToo) {
  const Workspace workspace;
  ::setenv("COOP_TEST_SECRET", "a\"b\\c-0123456789", 1);
  const std::unique_ptr<Session> session = open_session(workspace);
  ::unsetenv("COOP_TEST_SECRET");
  const ToolOutput output =
      session->call("write_file", {{"path", "x"}, {"content", "k=a\"b\\c-0123456789"}});
  EXPECT_TRUE(output.failed) << output.text;
  EXPECT_FALSE(coop::tests::exists(workspace / "x"));
}

KERNEL_TEST(ToolSession, OutputArrivesWhileTheCommandRunsAndACancelEndsIt) {
  const Workspace workspace;
  const std::unique_ptr<Session> session = open_session(workspace);
  const int cancel = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::string live;
  const CallHooks hooks{.progress =
                            [&](std::string_view piece) {
                              live += piece;
                              ::eventfd_write(cancel, 1);
                            },
                        .cancel_fd = cancel};
  // More than the leak guard holds back.
  const ToolOutput output =
      session->call("bash", {{"command", "yes yyyy | head -c 100000; sleep 60"}}, hooks);
  ::close(cancel);
  EXPECT_FALSE(live.empty());
  EXPECT_TRUE(output.failed);
  EXPECT_EQ(output.structured["outcome"], "signalled") << output.structured.dump();
}

KERNEL_TEST(ToolSession, SixteenCallsAtOnce) {
  const Workspace workspace;
  const std::unique_ptr<Session> session = open_session(workspace);
  std::mutex mutex;
  int good = 0;
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 16; ++number)
      threads.emplace_back([&, number] {
        const std::string text = std::to_string(number);
        const ToolOutput ran = session->call("bash", {{"command", "echo " + text}});
        const ToolOutput wrote =
            session->call("write_file", {{"path", "file" + text}, {"content", text}});
        const std::lock_guard lock(mutex);
        good += ran.text == text + "\n" && !wrote.failed ? 1 : 0;
      });
  }
  EXPECT_EQ(good, 16);
}

}  // namespace
}  // namespace coop::tools
