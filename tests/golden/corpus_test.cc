// Every file of tests/corpus: bad ones give the finding that their first line expects, good ones
// none, and the output of `coop config check` for each is a golden file.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "golden/golden.h"
#include "policy/people/config.h"
#include "policy/people/config_checks.h"

namespace coop::policy {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::string> kEnvironment{{"HOME", "/home/ann"}};
const Surroundings kSurroundings{.home = "/home/ann", .environment = kEnvironment, .base = "/srv"};

std::vector<fs::path> files_of(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry :
       fs::directory_iterator(std::string(COOP_SOURCE_DIRECTORY) + "/tests/corpus/" + folder))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

// A machine that can sandbox, has docker, and has the paths of the good files.
CheckFacts machine() {
  CheckFacts facts;
  for (const char* name : {"user", "mount", "pid", "net", "ipc", "uts", "cgroup"})
    facts.host.namespaces[name] = Feature{.available = true};
  facts.host.landlock_abi = 7;
  facts.host.seccomp.available = true;
  facts.host.cgroup.kind = CgroupKind::v2;
  facts.host.cgroup.unified = "/sys/fs/cgroup/user";
  facts.host.cgroup.directories = {{"memory", "/sys/fs/cgroup/user"},
                                   {"pids", "/sys/fs/cgroup/user"},
                                   {"cpu", "/sys/fs/cgroup/user"}};
  facts.host.pasta.available = true;
  facts.can_sandbox = true;
  facts.isolation = "linux (namespaces + landlock + seccomp)";
  facts.programs = {"docker"};
  for (const char* path : {"/srv", "/home/user/projects/myapp"})
    facts.host.paths[path] = PathFact{
        .kind = PathKind::directory, .target_kind = PathKind::directory, .canonical = path};
  return facts;
}

Findings findings_of_config(const fs::path& file) {
  Findings findings;
  const Config config =
      read_config(test::contents_of(file), file.filename(), kSurroundings, findings);
  const Findings more = check_config(config, machine());
  findings.insert(findings.end(), more.begin(), more.end());
  return findings;
}

Findings findings_of_policy(const fs::path& file) {
  Findings findings;
  const Source source{.file = file.filename(),
                      .surroundings = {.home = "/home/ann", .environment = kEnvironment}};
  read_policy(test::contents_of(file), source, findings);
  return findings;
}

// The first line of a bad file: "# expect: SEVERITY CHECK [LINE] [words of the message or fix]".
struct Expected {
  std::string severity{};
  std::string check{};
  int line = 0;
  std::string words{};
};

Expected expectation(const fs::path& file) {
  std::istringstream text(test::contents_of(file));
  std::string first;
  std::getline(text, first);
  std::istringstream words(first);
  std::string hash;
  std::string expect;
  Expected expected;
  words >> hash >> expect >> expected.severity >> expected.check >> std::ws;
  if (std::isdigit(words.peek()) != 0) words >> expected.line >> std::ws;
  std::getline(words, expected.words);
  return expected;
}

bool fits(const Finding& finding, const Expected& expected) {
  return to_text(finding.severity) == expected.severity && finding.check == expected.check &&
         (expected.line == 0 || finding.at.line == expected.line) && !finding.message.empty() &&
         (finding.message + finding.fix).find(expected.words) != std::string::npos;
}

std::string all_text(const Findings& findings) {
  std::string text;
  for (const Finding& finding : findings) text += to_text(finding);
  return text;
}

void expect_found(const fs::path& file, const Findings& findings) {
  const Expected expected = expectation(file);
  EXPECT_TRUE(std::ranges::any_of(findings,
                                  [&](const Finding& finding) { return fits(finding, expected); }))
      << file.filename() << ": expected " << expected.severity << " " << expected.check
      << " in line " << expected.line << " with \"" << expected.words << "\"; found:\n"
      << all_text(findings);
  for (const Finding& finding : findings) {
    const bool excused = finding.severity != Severity::error || finding.check == "syntax";
    EXPECT_TRUE(excused || !finding.fix.empty())
        << file.filename() << ": no fix in " << to_text(finding);
  }
}

TEST(CorpusTest, EveryBadConfigurationIsFoundOut) {
  const std::vector<fs::path> files = files_of("config/bad");
  EXPECT_GE(files.size(), 60U);
  for (const fs::path& file : files) expect_found(file, findings_of_config(file));
}

TEST(CorpusTest, EveryBadPolicyIsFoundOut) {
  for (const fs::path& file : files_of("policy/bad")) expect_found(file, findings_of_policy(file));
}

TEST(CorpusTest, GoodFilesHaveNoErrors) {
  for (const fs::path& file : files_of("config/good"))
    EXPECT_FALSE(has_errors(findings_of_config(file))) << file.filename() << "\n"
                                                       << all_text(findings_of_config(file));
  for (const fs::path& file : files_of("policy/good"))
    EXPECT_FALSE(has_errors(findings_of_policy(file))) << file.filename() << "\n"
                                                       << all_text(findings_of_policy(file));
}

TEST(CorpusTest, WhatIsSaidAboutEachIsGolden) {
  std::string text;
  for (const char* folder : {"config/bad", "config/good"})
    for (const fs::path& file : files_of(folder))
      text += "== " + file.filename().string() + "\n" + all_text(findings_of_config(file));
  for (const char* folder : {"policy/bad", "policy/good"})
    for (const fs::path& file : files_of(folder))
      text += "== policy " + file.filename().string() + "\n" + all_text(findings_of_policy(file));
  test::expect_golden("corpus.txt", text);
}

}  // namespace
}  // namespace coop::policy
