#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "base/path.h"
#include "tools/web/urls.h"

namespace coop::tools {

namespace {

Result<std::vector<std::string>> look_up(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;  // each address once
  addrinfo* list = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), nullptr, &wanted, &list); error != 0)
    return unavailable("resolve " + printable(host), ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  std::vector<std::string> addresses;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    // NI_NUMERICHOST: no query. A scope ("%eth0") stays in the text, and is refused.
    std::array<char, NI_MAXHOST> text{};
    const int error = ::getnameinfo(entry->ai_addr, entry->ai_addrlen, text.data(), text.size(),
                                    nullptr, 0, NI_NUMERICHOST);
    if (error != 0) return unavailable("resolve " + printable(host), ::gai_strerror(error));
    addresses.emplace_back(text.data());
  }
  return addresses;
}

// Shared by the caller and its thread; the last one frees it.
struct Question {
  std::mutex mutex{};
  std::condition_variable answered{};
  std::optional<Result<std::vector<std::string>>> answer{};
};

// getaddrinfo() has no timeout: a name server that never answers blocks it for half a minute or
// more. Its thread is then detached, and ends by itself.
Result<std::vector<std::string>> look_up_in_time(const std::string& host) {
  constexpr std::chrono::seconds kLongest{10};
  const auto question = std::make_shared<Question>();
  try {
    std::thread([question, host] {
      Result<std::vector<std::string>> answer = look_up(host);
      const std::lock_guard lock(question->mutex);
      question->answer = std::move(answer);
      question->answered.notify_one();
    }).detach();
  } catch (const std::system_error& error) {
    return system_error_of(error.code().value(), "start a thread");
  }
  std::unique_lock lock(question->mutex);
  if (!question->answered.wait_for(lock, kLongest, [&] { return question->answer.has_value(); }))
    return timed_out("resolve " + printable(host), "no answer within 10s");
  return *question->answer;
}

}  // namespace

Resolver system_resolver() { return look_up_in_time; }

}  // namespace coop::tools
