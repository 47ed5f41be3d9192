// Calls that are under way: each in a thread of its own, and each can be cancelled.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "sys/fd.h"

namespace coop::tools::mcp {

// Who asked, and under which id (as JSON text): two clients may use the same ids.
struct CallKey {
  std::string client{};
  std::string id{};
  auto operator<=>(const CallKey&) const = default;
};

class Calls {
 public:
  // What a call asks of us while it works.
  class Turn {
   public:
    int cancel_fd() const;  // readable once the call is cancelled
    // To be asked once, at the end: whether the answer is still wanted.
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

  // At most 64 run at once, the others wait for their turn. An error when the key is in use.
  Result<void> start(const CallKey& key, Work work);
  void cancel(const CallKey& key);
  void cancel_all_of(const std::string& client);
  // Cancels everything and waits for its end. Nothing starts any more.
  void stop();

 private:
  using Call = Turn::Call;
  Result<void> start_thread(std::shared_ptr<Call> call);
  void run(std::shared_ptr<Call> call);
  void end(std::map<CallKey, std::shared_ptr<Call>>::iterator call);

  std::mutex mutex_{};
  std::condition_variable idle_{};
  std::map<CallKey, std::shared_ptr<Call>> wanted_{};  // those whose answer somebody waits for
  std::deque<std::shared_ptr<Call>> waiting_{};
  std::size_t threads_ = 0;
  bool stopped_ = false;
};

}  // namespace coop::tools::mcp
