// Which program gets a preset, with real files: a name alone proves nothing.
#include "request/preset.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/text.h"
#include "policy/policy.h"
#include "sys/fd.h"
#include "unit/support/temp_tree.h"

namespace coop::request {
namespace {

using policy::Key;
using test::TempTree;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using How = PresetChoice::How;

// A home with a project in it, in a temporary directory. `codex` is the agent: its preset adds "-c sandbox_mode=…" unless
// "-s" is there.
class Machine {
 public:
  Machine() {
    tree.must("mkdir -p project/bin state/coop/homes home/.local/bin home/opt tools");
    facts.home = tree / "home";
    facts.working_directory = tree / "project";
    facts.state_directory = tree / "state/coop";
    writable.workspace = tree / "project";
    path({"home/.local/bin"});
  }

  void path(const std::vector<std::string>& places) {
    std::vector<std::string> absolute;
    for (const std::string& place : places) absolute.push_back(tree / place);
    facts.environment["PATH"] = joined(absolute, ":");
  }

  // Makes `name`, a program.
  Path program(const std::string& name) const {
    tree.must("mkdir -p $(dirname '" + name + "') && printf '#!/bin/sh\\n' > '" + name +
              "' && chmod 755 '" + name + "'");
    return tree / name;
  }

  std::optional<Applied> find(const std::vector<std::string>& command,
                              PresetChoice choice = {How::by_program}) {
    notes.clear();
    Result<std::optional<Applied>> found = find_preset(choice, command, writable, facts, notes);
    if (found) return *found;
    ADD_FAILURE() << to_text(found.error());
    return std::nullopt;
  }

  // "codex" got its preset; or the note why not.
  std::string outcome(const std::vector<std::string>& command = {"codex"}) {
    const std::optional<Applied> found = find(command);
    if (found) return "preset " + found->preset.name;
    return notes.empty() ? "none" : notes.front();
  }

  TempTree tree;
  HostFacts facts;
  WritableTrees writable;
  std::vector<std::string> notes;
};

const std::vector<std::string> kAdded{"-c", "sandbox_mode=\"danger-full-access\""};

std::vector<std::string> with_added(const Path& program, const std::vector<std::string>& rest) {
  std::vector<std::string> words{program};
  words.insert(words.end(), kAdded.begin(), kAdded.end());
  words.insert(words.end(), rest.begin(), rest.end());
  return words;
}

std::vector<Path> readable(const Applied& applied) {
  std::vector<Path> paths;
  for (const policy::Item& item : policy::items_of(applied.layer.settings, Key::readable_paths))
    paths.push_back(item.path);
  return paths;
}

TEST(FindPresetTest, AProgramOnThePathGetsTheOneOfItsName) {
  Machine machine;
  const Path program = machine.program("home/.local/bin/codex");
  const std::optional<Applied> found = machine.find({"codex", "exec", "hello"});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->preset.name, "codex");
  EXPECT_EQ(found->command, with_added(program, {"exec", "hello"}));
  EXPECT_EQ(found->layer.scope, Scope::preset);
  EXPECT_EQ(found->layer.settings, found->preset.settings);
  EXPECT_EQ(policy::word_of(found->layer.settings, Key::home),
            preset_home(found->preset, machine.writable.workspace));
  EXPECT_EQ(policy::find(found->layer.settings, Key::home)->origin,
            (Origin{.scope = Scope::preset, .file = "codex"}));
  EXPECT_THAT(readable(*found), IsEmpty()) << "policies/home.txt lists the directory";
  EXPECT_THAT(machine.notes, IsEmpty());
}

TEST(FindPresetTest, OtherCommandsGetNone) {
  Machine machine;
  machine.program("home/.local/bin/codex");
  machine.program("home/.local/bin/other");
  EXPECT_EQ(machine.outcome(), "preset codex");  // control
  EXPECT_EQ(machine.outcome({"other", "codex"}), "none");
  EXPECT_EQ(machine.outcome({"claude"}), "none") << "there is no such program";
  EXPECT_EQ(machine.outcome({}), "none");
  EXPECT_EQ(machine.outcome({""}), "none");
  EXPECT_FALSE(machine.find({"codex"}, {How::off}));
  machine.facts.environment.erase("PATH");
  EXPECT_EQ(machine.outcome(), "none");
  machine.facts.environment["PATH"] = "";
  EXPECT_EQ(machine.outcome(), "none");
}

TEST(FindPresetTest, OnlyAnExecutableFileIsAProgram) {
  Machine machine;
  machine.path({"tools", "home/.local/bin"});
  const Path program = machine.program("home/.local/bin/codex");
  machine.tree.must("mkdir tools/codex");
  EXPECT_EQ(machine.find({"codex"})->command.front(), program);
  machine.tree.must("rmdir tools/codex && echo text > tools/codex");
  EXPECT_EQ(machine.find({"codex"})->command.front(), program);
  machine.tree.must("rm tools/codex && ln -s nowhere tools/codex");
  EXPECT_EQ(machine.find({"codex"})->command.front(), program);
}

TEST(FindPresetTest, APathIsAsGoodAsAName) {
  Machine machine;
  const Path program = machine.program("home/.local/bin/codex");
  EXPECT_EQ(machine.outcome({program}), "preset codex");
  EXPECT_EQ(machine.outcome({"../home/.local/bin/codex"}), "preset codex");
  machine.program("project/codex");
  EXPECT_THAT(machine.outcome({"./codex"}), EndsWith("/project/codex lies in the workspace"));
  EXPECT_THAT(machine.outcome({"../project/codex"}), HasSubstr("lies in the workspace"));
}

// npm puts a symlink to a script among its modules; the script loads what lies beside it.
TEST(FindPresetTest, ASymlinkShowsWhatItLeadsTo) {
  Machine machine;
  const Path script = machine.program("home/opt/lib/node_modules/@openai/codex/bin/codex.js");
  machine.tree.must(
      "ln -s ../../opt/lib/node_modules/@openai/codex/bin/codex.js home/.local/bin/codex");
  const std::optional<Applied> listed = machine.find({"codex"});
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->command, with_added(machine.tree / "home/.local/bin/codex", {}));
  EXPECT_THAT(readable(*listed), ElementsAre(machine.tree / "home/opt/lib/node_modules"));
  // The directory of the symlink is not visible inside: the script itself is started.
  machine.tree.must(
      "mkdir home/hidden && mv home/.local/bin/codex home/hidden/ && ln -sfn "
      "../opt/lib/node_modules/@openai/codex/bin/codex.js home/hidden/codex");
  machine.path({"home/hidden"});
  const std::optional<Applied> hidden = machine.find({"codex"});
  ASSERT_TRUE(hidden);
  EXPECT_EQ(hidden->command, with_added(script, {}));
  EXPECT_THAT(readable(*hidden), ElementsAre(machine.tree / "home/opt/lib/node_modules"));
}

// Not with what lies beside it: a program may lie among documents, or in the home itself.
TEST(FindPresetTest, AProgramBelowTheHomeIsShownAlone) {
  Machine machine;
  machine.path({"home/opt"});
  const Path program = machine.program("home/opt/codex");
  const std::optional<Applied> found = machine.find({"codex"});
  ASSERT_TRUE(found);
  EXPECT_THAT(readable(*found), ElementsAre(program));
  const policy::Setting* setting = policy::find(found->layer.settings, Key::readable_paths);
  EXPECT_EQ(setting->items.front().if_missing, Missing::skip);
  EXPECT_EQ(setting->items.front().origin, (Origin{.scope = Scope::preset, .file = "codex"}));
  EXPECT_EQ(found->command, with_added(program, {}));
}

TEST(FindPresetTest, AProgramOfAVirtualEnvironmentIsShownWithIt) {
  Machine machine;
  machine.path({"home/venv/bin"});
  machine.program("home/venv/bin/codex");
  machine.tree.must("touch home/venv/pyvenv.cfg");
  EXPECT_THAT(readable(*machine.find({"codex"})), ElementsAre(machine.tree / "home/venv"));
  // Outside of the home another user may have made the file; and the home itself is none.
  machine.tree.must("mkdir -p shared/bin home/bin2 && touch shared/pyvenv.cfg home/pyvenv.cfg");
  for (const char* place : {"shared/bin", "home/bin2"}) {
    const Path program = machine.program(std::string(place) + "/codex");
    machine.path({place});
    EXPECT_THAT(readable(*machine.find({"codex"})), ElementsAre(program)) << place;
  }
}

TEST(FindPresetTest, AProgramThatASandboxCouldHaveWrittenGetsNone) {
  Machine machine;
  machine.program("project/bin/codex");
  machine.path({"project/bin"});
  EXPECT_THAT(machine.outcome(), EndsWith("/project/bin/codex lies in the workspace"));
  EXPECT_THAT(machine.notes.front(), testing::StartsWith("no preset \"codex\": "));

  machine.program("tools/codex");
  machine.path({"tools"});
  EXPECT_EQ(machine.outcome(), "preset codex");  // control
  machine.writable.others = {machine.tree / "home", machine.tree / "tools"};
  EXPECT_THAT(machine.outcome(), EndsWith("/tools, which can be written inside"));
  machine.writable.others = {machine.tree.path()};
  EXPECT_THAT(machine.outcome(), HasSubstr("which can be written inside"));
  machine.writable.others = {machine.tree / "tool"};
  EXPECT_EQ(machine.outcome(), "preset codex");  // control: another name with the same start
  machine.writable.others = {};

  machine.program("state/coop/homes/x/home/bin/codex");
  machine.path({"state/coop/homes/x/home/bin"});
  EXPECT_THAT(machine.outcome(), EndsWith("lies in a home of a sandbox"));
}

// The first that the shell would find decides: the user would run it, and it must not be taken for the one behind it.
TEST(FindPresetTest, TheOneThatIsRefusedIsNotSkipped) {
  Machine machine;
  machine.program("project/bin/codex");
  machine.program("home/.local/bin/codex");
  machine.path({"home/.local/bin", "project/bin"});
  EXPECT_EQ(machine.outcome(), "preset codex");  // control
  machine.path({"project/bin", "home/.local/bin"});
  EXPECT_THAT(machine.outcome(), EndsWith("lies in the workspace"));
}

TEST(FindPresetTest, ARelativePlaceOfThePathIsTheDirectoryOfTheMoment) {
  Machine machine;
  machine.program("home/.local/bin/codex");
  machine.program("project/codex");
  machine.program("project/bin/codex");
  const std::string safe = machine.tree / "home/.local/bin";
  for (const std::string& places : {".:" + safe, ":" + safe, "bin:" + safe, "./bin:" + safe,
                                    "../project:" + safe, "::" + safe}) {
    machine.facts.environment["PATH"] = places;
    EXPECT_THAT(machine.outcome(), EndsWith("lies in the workspace")) << places;
  }
  machine.facts.environment["PATH"] = safe + ":.";
  EXPECT_EQ(machine.outcome(), "preset codex");
  machine.facts.working_directory = machine.tree / "tools";
  machine.facts.environment["PATH"] = ".:" + safe;
  EXPECT_EQ(machine.outcome(), "preset codex") << "nothing of the name is there";
}

TEST(FindPresetTest, SymlinksIntoWhatASandboxWritesAreFollowed) {
  Machine machine;
  machine.program("project/tools/codex");
  machine.program("home/opt/codex");
  const auto linked = [&](const std::string& make, const std::string& place) {
    machine.tree.must("rm -rf link project/link && " + make);
    machine.path({place});
    return machine.outcome();
  };
  EXPECT_EQ(linked("mkdir link && ln -s ../home/opt/codex link/codex", "link"), "preset codex");
  // The program, the directory, and a link that the sandbox can change later.
  EXPECT_THAT(linked("mkdir link && ln -s ../project/tools/codex link/codex", "link"),
              HasSubstr("lies in the workspace"));
  EXPECT_THAT(linked("ln -s project/tools link", "link"), HasSubstr("lies in the workspace"));
  EXPECT_THAT(
      linked("mkdir project/link && ln -s ../../home/opt/codex project/link/codex", "project/link"),
      HasSubstr("lies in the workspace"));
  EXPECT_THAT(linked("ln -s ../home/opt project/link", "project/link"),
              HasSubstr("lies in the workspace"));
}

// The repository may be larger than the workspace: a package of a monorepo, whose programs are at its top.
TEST(FindPresetTest, TheRepositoryAroundTheWorkspaceCounts) {
  Machine machine;
  machine.program("project/node_modules/.bin/codex");
  machine.tree.must("mkdir -p project/packages/x project/.git");
  machine.path({"project/node_modules/.bin"});
  machine.writable.workspace = machine.tree / "project/packages/x";
  EXPECT_EQ(machine.outcome(), "preset codex");  // control
  const Path home = machine.tree / "home";
  machine.writable.repository = repository_around(machine.writable.workspace, home);
  EXPECT_EQ(machine.writable.repository, machine.tree / "project");
  EXPECT_THAT(machine.outcome(), HasSubstr("lies in the repository of the workspace"));

  // A submodule has a repository of its own.
  machine.tree.must("touch project/packages/x/.git");
  EXPECT_EQ(repository_around(machine.writable.workspace, home), machine.tree / "project");

  EXPECT_EQ(repository_around(machine.tree / "project", home), "");
  EXPECT_EQ(repository_around(machine.tree / "tools", home), "");
  // A home that is a repository of settings has all programs of the user in it.
  machine.tree.must("mkdir -p home/.git home/work/x");
  EXPECT_EQ(repository_around(machine.tree / "home/work/x", home), "");
}

// A link in the middle of the chain lies in the workspace: what it leads to now is not what it leads to later.
TEST(FindPresetTest, EachSymlinkOnTheWayCounts) {
  Machine machine;
  machine.program("home/opt/codex");
  machine.tree.must(
      "ln -s ../../home/opt/codex project/bin/codex && "
      "ln -s ../project/bin/codex tools/codex");
  machine.path({"tools"});
  EXPECT_THAT(machine.outcome(), HasSubstr("lies in the workspace"));
  machine.tree.must(
      "rm tools/codex && ln -s ../home/opt project/opt && "
      "ln -s ../project/opt/codex tools/codex");
  EXPECT_THAT(machine.outcome(), HasSubstr("lies in the workspace"));
}

TEST(FindPresetTest, WhatEveryUserCanWriteGetsNone) {
  Machine machine;
  machine.program("tools/a/codex");
  machine.path({"tools/a"});
  EXPECT_EQ(machine.outcome(), "preset codex");  // control
  machine.tree.must("chmod 777 tools/a");
  EXPECT_THAT(machine.outcome(), EndsWith("/tools/a can be written by every user"));
  machine.tree.must("chmod 755 tools/a && chmod 777 tools");
  EXPECT_THAT(machine.outcome(), EndsWith("/tools can be written by every user"));
  // As /tmp is: others cannot rename what they do not own.
  machine.tree.must("chmod 1777 tools");
  EXPECT_EQ(machine.outcome(), "preset codex");
  machine.tree.must("chmod 777 tools/a/codex");
  EXPECT_THAT(machine.outcome(), EndsWith("/tools/a/codex can be written by every user"));
  // The sticky bit protects what is in a directory; a file with it is as writable as without.
  machine.tree.must("chmod 1777 tools/a/codex");
  EXPECT_THAT(machine.outcome(), EndsWith("/tools/a/codex can be written by every user"));
  // And where a symlink leads.
  machine.tree.must(
      "chmod 755 tools tools/a/codex && chmod 777 tools/a && mkdir tools/b && "
      "ln -s ../a/codex tools/b/codex");
  machine.path({"tools/b"});
  EXPECT_THAT(machine.outcome(), EndsWith("/tools/a can be written by every user"));
}

TEST(FindPresetTest, WhatBelongsToAnotherUserGetsNone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  Machine machine;
  machine.program("tools/a/codex");
  machine.path({"tools/a"});
  EXPECT_EQ(machine.outcome(), "preset codex");  // control
  for (const char* part : {"tools/a/codex", "tools/a", "tools"}) {
    machine.tree.must("chown 65533 " + std::string(part));
    EXPECT_THAT(machine.outcome(), EndsWith("/" + std::string(part) + " belongs to another user"));
    machine.tree.must("chown 0 " + std::string(part));
  }
  // A symlink of another user can be changed by that user.
  machine.tree.must("mkdir tools/b && ln -s ../a/codex tools/b/codex");
  machine.path({"tools/b"});
  EXPECT_EQ(machine.outcome(), "preset codex");  // control
  machine.tree.must("chown -h 65533 tools/b/codex");
  EXPECT_THAT(machine.outcome(), EndsWith("/tools/b/codex belongs to another user"));
}

TEST(FindPresetTest, WhatTheUserSaysItselfIsNotSaidAgain) {
  Machine machine;
  const Path program = machine.program("home/.local/bin/codex");
  const auto command = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "codex");
    return machine.find(words)->command;
  };
  using Words = std::vector<std::string>;
  EXPECT_EQ(command({}), with_added(program, {}));
  EXPECT_EQ(command({"exec", "-c", "model=x"}), with_added(program, {"exec", "-c", "model=x"}));
  EXPECT_EQ(command({"-s", "read-only"}), (Words{program, "-s", "read-only"}));
  EXPECT_EQ(command({"-sread-only"}), (Words{program, "-sread-only"}));
  EXPECT_EQ(command({"exec", "--sandbox=read-only"}),
            (Words{program, "exec", "--sandbox=read-only"}));
  EXPECT_EQ(command({"exec", "--", "-s"}), with_added(program, {"exec", "--", "-s"}));
}

TEST(FindPresetTest, ByNameItIsTheUsersChoice) {
  Machine machine;
  const Path other = machine.program("home/.local/bin/other");
  const PresetChoice codex{How::by_name, "codex"};
  const std::optional<Applied> other_program = machine.find({"other", "x"}, codex);
  ASSERT_TRUE(other_program);
  EXPECT_EQ(other_program->preset.name, "codex");
  EXPECT_EQ(other_program->command, (std::vector<std::string>{other, "x"})) << "it is not codex";
  // A program in the workspace is not replaced by its path, nor made visible.
  machine.path({"project/bin"});
  machine.program("project/bin/other");
  const std::optional<Applied> own = machine.find({"other"}, codex);
  ASSERT_TRUE(own);
  EXPECT_EQ(own->command, (std::vector<std::string>{"other"}));
  EXPECT_THAT(readable(*own), IsEmpty());
  // `coop plan --preset codex` has no command; one that is not outside may be inside.
  EXPECT_THAT(machine.find({}, codex)->command, IsEmpty());
  EXPECT_THAT(machine.find({"nowhere"}, codex)->command, ElementsAre("nowhere"));
}

TEST(FindPresetTest, AnUnknownNameIsAnError) {
  Machine machine;
  for (const char* name : {"", "no-such-agent", "Codex", "../codex", "codex\n"}) {
    const auto found = find_preset({How::by_name, name}, {"codex"}, machine.writable, machine.facts,
                                   machine.notes);
    ASSERT_FALSE(found.has_value()) << name;
    EXPECT_THAT(to_text(found.error()), HasSubstr("there is no preset"));
    EXPECT_THAT(found.error().hint, HasSubstr("codex")) << "it lists those there are";
  }
}

std::string home_for(const Path& workspace) {
  const policy::Preset preset{.name = "made"};
  const std::string name = preset_home(preset, workspace);
  EXPECT_TRUE(is_home_name(name)) << name;
  return name;
}

// "made-SLUG" without the twenty digits that make it unique.
std::string slug_of(const Path& workspace) {
  const std::string name = home_for(workspace);
  return name.substr(0, name.size() - 21);
}

TEST(PresetHomeTest, HasTheNameOfTheWorkspaceAsFarAsAFileNameMay) {
  EXPECT_THAT(home_for("/home/ann/project"), testing::MatchesRegex("made-project-[0-9a-f]*"));
  EXPECT_EQ(slug_of("/x/My Project (2)"), "made-My-Project-2");
  EXPECT_EQ(slug_of("/x/..hidden..name.."), "made-hidden-name");
  EXPECT_EQ(slug_of("/x/a_b.c-d"), "made-a-b-c-d");
  EXPECT_EQ(slug_of("/x/---"), "made");
  EXPECT_EQ(slug_of("/"), "made");
  EXPECT_EQ(slug_of("/x/\xd0\xbf\xd1\x80\xd0\xbe\xd0\xb5\xd0\xba\xd1\x82"), "made");
  EXPECT_EQ(slug_of("/x/caf\xc3\xa9-bar"), "made-caf-bar");
  EXPECT_EQ(slug_of("/x/new\nline\x1b[2J"), "made-new-line-2J");
  EXPECT_EQ(slug_of("/x/" + std::string(300, 'y')), "made-" + std::string(24, 'y'));
  EXPECT_EQ(slug_of("/x/" + std::string(23, 'y') + " z"), "made-" + std::string(23, 'y'));
}

TEST(PresetHomeTest, IsAnotherForEachPlaceAndEachAgent) {
  EXPECT_EQ(home_for("/x/project"), home_for("/x/project"));
  EXPECT_NE(home_for("/x/project"), home_for("/y/project"));
  EXPECT_NE(home_for("/x/a b"), home_for("/x/a-b"));
  EXPECT_NE(home_for("/x/" + std::string(300, 'y')), home_for("/x/" + std::string(299, 'y')));
  EXPECT_NE(preset_home({.name = "one"}, "/x"), preset_home({.name = "two"}, "/x"));
}

// A port that nothing listens on; or, with `held`, on which something does.
std::uint16_t some_port(UniqueFd& held) {
  held = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(held.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(held.get(), 1), 0);
  EXPECT_EQ(::getsockname(held.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin_port);
}

std::uint16_t free_port() {
  UniqueFd held;
  return some_port(held);
}

Applied with_ports(std::vector<std::uint16_t> ports) {
  return {.preset = {.name = "made",
                     .login = {.files = {".made/auth.json"}, .ports = std::move(ports)}},
          .layer = {Scope::preset, {}}};
}

TEST(LoginPortsTest, AreThoseOfTheLoginThatNothingListensOn) {
  const TempTree home;
  UniqueFd held;
  const std::uint16_t taken = some_port(held);
  const std::uint16_t free = free_port();
  Applied applied = with_ports({taken, free});
  std::vector<std::string> notes;
  publish_login_ports(applied, home.path(), notes);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("another program has it")));
  const Origin origin{.scope = Scope::preset, .file = "made", .name = "login"};
  policy::Settings expected;
  expected[Key::network_publish] = {
      .items = {{.text = "127.0.0.1:" + std::to_string(free) + ":" + std::to_string(free),
                 .published = PublishedPort{.host = free, .sandbox = free, .origin = origin},
                 .origin = origin}},
      .origin = origin};
  EXPECT_EQ(applied.layer.settings, expected);
  EXPECT_EQ(applied.layer.settings[Key::network_publish].items[0].published->address,
            PublishedPort{}.address);

  Applied none = with_ports({taken});
  publish_login_ports(none, home.path(), notes);
  EXPECT_TRUE(none.layer.settings.empty()) << "an empty list would be a wish too";
}

TEST(LoginPortsTest, AreClosedOnceThereIsALogin) {
  const TempTree home;
  const std::uint16_t port = free_port();
  const auto publishes = [&](const Path& place) {
    Applied applied = with_ports({port});
    std::vector<std::string> notes;
    publish_login_ports(applied, place, notes);
    return applied.layer.settings.contains(Key::network_publish);
  };
  EXPECT_TRUE(publishes(home.path()));
  EXPECT_TRUE(publishes(home / "missing"));
  home.must("mkdir .made");
  EXPECT_TRUE(publishes(home.path()));
  home.write(".made/auth.json", "");
  EXPECT_FALSE(publishes(home.path()));
  home.must("rm .made/auth.json && ln -s nowhere .made/auth.json");
  EXPECT_FALSE(publishes(home.path())) << "nothing is opened for it";
}

}  // namespace
}  // namespace coop::request
