// The cost of many connections, and what happens beyond the limits.
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "net_world.h"

namespace coop::egress {
namespace {

using namespace std::literals;

// Sets the soft limit of descriptors as long as it lives.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t most) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit wanted{std::min(most, before_.rlim_max), before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &wanted);
  }
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(LimitsTest, AWorkerAtItsLimitLeavesTheNextInTheQueue) {
  Echo echo("hi");
  World world(echo.port(), {.most_connections = 1});
  UniqueFd first = world.connect("good.example");
  EXPECT_EQ(hear(first, 2), "hi");
  const UniqueFd second = world.connect("good.example");
  const timeval shortly{0, 100000};
  ::setsockopt(second.get(), SOL_SOCKET, SO_RCVTIMEO, &shortly, sizeof shortly);
  char byte = 0;
  EXPECT_EQ(::recv(second.get(), &byte, 1, 0), -1);
  EXPECT_EQ(errno, EAGAIN);
  first.reset();
  const timeval longer{20, 0};
  ::setsockopt(second.get(), SOL_SOCKET, SO_RCVTIMEO, &longer, sizeof longer);
  EXPECT_EQ(hear(second, 2), "hi");
}

TEST(LimitsTest, WhenAllTogetherAreAtTheirsTheNextIsReset) {
  Echo echo("hi");
  World world(echo.port(), {.most_total = 1});
  const UniqueFd first = world.connect("good.example");
  EXPECT_EQ(hear(first, 2), "hi");
  EXPECT_FALSE(read_all(world.connect("good.example").get(), "socket").has_value());
  EXPECT_EQ(finish(first), "");
}

std::chrono::nanoseconds processor_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Not under sanitizers: they need descriptors themselves, and have another allocator.
#ifndef COOP_SANITIZED

TEST(LimitsTest, WithoutDescriptorsNothingSpinsAndTheNextIsServedLater) {
  Echo echo("hi");
  World world(echo.port());
  const UniqueFd socket = new_socket();
  {
    const UniqueFd lowest(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const DescriptorLimit none(static_cast<rlim_t>(lowest.get()));
    connect_to_port(socket, world.host_port);
    const auto before = processor_time();
    std::this_thread::sleep_for(500ms);
    EXPECT_LT(processor_time() - before, 100ms);
  }
  EXPECT_EQ(hear(socket, 2), "hi");
}

// All arenas: mallinfo2() reports the main one only, and the loop has its own thread.
std::size_t memory_in_use() {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* stream = ::open_memstream(&text, &size);
  ::malloc_info(0, stream);
  std::fclose(stream);
  const std::string all(text, size);
  std::free(text);
  const std::string totals = all.substr(all.rfind("</heap>"));
  const auto total = [&](const std::string& type) -> std::size_t {
    const std::size_t line = totals.find("type=\"" + type + "\"");
    if (line == std::string::npos) return 0;  // glibc 2.43 has no fast bins
    return std::stoull(totals.substr(totals.find("size=\"", line) + 6));
  };
  return total("current") - total("fast") - total("rest");
}

TEST(LimitsTest, ConnectionsAtRestCostLittle) {
  constexpr std::size_t kCount = 2000;
  constexpr std::size_t kMostBytes = 4096;
  const DescriptorLimit many(20000);
  Listener server = listen_on_loopback();
  World world(server.port);
  std::vector<UniqueFd> outside;
  std::vector<UniqueFd> inside;
  outside.reserve(kCount);
  inside.reserve(kCount);
  const auto one = [&] {
    inside.push_back(world.connect("good.example"));
    outside.emplace_back(::accept4(server.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
    say(inside.back(), "request");
    EXPECT_EQ(hear(outside.back(), 7), "request");
    say(outside.back(), "answer");
    EXPECT_EQ(hear(inside.back(), 6), "answer");
  };
  one();
  const std::size_t before = memory_in_use();
  while (inside.size() < kCount) one();
  const std::size_t each = (memory_in_use() - before) / (kCount - 1);
  RecordProperty("bytes_of_each", static_cast<int>(each));
  EXPECT_LT(each, kMostBytes);
  EXPECT_GT(each, 100U);  // else it was not measured
}

#endif  // COOP_SANITIZED

}  // namespace
}  // namespace coop::egress
