// `coop policy explain` agrees with what a command finds.
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kernel/support.h"

namespace coop::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

// What a command can do with a path.
struct Finding {
  bool there = false;
  bool filled = false;  // a file that can be read, or a directory with something in it
  bool readable = false;
  bool writable = false;
};

constexpr const char* kProbe = R"sh(
while read -r path; do
  there=0; filled=0; readable=0; writable=0
  if [ -d "$path" ]; then
    there=1
    ls "$path" >/dev/null 2>&1 && readable=1
    [ -n "$(ls -A "$path" 2>/dev/null)" ] && filled=1
    (: > "$path/.coop-probe") 2>/dev/null && writable=1 && rm -f "$path/.coop-probe"
  elif [ -e "$path" ]; then
    there=1
    (exec 3< "$path") 2>/dev/null && readable=1 && filled=1
    (: >> "$path") 2>/dev/null && writable=1
  else
    (: > "$path") 2>/dev/null && writable=1 && rm -f "$path"
  fi
  echo "$there $filled $readable $writable"
done
)sh";

std::vector<Finding> findings_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<Finding> findings;
  for (Finding found; stream >> found.there >> found.filled >> found.readable >> found.writable;)
    findings.push_back(found);
  return findings;
}

// A home with a project in it, on a place that the host view shows.
class Home {
 public:
  Home() {
    for (const char* directory : {".ssh", ".cargo/bin", "other", "read", "layer"})
      make_directories(home_ / directory);
    for (const char* file :
         {"notes.txt", ".ssh/id_ed25519", ".cargo/bin/tool", "other/x", "read/x", "layer/x"})
      write_file(home_ / file, "x\n");
    write_file(home_ / ".gitconfig", "[user]\n\tname = Ann\n\temail = ann@example.com\n");
    make_directories(workspace_ / "src/deep");
    write_file(workspace_ / "src/file", "x\n");
    write_file(workspace_ / "hidden", "x\n");
    EXPECT_EQ(run_bare({"git", "init", "-q", workspace_.path()}).exit_code, 0);
  }

  const Workspace& workspace() const { return workspace_; }
  const TempDir& home() const { return home_; }
  RunOptions options() const {
    RunOptions options = workspace_.options();
    options.environment["HOME"] = home_.path();
    options.environment.erase("XDG_CONFIG_HOME");
    options.directory = workspace_.path();
    return options;
  }

  Arguments flags(const std::string& view) const {
    return in_view(view, {"--ro", home_ / "read", "--overlay", home_ / "layer", "--hide",
                          workspace_ / "hidden"});
  }

  Arguments paths() const {
    Arguments all{"/",
                  "/tmp",
                  "/tmp/new",
                  "/var/tmp",
                  "/run",
                  "/run/new",
                  "/proc",
                  "/proc/self/status",
                  "/proc/version",
                  "/proc/sys",
                  "/proc/keys",
                  "/dev",
                  "/dev/null",
                  "/dev/zero",
                  "/dev/sda",
                  "/dev/pts",
                  "/dev/shm",
                  "/etc",
                  "/etc/passwd",
                  "/etc/hosts",
                  "/etc/nsswitch.conf",
                  "/etc/gitconfig",
                  "/etc/ld.so.cache",
                  "/etc/ssl/certs",
                  "/usr",
                  "/usr/bin/env",
                  "/usr/new",
                  "/bin/sh",
                  "/sys",
                  "/opt",
                  "/work",
                  "/work/new",
                  "/work/src/file",
                  "/work/.git/config",
                  "/work/.git/hooks",
                  "/work/.git/objects",
                  "/work/hidden"};
    for (const char* name : {".ssh", ".ssh/id_ed25519", "notes.txt", ".gitconfig", ".cargo",
                             ".cargo/bin", ".cargo/bin/tool", "other", "other/x", "read", "read/x",
                             "layer", "layer/x", "layer/new", "new"})
      all.push_back(home_ / name);
    all.push_back(home_.path());
    for (const char* name : {"", "/src", "/src/file", "/src/new", "/.git", "/.git/config",
                             "/.git/hooks", "/.git/hooks/pre-commit", "/.git/objects", "/hidden"})
      all.push_back(workspace_.path() + name);
    return all;
  }

 private:
  Workspace workspace_{visible_place()};
  const TempDir& home_ = workspace_.around();
};

struct Question {
  std::string path;
  std::string verdict;
  std::string probed;  // where a command looks
};

std::vector<Question> explained(const Home& home, const std::string& view) {
  std::vector<Question> questions;
  for (const std::string& path : home.paths()) {
    Arguments words{"policy", "explain", "--json"};
    for (const std::string& flag : home.flags(view)) words.push_back(flag);
    words.push_back(path);
    const nlohmann::json json = json_of(run_coop(words, home.options()));
    if (json.is_null()) continue;
    const auto inside = json["inside"].get<std::string>();
    questions.push_back({path, json["verdict"].get<std::string>(), inside.empty() ? path : inside});
  }
  return questions;
}

// Whether the command's finding is what was explained.
bool agrees(const std::string& verdict, const Finding& found) {
  if (verdict == "denied") return !found.filled;
  if (found.there && !found.readable) return false;
  if (verdict == "readable") return !found.writable;
  return found.writable && (verdict == "scratch" || verdict == "writable");
}

KERNEL_TEST(KernelExplain, ANewGuardedFileWouldNotStay) {
  const Workspace workspace;
  const auto explain = [&](const std::string& name, const Arguments& flags = {}) {
    Arguments words{"policy", "explain", "-w", workspace.path()};
    words.insert(words.end(), flags.begin(), flags.end());
    words.push_back(workspace / name);
    return run_coop(words).out;
  };
  EXPECT_THAT(explain(".mcp.json"), testing::HasSubstr("quarantine"));
  EXPECT_THAT(explain(".mcp.json"), testing::HasSubstr("--allow-guarded .mcp.json"));
  // A bare word that is the name of a guard is no host.
  const Ran word = run_coop({"policy", "explain", "mise.toml"}, {.directory = workspace.path()});
  EXPECT_THAT(word.out, testing::HasSubstr("--allow-guarded mise.toml"));
  EXPECT_THAT(explain("plain"), testing::Not(testing::HasSubstr("quarantine")));
  EXPECT_THAT(explain(".mcp.json", {"--allow-guarded", ".mcp.json"}),
              testing::Not(testing::HasSubstr("quarantine")));
}

KERNEL_TEST(KernelExplain, EveryAnswerIsWhatACommandFinds) {
  const Home home;
  for (const std::string& view : kViews) {
    const std::vector<Question> questions = explained(home, view);
    ASSERT_EQ(questions.size(), home.paths().size());
    ASSERT_GE(questions.size(), 40U);
    RunOptions options = home.options();
    for (const Question& question : questions) options.input += question.probed + "\n";
    Arguments words{"run"};
    for (const std::string& flag : home.flags(view)) words.push_back(flag);
    words.insert(words.end(), {"--", "sh", "-c", kProbe});
    const Ran ran = run_coop(words, options);
    const std::vector<Finding> findings = findings_of(ran.out);
    ASSERT_EQ(findings.size(), questions.size()) << ran.out << ran.err;
    std::map<std::string, int> verdicts;
    for (std::size_t index = 0; index < questions.size(); ++index) {
      const auto& [path, verdict, probed] = questions[index];
      const Finding& found = findings[index];
      ++verdicts[verdict];
      EXPECT_TRUE(agrees(verdict, found))
          << view << ": " << path << " is " << verdict << " at " << probed << ", but there "
          << found.there << " filled " << found.filled << " readable " << found.readable
          << " writable " << found.writable;
    }
    for (const char* verdict : {"denied", "readable", "scratch", "writable"})
      EXPECT_GE(verdicts[verdict], 3) << view << ": " << verdict;  // each kind was tried
    // What was private is not on the host.
    EXPECT_EQ(read_file(home.home() / "layer/x"), "x\n");
    EXPECT_FALSE(exists(home.home() / "new"));
  }
}

KERNEL_TEST(KernelExplain, AFileThatTheHostHasIsNotCalledPrivate) {
  const Home home;
  const auto text = [&](const std::string& view, const std::string& path) {
    return run_coop({"policy", "explain", "--view", view, path}, home.options()).out;
  };
  EXPECT_THAT(text("host", home.home() / "notes.txt"), HasSubstr("denied by home list"));
  EXPECT_THAT(text("host", home.home() / ".ssh"), HasSubstr("denied by built-in secrets"));
  EXPECT_THAT(text("host", home.home() / ".gitconfig"), HasSubstr("readable at"));
  EXPECT_THAT(text("minimal", "/tmp"), HasSubstr("private and writable at /tmp"));
  EXPECT_THAT(text("minimal", "/proc"), HasSubstr("readable at /proc"));
  EXPECT_THAT(text("minimal", "/work/new"), HasSubstr("writable at /work/new by --workspace"));
}

// The home directory is no workspace unless it is named, and questions need none.
KERNEL_TEST(KernelExplain, QuestionsAreAnsweredInTheHomeDirectory) {
  const Home home;
  RunOptions options = home.options();
  options.directory = home.home().path();
  const Ran refused = run_coop({"run", "--", "true"}, options);
  EXPECT_EQ(refused.exit_code, 125);  // control
  EXPECT_THAT(refused.err, HasSubstr("is your home directory"));
  const Ran path = run_coop({"policy", "explain", "--view", "host", "~/.ssh"}, options);
  EXPECT_EQ(path.exit_code, 0) << path.err;
  EXPECT_THAT(path.out, HasSubstr("denied by built-in secrets"));
  EXPECT_THAT(path.err, HasSubstr("no workspace unless it is named"));
  EXPECT_EQ(run_coop({"policy", "explain", "example.com"}, options).exit_code, 0);
  EXPECT_THAT(run_coop({"policy", "explain", "nothing"}, options).err,
              testing::HasSubstr("for a path write ./nothing"));
  const Ran tools = run_coop({"tool", "--list"}, options);
  EXPECT_EQ(tools.exit_code, 0) << tools.err;
  EXPECT_THAT(tools.out, HasSubstr("read_file"));
}

// What `policy show` prints is a policy file, whatever the files in force say.
KERNEL_TEST(KernelExplain, ShownPoliciesCanBeCheckedAndImported) {
  const Home home;
  make_directories(home.home() / ".config/coop");
  write_file(home.home() / ".config/coop/policy.toml",
             "[sandbox]\nmemory = \"1g\"\nhidden_paths = [\"~/notes.txt\"]\nrequire = [\"proc\"]\n"
             "network = { allow = [\"example.com\"] }\nenv = { set = { A = \"1\" } }\n");
  RunOptions options = home.options();
  options.environment["XDG_CONFIG_HOME"] = home.home() / ".config";
  for (const Arguments& flags : {Arguments{}, Arguments{"--origin"}}) {
    Arguments words{"policy", "show"};
    words.insert(words.end(), flags.begin(), flags.end());
    const Ran shown = run_coop(words, options);
    EXPECT_THAT(shown.out, HasSubstr("allow = ["));
    RunOptions piped = options;
    piped.input = shown.out;
    const Ran checked = run_coop({"policy", "check", "-"}, piped);
    EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err << shown.out;
    const Ran imported = run_coop({"policy", "import", "-", "--dry-run"}, piped);
    EXPECT_EQ(imported.exit_code, 0) << imported.err;
    EXPECT_THAT(imported.out, Not(HasSubstr("\n- memory")));
  }
  options.input = "[sandbox]\nmemry = 2\n";
  EXPECT_EQ(run_coop({"policy", "check", "-"}, options).exit_code, 1);  // control
}

// In place of "change to the working directory: ENOENT".
KERNEL_TEST(KernelExplain, APlaceOfSecretsIsNoWorkspaceAndTheErrorSaysSo) {
  const Home home;
  RunOptions options = home.options();
  options.directory = home.home() / ".ssh";
  for (const std::string& view : kViews) {
    const Ran ran = run_coop({"run", "--view", view, "--", "pwd"}, options);
    EXPECT_EQ(ran.exit_code, 125);
    EXPECT_THAT(ran.err, HasSubstr("is a place of secrets (private keys"));
    // What the hint says works.
    const Ran granted =
        run_coop({"run", "--view", view, "--rw", options.directory, "--", "ls"}, options);
    EXPECT_EQ(granted.out, "id_ed25519\n") << granted.err;
  }
}

// The file and line that set a limit, not the flag that could have.
KERNEL_TEST(KernelExplain, ThePlanNamesTheFileThatSetALimit) {
  const Home home;
  make_directories(home.home() / ".config/coop");
  write_file(home.home() / ".config/coop/policy.toml",
             "[sandbox]\nopen_files = 100\ntmp_size = \"1m\"\n");
  RunOptions options = home.options();
  options.environment["XDG_CONFIG_HOME"] = home.home() / ".config";
  const std::string plan = run_coop({"plan", "--why"}, options).out;
  EXPECT_THAT(plan, HasSubstr("limit open files to 100\n        " + home.home().path() +
                              "/.config/coop/policy.toml:2: setrlimit"));
  EXPECT_THAT(plan, HasSubstr("policy.toml:3: private, limited in size"));
  const std::string flag = run_coop({"plan", "--why", "--open-files", "50"}, options).out;
  EXPECT_THAT(flag, HasSubstr("limit open files to 50\n        --open-files: setrlimit"));
}

KERNEL_TEST(KernelPlan, EqualInputGivesEqualTextWithoutSecrets) {
  const Workspace workspace;
  RunOptions options = workspace.options();
  options.environment["COOPTEST_KEY"] = "s3cret-passed";
  for (const char* const form : {"--why", "--json"}) {
    const Arguments words{coop_binary(),  "plan",           form,
                          "-w",           workspace.path(), "--env",
                          "A=s3cret-set", "--pass-env",     "COOPTEST_*"};
    const Ran first = run_bare(words, options);
    ASSERT_EQ(first.exit_code, 0) << first.err;
    EXPECT_NE(first.out.find("COOPTEST_KEY"), std::string::npos);  // control: it would be passed
    EXPECT_EQ(first.out.find("s3cret"), std::string::npos) << first.out;
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // the time has seconds
    EXPECT_EQ(run_bare(words, options).out, first.out);
  }
  const Ran inside =
      workspace.run(shell("echo $COOPTEST_KEY"), {"--pass-env", "COOPTEST_*"}, options);
  EXPECT_EQ(inside.out, "s3cret-passed\n");
}

}  // namespace
}  // namespace coop::tests
