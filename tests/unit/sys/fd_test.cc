#include "sys/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>

namespace coop {
namespace {

// The kernel answers EAGAIN for ".." below a root when anything is renamed meanwhile, anywhere.
TEST(FdTest, OpeningBelowARootOutlivesRenamesByOthers) {
  char directory[] = "/tmp/coop-fd.XXXXXX";
  ASSERT_NE(::mkdtemp(directory), nullptr);
  const std::string root(directory);
  ASSERT_EQ(::mkdir((root + "/a").c_str(), 0700), 0);
  ASSERT_EQ(::mkdir((root + "/0").c_str(), 0700), 0);
  const Result<UniqueFd> fd = open_file(root, O_PATH | O_DIRECTORY);
  ASSERT_TRUE(fd.has_value());
  std::atomic<bool> done = false;
  std::thread renaming([&] {
    const std::string names[] = {root + "/0", root + "/1"};
    for (unsigned turn = 0; !done; ++turn)
      std::rename(names[turn % 2].c_str(), names[(turn + 1) % 2].c_str());
  });
  int opened = 0;
  for (int count = 0; count < 3000; ++count)
    if (open_in_root(fd->get(), "a/../a/../a", O_PATH)) ++opened;
  done = true;
  renaming.join();
  EXPECT_EQ(opened, 3000);
  for (const char* name : {"/a", "/0", "/1", ""}) ::rmdir((root + name).c_str());
}

}  // namespace
}  // namespace coop
