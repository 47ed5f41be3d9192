#include "host/files/settings_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "unit/support/temp_tree.h"

namespace coop::host {

namespace {

constexpr unsigned kOther = 65534;

void give_away(const Path& path) { ASSERT_EQ(::lchown(path.c_str(), kOther, kOther), 0); }

class SettingsFileTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(at(name)).parent_path());
    std::ofstream(at(name)) << text;
    ::chmod(at(name).c_str(), 0600);
  }
  Path at(const std::string& name) const { return tree_ / name; }

 private:
  test::TempTree tree_;
};

}  // namespace

TEST_F(SettingsFileTest, DirectoriesThatAreMissingAreNamed) {
  const Result<SettingsFile> file = read_settings_file(at("a/b/f"));
  ASSERT_TRUE(file) << to_text(file.error());
  EXPECT_EQ(file->missing, (std::vector<Path>{at("a/b"), at("a")}));
  ASSERT_TRUE(replace_settings_file(*file, "text"));
  EXPECT_EQ(read_settings_file(at("a/b/f"))->missing, std::vector<Path>{});
  ::unlink(at("a/b/f").c_str());
  remove_empty(file->missing);
  EXPECT_FALSE(std::filesystem::exists(at("a")));
}

TEST_F(SettingsFileTest, ASymlinkOrDirectoryOfAnotherUserIsNotPassed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  write("mine/f", "text");
  std::filesystem::create_symlink(at("mine/f"), at("link"));
  std::filesystem::create_symlink(at("mine"), at("directory"));
  EXPECT_TRUE(read_settings_file(at("link")));
  EXPECT_TRUE(read_settings_file(at("directory/g")));
  give_away(at("link"));
  give_away(at("directory"));
  EXPECT_FALSE(read_settings_file(at("link")));
  EXPECT_FALSE(read_settings_file(at("directory/f")));
  EXPECT_FALSE(read_settings_file(at("directory/g")));
  write("theirs/f", "text");
  EXPECT_TRUE(read_settings_file(at("theirs/f")));
  give_away(at("theirs"));
  EXPECT_FALSE(read_settings_file(at("theirs/f")));
  EXPECT_FALSE(check_home(at("theirs")));
  EXPECT_TRUE(check_home(at("mine")));
  EXPECT_FALSE(write_private_file(at("theirs/coop/f"), "text"));
}

TEST_F(SettingsFileTest, OfCoopsOwnFilesOnlyThoseOfTheCallerAreRead) {
  using Found = Result<std::optional<std::string>>;
  write("state/setup/x.json", "text");
  ::chmod(at("state").c_str(), 0700);
  ::chmod(at("state/setup").c_str(), 0700);
  EXPECT_EQ(read_private_file(at("state"), "setup/x.json"), Found("text"));
  EXPECT_EQ(read_private_file(at("state"), "setup/y.json"), Found(std::nullopt));
  EXPECT_EQ(read_private_file(at("none"), "setup/y.json"), Found(std::nullopt));
  std::filesystem::create_symlink(at("state/setup/x.json"), at("state/setup/link.json"));
  EXPECT_FALSE(read_private_file(at("state"), "setup/link.json"));
  ASSERT_EQ(::mkfifo(at("state/setup/fifo.json").c_str(), 0600), 0);
  EXPECT_FALSE(read_private_file(at("state"), "setup/fifo.json"));
  ::chmod(at("state/setup").c_str(), 0770);
  EXPECT_FALSE(read_private_file(at("state"), "setup/x.json"));
  ::chmod(at("state/setup").c_str(), 0700);
  if (::geteuid() != 0) return;
  give_away(at("state/setup/x.json"));
  EXPECT_FALSE(read_private_file(at("state"), "setup/x.json"));
}

}  // namespace coop::host
