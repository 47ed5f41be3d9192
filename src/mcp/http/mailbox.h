// Messages for one POST, from the threads of the calls to the connection.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <string>

#include "tools/tool.h"

namespace coop::mcp {

inline std::string text_of(const Json& message) {
  return message.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A null counts as one: the request was cancelled, and nothing else will come.
inline bool is_answer(const Json& message) { return !message.contains("method"); }

// Owned by the event loop; other threads only post to it.
struct Mailbox {
  // Progress messages that a slow client has not read yet.
  static constexpr std::size_t kMostProgress = 256;

  explicit Mailbox(const boost::asio::any_io_executor& executor) : bell(executor) {}
  boost::asio::steady_timer bell;
  std::deque<Json> messages{};
  std::size_t unanswered = 0;
  bool gone = false;  // the client has closed the connection

  void put(Json message) {
    const bool answer = is_answer(message);
    if (!answer && messages.size() >= kMostProgress) return;
    messages.push_back(std::move(message));
    bell.cancel();
  }

  // Moves the answers that have arrived to `answers`, and returns their number; progress is
  // dropped.
  std::size_t take_answers(Json& answers) {
    std::size_t count = 0;
    for (; !messages.empty(); messages.pop_front()) {
      if (!is_answer(messages.front())) continue;
      ++count;
      if (!messages.front().is_null()) answers.push_back(std::move(messages.front()));
    }
    return count;
  }

  // The messages as server-sent events; counts the answers among them.
  std::string take_events(std::size_t& answered) {
    std::string events;
    for (; !messages.empty(); messages.pop_front()) {
      if (is_answer(messages.front())) ++answered;
      if (!messages.front().is_null())
        events += "event: message\ndata: " + text_of(messages.front()) + "\n\n";
    }
    return events;
  }
};

}  // namespace coop::mcp
