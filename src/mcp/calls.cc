#include "mcp/calls.h"

#include <sys/eventfd.h>

#include <system_error>
#include <thread>
#include <utility>

namespace coop::mcp {

namespace {

constexpr std::size_t kMostAtOnce = 64;
constexpr std::size_t kMostWaiting = 1024;

}  // namespace

struct Calls::Turn::Call {
  CallKey key{};
  Work work{};
  UniqueFd cancelled{};
};

int Calls::Turn::cancel_fd() const { return call_->cancelled.get(); }

bool Calls::Turn::finish() const {
  const std::lock_guard lock(calls_.mutex_);
  // Compare the call itself: its id may have been cancelled and reused.
  const auto found = calls_.wanted_.find(call_->key);
  if (found == calls_.wanted_.end() || found->second != call_) return false;
  calls_.wanted_.erase(found);
  return true;
}

Result<void> Calls::start(const CallKey& key, Work work) {
  auto call = std::make_shared<Call>(key, std::move(work),
                                     UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
  if (!call->cancelled.valid()) return system_error("eventfd");
  const std::lock_guard lock(mutex_);
  if (stopped_) return invalid("call", "the server is ending");
  if (wanted_.contains(key)) return invalid("call", "this id is in use");
  if (waiting_.size() >= kMostWaiting) return invalid("call", "too many calls are waiting");
  if (threads_ < kMostAtOnce) TRY(start_thread(call));
  else waiting_.push_back(call);
  wanted_[key] = std::move(call);
  return {};
}

Result<void> Calls::start_thread(std::shared_ptr<Call> call) {
  try {
    std::thread([this, call = std::move(call)] { run(call); }).detach();
  } catch (const std::system_error& problem) {
    return system_error_of(problem.code().value(), "start a thread");
  }
  ++threads_;
  return {};
}

void Calls::run(std::shared_ptr<Call> call) {
  while (call) {
    call->work(Turn(*this, call));
    const std::lock_guard lock(mutex_);
    call.reset();
    if (!waiting_.empty()) {
      call = std::move(waiting_.front());
      waiting_.pop_front();
    } else {
      --threads_;
      // Under the lock: the waiter may destroy us as soon as it has the lock.
      idle_.notify_all();
    }
  }
}

void Calls::end(std::map<CallKey, std::shared_ptr<Call>>::iterator call) {
  ::eventfd_write(call->second->cancelled.get(), 1);
  wanted_.erase(call);
}

void Calls::cancel(const CallKey& key) {
  const std::lock_guard lock(mutex_);
  const auto found = wanted_.find(key);
  if (found != wanted_.end()) end(found);
}

void Calls::cancel_all_of(const std::string& client) {
  const std::lock_guard lock(mutex_);
  for (auto call = wanted_.begin(); call != wanted_.end();) {
    const auto next = std::next(call);
    if (call->first.client == client) end(call);
    call = next;
  }
}

void Calls::stop() {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  waiting_.clear();
  while (!wanted_.empty()) end(wanted_.begin());
  idle_.wait(lock, [&] { return threads_ == 0; });
}

}  // namespace coop::mcp
