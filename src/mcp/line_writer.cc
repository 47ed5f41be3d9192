#include "mcp/line_writer.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "sys/fd.h"

namespace coop::mcp {

namespace {

constexpr std::size_t kMostBehind = 256;
constexpr std::chrono::seconds kPatience{1};

}  // namespace

struct LineWriter::State {
  int fd = -1;
  std::mutex mutex{};
  std::condition_variable changed{};
  std::deque<std::string> lines{};
  bool writing = false;
  bool ended = false;

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return ended || !lines.empty(); });
      if (lines.empty()) return;
      const std::string line = std::move(lines.front());
      lines.pop_front();
      writing = true;
      lock.unlock();
      // A closed pipe is noticed at the input.
      [[maybe_unused]] const Result<void> ignored = write_all(fd, line, "standard output");
      lock.lock();
      writing = false;
      changed.notify_all();
    }
  }
};

LineWriter::LineWriter(int fd) : state_(std::make_shared<State>()) {
  state_->fd = fd;
  std::thread([state = state_] { state->run(); }).detach();
}

LineWriter::~LineWriter() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait_for(lock, kPatience,
                           [&] { return state_->lines.empty() && !state_->writing; });
  state_->ended = true;
  state_->lines.clear();
  state_->changed.notify_all();
}

void LineWriter::write(std::string line) {
  const std::lock_guard lock(state_->mutex);
  state_->lines.push_back(std::move(line));
  state_->changed.notify_all();
}

void LineWriter::write_if_read(std::string line) {
  const std::lock_guard lock(state_->mutex);
  if (state_->lines.size() >= kMostBehind) return;
  state_->lines.push_back(std::move(line));
  state_->changed.notify_all();
}

}  // namespace coop::mcp
