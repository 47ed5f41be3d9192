// What is said of a pasta or slirp4netns that does not connect the network. Scripts stand for the programs.
#include "run/network/provider.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "temp_tree.h"

namespace coop::run {
namespace {

class ProviderTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Provider>> start(NetworkProvider provider, const std::string& script) {
    tree_.write("program", "#!/bin/sh\n" + script);
    tree_.must("chmod +x program");
    return Provider::start({.provider = provider, .program = tree_ / "program"}, ::getpid(),
                           *loop_);
  }
  std::string problem(NetworkProvider provider, const std::string& script) {
    const auto started = start(provider, script);
    return started ? "none" : to_text(started.error()) + "; hint: " + started.error().hint;
  }

  const test::TempTree tree_{};
  const std::unique_ptr<EventLoop> loop_ = EventLoop::make().value();
};

constexpr const char* kSaysReady = R"(
for word; do case $word in --ready-fd=*) echo 1 > /proc/self/fd/${word#*=}; esac; done
)";

TEST_F(ProviderTest, TheNetworkIsThereWhenItSaysSo) {
  const auto started = start(NetworkProvider::slirp4netns, std::string(kSaysReady) + "sleep 0.1");
  ASSERT_TRUE(started.has_value()) << to_text(started.error());
  // The loop goes on afterwards, and its caller hears of the program's end.
  bool ended = false;
  ASSERT_TRUE(
      loop_->watch((*started)->ended(), 1, [&](std::uint32_t) { ended = true; }).has_value());
  EXPECT_TRUE(loop_->run_until([&] { return ended; }));
}

TEST_F(ProviderTest, ItsLastWordsAreTheErrorWhenItEnds) {
  const std::string all = problem(NetworkProvider::slirp4netns,
                                  "echo; echo ' no luck '; echo not sent to syslog; echo 2nd");
  EXPECT_NE(all.find("slirp4netns"), std::string::npos) << all;
  EXPECT_NE(all.find("exited: no luck; 2nd"), std::string::npos) << all;
  EXPECT_NE(all.find("--network allowlist needs no other program"), std::string::npos) << all;
  const std::string tun = problem(NetworkProvider::slirp4netns, "echo open tun >&2");
  EXPECT_NE(tun.find("it needs /dev/net/tun"), std::string::npos) << tun;
  const std::string silent = problem(NetworkProvider::slirp4netns, "exit 1");
  EXPECT_NE(silent.find("exited without output"), std::string::npos) << silent;
}

TEST_F(ProviderTest, ItIsGivenUpWhenTheLoopStops) {
  loop_->after(std::chrono::milliseconds(50), [&] { loop_->stop(); });
  const std::string why = problem(NetworkProvider::slirp4netns, "exec sleep 60");
  EXPECT_NE(why.find("the sandbox was ended meanwhile"), std::string::npos) << why;
}

}  // namespace
}  // namespace coop::run
