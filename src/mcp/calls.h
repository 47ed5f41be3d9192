// Running calls: each in its own thread, and each can be cancelled.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "sys/fd.h"

namespace coop::mcp {

// The client, and the request id (as JSON text): two clients may use the same ids.
struct CallKey {
  std::string client{};
  std::string id{};
  auto operator<=>(const CallKey&) const = default;
};

class Calls {
 public:
  // The interface of a running call.
  class Turn {
   public:
    int cancel_fd() const;  // readable once the call is cancelled
    // To be called once, at the end: whether the answer is still wanted.
    bool finish() const;

   private:
    friend class Calls;
    struct Call;
    Turn(Calls& calls, std::shared_ptr<Call> call) : calls_(calls), call_(std::move(call)) {}
    Calls& calls_;
    std::shared_ptr<Call> call_;
  };
  using Work = std::function<void(const Turn& turn)>;

  Calls() = default;
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;
  ~Calls() { stop(); }

  // At most 64 run at once, the others wait. An error when the key is in use.
  Result<void> start(const CallKey& key, Work work);
  void cancel(const CallKey& key);
  void cancel_all_of(const std::string& client);
  // Cancels everything and waits for it. Nothing starts any more.
  void stop();

 private:
  using Call = Turn::Call;
  Result<void> start_thread(std::shared_ptr<Call> call);
  void run(std::shared_ptr<Call> call);
  void end(std::map<CallKey, std::shared_ptr<Call>>::iterator call);

  std::mutex mutex_{};
  std::condition_variable idle_{};
  std::map<CallKey, std::shared_ptr<Call>> wanted_{};  // those with a pending answer
  std::deque<std::shared_ptr<Call>> waiting_{};
  std::size_t threads_ = 0;
  bool stopped_ = false;
};

}  // namespace coop::mcp
