// Waiting for a process, with everything that may happen meanwhile.
#include "run/supervise.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace coop::run {
namespace {

using std::chrono::milliseconds;

// `sleep SECONDS`, collected at the end.
class Sleeper {
 public:
  explicit Sleeper(std::string seconds) {
    std::string name = "sleep";
    char* arguments[] = {name.data(), seconds.data(), nullptr};
    EXPECT_EQ(::posix_spawnp(&pid_, "sleep", nullptr, nullptr, arguments, environ), 0);
    pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() {
    kill();
    ::waitpid(pid_, nullptr, 0);
  }
  void kill() const { ::kill(pid_, SIGKILL); }

  Result<Ending> supervise(const Supervision& supervision) {
    return run::supervise(*loop, pidfd_.get(), [this] { kill(); }, supervision);
  }

  std::unique_ptr<EventLoop> loop = EventLoop::make().value();

 private:
  pid_t pid_ = -1;
  UniqueFd pidfd_{};
};

TEST(SuperviseTest, EndsWithTheProcess) {
  EXPECT_EQ(Sleeper("0").supervise({}).value(), Ending::by_itself);
}

TEST(SuperviseTest, KillsAtTheDeadlineThoughADescriptorIsAlwaysReady) {
  Sleeper sleeper("60");
  const UniqueFd flood(::eventfd(1, EFD_CLOEXEC));
  ASSERT_TRUE(sleeper.loop->watch(flood.get(), EPOLLIN, [](std::uint32_t) {}).has_value());
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(sleeper.supervise({.deadline = deadline_after(milliseconds(30))}).value(),
            Ending::timed_out);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
}

TEST(SuperviseTest, ADeadlineThatIsOverIsNotWaitedFor) {
  EXPECT_EQ(Sleeper("60").supervise({.deadline = deadline_after(milliseconds(0))}).value(),
            Ending::timed_out);
}

TEST(SuperviseTest, ACancelledRunIsKilledAndHasNotTimedOut) {
  Sleeper sleeper("60");
  const UniqueFd cancel(::eventfd(1, EFD_CLOEXEC));
  EXPECT_EQ(sleeper.supervise({.cancel_fd = cancel.get()}).value(), Ending::by_itself);
}

TEST(SuperviseTest, IsOverBeforeItsProcessWhenTheCallerKnows) {
  Sleeper sleeper("60");
  int waits = 0;
  bool known = false;
  sleeper.loop->after(milliseconds(5), [&] { known = true; });
  const Supervision supervision{.deadline = deadline_after(std::chrono::seconds(30)),
                                .over = [&] { return known; },
                                .before_wait = [&] { ++waits; }};
  EXPECT_EQ(sleeper.supervise(supervision).value(), Ending::by_itself);
  EXPECT_GE(waits, 1);
}

}  // namespace
}  // namespace coop::run
