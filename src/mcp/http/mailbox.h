// Messages for one POST, from the threads of the calls to the connection.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tools/tool.h"

namespace coop::mcp {

inline std::string text_of(const Json& message) {
  return message.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A null counts as one: the request was cancelled, and nothing else will come.
inline bool is_answer(const Json& message) { return !message.contains("method"); }

// Any thread may call send(); the rest belongs to the event loop.
class Mailbox : public std::enable_shared_from_this<Mailbox> {
 public:
  // Progress messages that a slow client has not read yet.
  static constexpr std::size_t kMostProgress = 256;

  explicit Mailbox(const boost::asio::any_io_executor& executor) : bell(executor) {}
  boost::asio::steady_timer bell;
  std::size_t unanswered = 0;
  bool gone = false;  // the client has closed the connection

  // Queue messages under the mutex and post only a wake-up: handlers of an io_context posted from different threads may
  // run out of order.
  void send(Json message) {
    {
      const std::lock_guard lock(mutex_);
      if (!is_answer(message) && messages_.size() >= kMostProgress) return;
      messages_.push_back(std::move(message));
    }
    boost::asio::post(bell.get_executor(), [self = shared_from_this()] { self->bell.cancel(); });
  }

  // Moves the answers that have arrived to `answers`, and returns their number; progress is
  // dropped.
  std::size_t take_answers(Json& answers) {
    std::size_t count = 0;
    for (Json& message : take()) {
      if (!is_answer(message)) continue;
      ++count;
      if (!message.is_null()) answers.push_back(std::move(message));
    }
    return count;
  }

  // The messages as server-sent events; counts the answers among them.
  std::string take_events(std::size_t& answered) {
    std::string events;
    for (const Json& message : take()) {
      if (is_answer(message)) ++answered;
      if (!message.is_null()) events += "event: message\ndata: " + text_of(message) + "\n\n";
    }
    return events;
  }

 private:
  std::vector<Json> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(messages_, {});
  }

  std::mutex mutex_{};
  std::vector<Json> messages_{};
};

}  // namespace coop::mcp
