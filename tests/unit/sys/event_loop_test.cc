// One loop for descriptors, timers and tasks from other threads.
#include "sys/event_loop.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "unit/support/temp_tree.h"

namespace coop {
namespace {

TEST(EventLoopTest, TimersPostedTasksAndDescriptorsTakeTurns) {
  const std::unique_ptr<EventLoop> loop = EventLoop::make().value();
  const UniqueFd event(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  std::vector<std::string> seen;
  ASSERT_TRUE(loop->watch(event.get(), EPOLLIN,
                          [&](std::uint32_t) {
                            seen.emplace_back("descriptor");
                            loop->forget(event.get());
                          })
                  .has_value());
  const EventLoop::Timer never =
      loop->after(std::chrono::milliseconds(1), [&] { seen.emplace_back("never"); });
  loop->cancel(never);
  const std::jthread other([&] {
    loop->post([&] {
      seen.emplace_back("posted");
      loop->after(std::chrono::milliseconds(5), [&] {
        seen.emplace_back("timer");
        loop->stop();
      });
    });
  });
  loop->run();
  EXPECT_EQ(seen.size(), 3U);
  EXPECT_EQ(std::ranges::count(seen, "never"), 0);
  EXPECT_EQ(seen.back(), "timer");
}

TEST(EventLoopTest, WhatRestsIsLookedAtLater) {
  const std::unique_ptr<EventLoop> loop = EventLoop::make().value();
  const UniqueFd event(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  int count = 0;
  const auto ready = [&](std::uint32_t) {
    ++count;
    loop->rest(event.get(), std::chrono::milliseconds(20));
    loop->rest(event.get(), std::chrono::milliseconds(1));  // it rests already
    if (count == 3) loop->stop();
  };
  ASSERT_TRUE(loop->watch(event.get(), EPOLLIN, ready).has_value());
  const auto began = std::chrono::steady_clock::now();
  loop->run();
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(40));
  // A new descriptor with the same number is not affected by the timer of the first.
  loop->forget(event.get());
}

TEST(EventLoopTest, ARegularFileIsAlwaysReadyUntilItIsForgotten) {
  const test::TempTree tree;
  tree.write("file", "abc");
  const UniqueFd file(::open((tree / "file").c_str(), O_RDONLY | O_CLOEXEC));
  const std::unique_ptr<EventLoop> loop = EventLoop::make().value();
  std::string read;
  bool at_end = false;
  const auto ready = [&](std::uint32_t events) {
    EXPECT_EQ(events, std::uint32_t{EPOLLIN});
    char byte = 0;
    at_end = ::read(file.get(), &byte, 1) != 1;
    if (at_end) loop->forget(file.get());
    else read += byte;
  };
  ASSERT_TRUE(loop->watch(file.get(), EPOLLIN, ready).has_value());
  EXPECT_TRUE(loop->watches(file.get()));
  loop->change(file.get(), 0);  // not wanted for now, and nothing spins meanwhile
  loop->after(std::chrono::milliseconds(5), [&] {
    EXPECT_EQ(read, "");
    loop->change(file.get(), EPOLLIN);
  });
  loop->run_until([&] { return at_end; });
  EXPECT_EQ(read, "abc");
  EXPECT_FALSE(loop->watches(file.get()));
}

TEST(EventLoopTest, WhatIsAlwaysReadyPutsOffNoTimer) {
  const std::unique_ptr<EventLoop> loop = EventLoop::make().value();
  const UniqueFd event(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  ASSERT_TRUE(loop->watch(event.get(), EPOLLIN, [](std::uint32_t) {}).has_value());
  bool fired = false;
  loop->at(std::chrono::steady_clock::now() + std::chrono::milliseconds(5), [&] { fired = true; });
  loop->run_until([&] { return fired; });
  EXPECT_TRUE(fired);
}

}  // namespace
}  // namespace coop
