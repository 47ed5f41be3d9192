#include "guards/served/git_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <set>
#include <span>

#include "sys/fuse/session.h"
#include "temp_tree.h"

namespace coop::guards {
namespace {

using fuse::kRoot;
using fuse::NewName;
using test::TempTree;

class GitFilesTest : public testing::Test {
 protected:
  GitFilesTest() {
    tree.must("mkdir -p g/info g/modules/sub");
    tree.write("g/HEAD", "ref: refs/heads/main\n");
    tree.write("g/config", "[core]\n");
    tree.write("g/description", "text\n");
    tree.write("g/info/exclude", "");
    tree.write("g/modules/sub/HEAD", "ref: refs/heads/main\n");
    tree.write("g/modules/sub/config", "[core]\n");
    const std::vector<std::string> names{".git", ".git/config", ".git/hooks",
                                         ".git/info/attributes"};
    const ServedIds ids{::getuid(), ::getgid(), 1000, 1000};
    tree.must("mkdir -p g/secret/below");
    tree.write("g/token", "secret");
    auto opened = GitFiles::open(tree / "g", GuardNames(names), ids,
                                 {.git = {inode_of("g/modules/sub")},
                                  .hidden = {{inode_of("g"), "token"}, {inode_of("g"), "secret"}}},
                                 refusals, touched);
    if (opened) files = std::move(*opened);
  }

  Inode inode_of(const std::string& name) const {
    struct stat status{};
    ::lstat((tree / name).c_str(), &status);
    return {status.st_dev, status.st_ino};
  }
  fuse::Node node(fuse::Node parent, std::string_view name) {
    const auto found = files->look_up({parent, name});
    return found ? found->node : 0;
  }
  static int error(const auto& answer) { return answer ? 0 : answer.error(); }

  TempTree tree{};
  Refusals refusals{};
  TouchedFiles touched{};
  std::unique_ptr<GitFiles> files{};
};

TEST_F(GitFilesTest, NamesThatAreGuardedCannotBeMadeChangedOrReplaced) {
  ASSERT_NE(files, nullptr);
  EXPECT_EQ(error(files->create({kRoot, "config.lock"}, O_WRONLY, 0644)), EROFS);
  EXPECT_EQ(error(files->create({kRoot, "Commondir"}, O_WRONLY, 0644)), EROFS);
  EXPECT_EQ(error(files->make_directory({kRoot, "hooks"}, 0755)), EROFS);
  EXPECT_EQ(error(files->open(node(kRoot, "config"), O_RDWR)), EROFS);
  EXPECT_EQ(error(files->open(node(kRoot, "config"), O_RDONLY | O_TRUNC)), EROFS);
  EXPECT_EQ(error(files->remove({kRoot, "config"}, 0)), EROFS);
  EXPECT_EQ(error(files->link(node(kRoot, "config"), {kRoot, "second"})), EROFS);
  fuse_setattr_in mode{};
  mode.valid = FATTR_MODE;
  mode.mode = 0777;
  EXPECT_EQ(error(files->set_attributes(node(kRoot, "config"), mode)), EROFS);
  // Controls.
  EXPECT_EQ(error(files->create({kRoot, "index.lock"}, O_WRONLY, 0644)), 0);
  EXPECT_EQ(error(files->open(node(kRoot, "config"), O_RDONLY)), 0);
  EXPECT_EQ(error(files->open(node(kRoot, "description"), O_RDWR)), 0);
  EXPECT_EQ(error(files->set_attributes(node(kRoot, "description"), mode)), 0);
}

// `sed -i .git/config` on the host gives a file its name that may be open inside.
TEST_F(GitFilesTest, AnOpenFileThatTheHostRenamesToAGuardedNameIsNotWrittenAnyMore) {
  ASSERT_NE(files, nullptr);
  const std::string text = "[core]\n\tpager = evil\n";
  const auto bytes = std::as_bytes(std::span(text));
  const auto created = files->create({kRoot, "sedXXXX"}, O_WRONLY, 0644);
  ASSERT_TRUE(created);
  tree.must("mv g/sedXXXX g/config");
  EXPECT_EQ(error(files->write(created->second.handle, 0, bytes)), EROFS);
  EXPECT_EQ(test::read_text(tree / "g/config"), "");
}

// What was written before that is not prevented, so it is remembered: the look at the end judges it.
TEST_F(GitFilesTest, EveryFileThatCouldBeWrittenInsideIsRemembered) {
  ASSERT_NE(files, nullptr);
  const auto remembered = [&](const std::string& name) {
    struct statx status{};
    const Inode inode = inode_of(name);
    EXPECT_EQ(::statx(AT_FDCWD, (tree / name).c_str(), 0, STATX_BTIME, &status), 0);
    const bool born = (status.stx_mask & STATX_BTIME) != 0;
    return touched.all().may_have(
        {inode.first, inode.second,
         born ? status.stx_btime.tv_sec * 1'000'000'000 + status.stx_btime.tv_nsec : 0});
  };
  tree.must("cd g; for name in opened cut moved linked read; do echo x > $name; done");
  EXPECT_EQ(error(files->open(node(kRoot, "read"), O_RDONLY)), 0);
  EXPECT_FALSE(remembered("g/read"));  // control
  EXPECT_FALSE(remembered("g/opened"));
  fuse_setattr_in size{};
  size.valid = FATTR_SIZE;
  EXPECT_EQ(error(files->open(node(kRoot, "opened"), O_WRONLY)), 0);
  EXPECT_EQ(error(files->set_attributes(node(kRoot, "cut"), size)), 0);
  EXPECT_EQ(error(files->rename({kRoot, "moved"}, {kRoot, "new-name"}, 0)), 0);
  EXPECT_EQ(error(files->link(node(kRoot, "linked"), {kRoot, "second-name"})), 0);
  EXPECT_EQ(error(files->create({kRoot, "created"}, O_WRONLY, 0644)), 0);
  EXPECT_EQ(error(files->make_node({kRoot, "node"}, S_IFREG | 0644)), 0);
  EXPECT_EQ(error(files->make_directory({kRoot, "directory"}, 0755)), 0);
  for (const char* const name :
       {"opened", "cut", "new-name", "linked", "created", "node", "directory"})
    EXPECT_TRUE(remembered(std::string("g/") + name)) << name;
  EXPECT_FALSE(remembered("g/config"));
}

// The same at any depth, for every way to change it, and for directories.
TEST_F(GitFilesTest, WhatTheHostMovesToAGuardedPlaceIsGuardedThere) {
  const std::string text = "evil";
  const auto bytes = std::as_bytes(std::span(text));
  tree.must("mkdir -p g/hooks g/free g/other");
  const auto made = [&](const char* name) { return files->create({kRoot, name}, O_RDWR, 0644); };
  const auto first = made("first");
  const auto second = made("second");
  const auto third = made("third");
  const fuse::Node directory = node(kRoot, "free");
  const fuse::Node other = node(kRoot, "other");
  ASSERT_TRUE(first && second && third && directory != 0 && other != 0);
  tree.must(
      "mv g/first g/modules/sub/config; mv g/second g/hooks/pre-commit; mv g/third away;"
      " mv g/free g/hooks/free; mv g/other g/another");
  fuse_setattr_in size{};
  size.valid = FATTR_SIZE;
  for (const auto* file : {&first, &second, &third}) {
    EXPECT_EQ(error(files->write((*file)->second.handle, 0, bytes)), EROFS);
    EXPECT_EQ(error(files->set_attributes((*file)->first.node, size)), EROFS);
    EXPECT_EQ(error(files->open((*file)->first.node, O_WRONLY)), EROFS);
    EXPECT_EQ(error(files->link((*file)->first.node, {kRoot, "name"})), EROFS);
  }
  EXPECT_EQ(error(files->create({directory, "x"}, O_WRONLY, 0644)), EROFS);
  EXPECT_EQ(error(files->make_directory({directory, "x"}, 0755)), EROFS);
  // Controls: elsewhere in the directory, and without a name.
  EXPECT_EQ(error(files->create({other, "x"}, O_WRONLY, 0644)), 0);
  const auto fourth = made("fourth");
  const auto fifth = made("fifth");
  ASSERT_TRUE(fourth && fifth);
  tree.must("mv g/fourth g/another/y; rm g/fifth");
  EXPECT_EQ(error(files->write(fourth->second.handle, 0, bytes)), 0);
  EXPECT_EQ(error(files->write(fifth->second.handle, 0, bytes)), 0);
}

// The mount that covers a hidden name can be detached from inside.
TEST_F(GitFilesTest, WhatIsHiddenIsNotGivenOut) {
  ASSERT_NE(files, nullptr);
  const fuse::Node file = node(kRoot, "token");
  const fuse::Node directory = node(kRoot, "secret");
  ASSERT_TRUE(file != 0 && directory != 0);  // something must be there to be covered
  EXPECT_EQ(error(files->open(file, O_RDONLY)), EACCES);
  EXPECT_EQ(error(files->open_directory(directory)), EACCES);
  EXPECT_EQ(error(files->look_up({directory, "below"})), EACCES);
  EXPECT_EQ(error(files->link(file, {kRoot, "other"})), EACCES);
  EXPECT_EQ(error(files->rename({kRoot, "token"}, {kRoot, "other"}, 0)), EACCES);
  EXPECT_EQ(error(files->rename({kRoot, "description"}, {kRoot, "token"}, 0)), EACCES);
  EXPECT_EQ(error(files->remove({kRoot, "token"}, 0)), EACCES);
  // The host replaces it.
  tree.must("echo new > g/x && mv g/x g/token");
  EXPECT_EQ(error(files->open(node(kRoot, "token"), O_RDONLY)), EACCES);
  EXPECT_EQ(error(files->open(node(kRoot, "description"), O_RDONLY)), 0);  // control
}

// A sandbox can take a lease on a file of the workspace, and be told to give it up for 45 seconds. Every other sandbox and
// the supervisor's thread would wait that long.
TEST_F(GitFilesTest, ALeaseOfAnotherSandboxDoesNotStopTheThread) {
  ASSERT_NE(files, nullptr);
  const fuse::Node held = node(kRoot, "description");
  const UniqueFd fd(::open((tree / "g/description").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::fcntl(fd.get(), F_SETSIG, SIGURG), 0);  // SIGIO would end the test
  ASSERT_EQ(::fcntl(fd.get(), F_SETLEASE, F_WRLCK), 0);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(error(files->open(held, O_RDONLY)), EAGAIN);
  EXPECT_EQ(error(files->create({kRoot, "description"}, O_WRONLY, 0644)), EAGAIN);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  ASSERT_EQ(::fcntl(fd.get(), F_SETLEASE, F_UNLCK), 0);
  EXPECT_EQ(error(files->open(held, O_RDONLY)), 0);  // control
}

// git writes new settings to config.lock and renames that.
TEST_F(GitFilesTest, ALockFileOfTheSettingsExistsOnlyInside) {
  ASSERT_NE(files, nullptr);
  const std::string text = "[core]\n\tpager = evil\n";
  const auto write = [&](std::string_view name, const std::string& content) {
    const auto made = files->create({kRoot, name}, O_RDWR | O_EXCL, 0666);
    EXPECT_EQ(error(made), 0);
    if (made)
      EXPECT_EQ(error(files->write(made->second.handle, 0, std::as_bytes(std::span(content)))), 0);
  };
  write("config.lock", text);
  EXPECT_NE(::access((tree / "g/config.lock").c_str(), F_OK), 0);
  EXPECT_EQ(error(files->create({kRoot, "config.lock"}, O_RDWR | O_EXCL, 0666)), EEXIST);
  fuse_setattr_in mode{};
  mode.valid = FATTR_MODE;
  mode.mode = 0644;
  EXPECT_EQ(error(files->set_attributes(node(kRoot, "config.lock"), mode)), 0);
  // Neither under the guarded name nor under any other does it come to the host.
  EXPECT_EQ(error(files->rename({kRoot, "config.lock"}, {kRoot, "config"}, 0)), EROFS);
  EXPECT_EQ(error(files->rename({kRoot, "config.lock"}, {kRoot, "other"}, 0)), EROFS);
  EXPECT_EQ(error(files->rename({kRoot, "config.lock"}, {kRoot, "config"}, RENAME_EXCHANGE)),
            EROFS);
  EXPECT_EQ(error(files->rename({kRoot, "description"}, {kRoot, "config.lock"}, 0)), EROFS);
  EXPECT_NE(error(files->link(node(kRoot, "config.lock"), {kRoot, "second"})), 0);
  EXPECT_EQ(error(files->remove({kRoot, "config.lock"}, 0)), 0);
  EXPECT_EQ(node(kRoot, "config.lock"), 0U);
  EXPECT_EQ(test::read_text(tree / "g/config"), "[core]\n");
  EXPECT_EQ(refusals.by_guard().at(".git/config").path, tree / "g/config");
  // What changes nothing succeeds.
  const Inode before = inode_of("g/config");
  write("config.lock", "[core]\n");
  EXPECT_EQ(error(files->rename({kRoot, "config.lock"}, {kRoot, "config.worktree"}, 0)), EROFS);
  EXPECT_EQ(error(files->rename({kRoot, "config.lock"}, {kRoot, "config"}, 0)), 0);
  EXPECT_EQ(inode_of("g/config"), before);
  EXPECT_EQ(node(kRoot, "config.lock"), 0U);
  // The host's own is not touched, and hooks have none.
  tree.write("g/config.lock", "the host's\n");
  EXPECT_EQ(error(files->create({kRoot, "config.lock"}, O_RDWR | O_EXCL, 0666)), EEXIST);
  EXPECT_EQ(error(files->remove({kRoot, "config.lock"}, 0)), EROFS);
  EXPECT_EQ(error(files->create({kRoot, "hooks.lock"}, O_RDWR | O_EXCL, 0666)), EROFS);
  EXPECT_EQ(error(files->create({kRoot, "commondir.lock"}, O_RDWR | O_EXCL, 0666)), EROFS);
}

TEST_F(GitFilesTest, WhatIsRefusedIsCountedByItsGuard) {
  ASSERT_NE(files, nullptr);
  EXPECT_TRUE(refusals.by_guard().empty());
  EXPECT_EQ(error(files->open(node(kRoot, "config"), O_RDONLY)), 0);
  EXPECT_EQ(error(files->create({kRoot, "index.lock"}, O_WRONLY, 0644)), 0);
  EXPECT_TRUE(refusals.by_guard().empty());
  EXPECT_EQ(error(files->create({kRoot, "config.lock"}, O_WRONLY, 0644)), EROFS);
  EXPECT_EQ(error(files->open(node(kRoot, "config"), O_RDWR)), EROFS);
  EXPECT_EQ(error(files->make_directory({kRoot, "hooks"}, 0755)), EROFS);
  const auto by_guard = refusals.by_guard();
  ASSERT_EQ(by_guard.size(), 2U);
  EXPECT_EQ(by_guard.at(".git/config").path, tree / "g/config");
  EXPECT_EQ(by_guard.at(".git/config").count, 2U);
  EXPECT_EQ(by_guard.at(".git/hooks").path, tree / "g/hooks");
}

TEST_F(GitFilesTest, ExchangingIsRenamingBothWays) {
  EXPECT_EQ(error(files->rename({kRoot, "description"}, {kRoot, "config"}, RENAME_EXCHANGE)),
            EROFS);
  EXPECT_EQ(error(files->rename({kRoot, "config"}, {kRoot, "description"}, RENAME_EXCHANGE)),
            EROFS);
  ASSERT_EQ(error(files->make_directory({kRoot, "new"}, 0755)), 0);
  for (const char* fixed : {"info", "modules"}) {
    EXPECT_EQ(error(files->rename({kRoot, "new"}, {kRoot, fixed}, RENAME_EXCHANGE)), EROFS)
        << fixed;
    EXPECT_EQ(error(files->rename({kRoot, fixed}, {kRoot, "new"}, RENAME_EXCHANGE)), EROFS)
        << fixed;
    EXPECT_EQ(error(files->rename({kRoot, fixed}, {kRoot, "away"}, 0)), EROFS) << fixed;
  }
  EXPECT_EQ(error(files->rename({kRoot, "HEAD"}, {kRoot, "description"}, RENAME_EXCHANGE)),
            0);  // control
  EXPECT_EQ(error(files->rename({kRoot, "new"}, {kRoot, "other"}, 0)), 0);
}

TEST_F(GitFilesTest, WhatTheSandboxMakesBelowModulesIsFreeAndStaysSo) {
  const fuse::Node modules = node(kRoot, "modules");
  ASSERT_EQ(error(files->make_directory({modules, "made"}, 0755)), 0);
  EXPECT_EQ(error(files->create({node(modules, "made"), "config"}, O_WRONLY, 0644)), 0);
  EXPECT_EQ(error(files->create({node(modules, "made"), "HEAD"}, O_WRONLY, 0644)), 0);
  const fuse::Node made = node(modules, "made");
  files->forget(made, 1000);
  EXPECT_EQ(error(files->make_directory({node(modules, "made"), "hooks"}, 0755)), 0);
  // The user's own module is not.
  EXPECT_EQ(error(files->create({node(modules, "sub"), "config.lock"}, O_WRONLY, 0644)), EROFS);
  EXPECT_EQ(error(files->rename({modules, "sub"}, {node(modules, "made"), "sub"}, 0)), EROFS);
}

// Without its HEAD a submodule's directory looks like any other.
TEST_F(GitFilesTest, AModuleWithoutItsHeadIsStillOne) {
  const fuse::Node modules = node(kRoot, "modules");
  ASSERT_EQ(error(files->remove({node(modules, "sub"), "HEAD"}, 0)), 0);
  EXPECT_EQ(error(files->open(node(node(modules, "sub"), "config"), O_WRONLY)), EROFS);
  // Nor does a HEAD in a directory that only leads to submodules free what is below.
  tree.must("mkdir -p g/modules/libs/x/hooks g/modules/libs/objects g/modules/libs/refs");
  ASSERT_EQ(error(files->create({node(modules, "libs"), "HEAD"}, O_WRONLY, 0644)), 0);
  const fuse::Node x = node(node(modules, "libs"), "x");
  EXPECT_EQ(error(files->create({x, "config"}, O_WRONLY, 0644)), EROFS);
  EXPECT_EQ(error(files->create({node(x, "hooks"), "post-checkout"}, O_WRONLY, 0755)), EROFS);
  EXPECT_EQ(error(files->create({x, "index"}, O_WRONLY, 0644)), 0);  // control
}

TEST_F(GitFilesTest, ADirectoryMadeInsideDoesNotBecomeAGuardedOne) {
  ASSERT_EQ(error(files->make_directory({kRoot, "new"}, 0755)), 0);
  ASSERT_EQ(error(files->create({node(kRoot, "new"), "attributes"}, O_WRONLY, 0644)), 0);
  ASSERT_EQ(error(files->remove({node(kRoot, "info"), "exclude"}, 0)), 0);
  ASSERT_EQ(error(files->remove({kRoot, "info"}, AT_REMOVEDIR)), 0);
  EXPECT_EQ(error(files->rename({kRoot, "new"}, {kRoot, "info"}, 0)), EROFS);
  ASSERT_EQ(error(files->make_directory({kRoot, "info"}, 0755)), 0);
  EXPECT_EQ(error(files->create({node(kRoot, "info"), "attributes"}, O_WRONLY, 0644)), EROFS);
  EXPECT_EQ(error(files->create({node(kRoot, "info"), "exclude"}, O_WRONLY, 0644)), 0);  // control
}

TEST_F(GitFilesTest, AFileThatTheHostReplacedIsAnotherNode) {
  const fuse::Node before = node(kRoot, "description");
  ASSERT_EQ(::rename((tree / "g/HEAD").c_str(), (tree / "g/description").c_str()), 0);
  EXPECT_NE(node(kRoot, "description"), before);
  EXPECT_EQ(error(files->attributes(before)), 0);  // still open, as any file that was replaced
}

TEST_F(GitFilesTest, LinksOutOfTheDirectoryAreNotMade) {
  EXPECT_EQ(error(files->make_symlink({kRoot, "a"}, "/etc/passwd")), EROFS);
  EXPECT_EQ(error(files->make_symlink({kRoot, "a"}, "refs/../../x")), EROFS);
  EXPECT_EQ(error(files->make_symlink({node(kRoot, "modules"), "x"}, "sub")), EROFS);
  // Not even inside: what it leads to may be replaced, and objects and refs are mounted.
  for (const char* text : {"description", "./objects/x", "modules/sub/objects/x", "HEAD"})
    EXPECT_EQ(error(files->make_symlink({kRoot, "logs"}, text)), EROFS) << text;
  EXPECT_EQ(error(files->make_symlink({kRoot, "HEAD"}, "refs/heads/../../objects/x")), EROFS);
  ASSERT_EQ(error(files->remove({kRoot, "HEAD"}, 0)), 0);
  EXPECT_EQ(error(files->make_symlink({kRoot, "HEAD"}, "refs/heads/main")), 0);  // control
}

// In a directory that the sandbox made they are free, and judged at the end: from there they must not come back.
TEST_F(GitFilesTest, LinksAreNotMovedOutOfWhatWasMadeInside) {
  const auto made = files->make_directory({node(kRoot, "modules"), "new"}, 0755);
  ASSERT_TRUE(made);
  ASSERT_EQ(error(files->make_symlink({made->node, "a"}, "/etc/passwd")), 0);  // control
  ASSERT_TRUE(files->make_directory({made->node, "logs"}, 0755));
  EXPECT_EQ(error(files->rename({made->node, "a"}, {kRoot, "COMMIT_EDITMSG"}, 0)), EROFS);
  EXPECT_EQ(error(files->rename({made->node, "logs"}, {kRoot, "logs"}, 0)), EROFS);
  EXPECT_EQ(error(files->rename({node(kRoot, "modules"), "new"}, {kRoot, "logs"}, 0)), EROFS);
  EXPECT_EQ(error(files->rename({kRoot, "description"}, {made->node, "a"}, RENAME_EXCHANGE)),
            EROFS);
  EXPECT_EQ(error(files->link(node(made->node, "a"), {kRoot, "COMMIT_EDITMSG"})), EPERM);
  EXPECT_EQ(error(files->rename({made->node, "a"}, {made->node, "b"}, 0)), 0);  // control
}

TEST_F(GitFilesTest, OtherIdsAreNotShownAndNotGiven) {
  const auto found = files->look_up({kRoot, "HEAD"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->attributes.uid, 1000u);
  fuse_setattr_in owner{};
  owner.valid = FATTR_UID;
  owner.uid = 0;
  EXPECT_EQ(error(files->set_attributes(found->node, owner)), EPERM);
  EXPECT_EQ(error(files->make_node({kRoot, "device"}, S_IFCHR | 0666)), EPERM);
}

// One message as the kernel would send it.
std::vector<std::byte> message(std::uint32_t opcode, std::string_view body) {
  fuse_in_header header{};
  header.len = static_cast<std::uint32_t>(sizeof header + body.size());
  header.opcode = opcode;
  header.unique = 7;
  header.nodeid = kRoot;
  std::vector<std::byte> bytes(header.len);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, body.data(), body.size());
  return bytes;
}

TEST_F(GitFilesTest, ANameThatIsNoNameIsRefused) {
  fuse::Session session(*files);
  using namespace std::string_view_literals;
  const auto error_of = [&](std::string_view body) {
    const auto reply = session.answer(message(FUSE_LOOKUP, body));
    fuse_out_header out{};
    std::memcpy(&out, reply.data(), sizeof out);
    return -out.error;
  };
  for (const std::string_view name :
       {"..\0"sv, ".\0"sv, "\0"sv, "a/b\0"sv, "../../etc\0"sv, "open"sv, ""sv})
    EXPECT_EQ(error_of(name), EINVAL);
  EXPECT_EQ(error_of("HEAD\0"sv), 0);  // control
}

}  // namespace
}  // namespace coop::guards
