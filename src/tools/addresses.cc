#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <system_error>
#include <thread>

#include "base/path.h"
#include "tools/urls.h"

namespace coop::tools {

namespace {

using Bytes = std::array<std::uint8_t, 16>;

struct Range {
  const char* first;
  unsigned bits;
  std::string_view reason;
};

// The first that fits names the reason: single addresses before the ranges around them.
constexpr std::array kForbidden4{
    Range{"169.254.169.254", 32, "link-local (cloud metadata)"},
    Range{"169.254.170.2", 32, "link-local (credentials of AWS containers)"},
    Range{"100.100.100.200", 32, "shared (cloud metadata of Alibaba)"},
    Range{"168.63.129.16", 32, "cloud metadata (of Azure)"},
    Range{"0.0.0.0", 32, "unspecified: this machine"},
    Range{"0.0.0.0", 8, "reserved: this network"},
    Range{"10.0.0.0", 8, "private"},
    Range{"100.64.0.0", 10, "shared (carrier-grade NAT)"},
    Range{"127.0.0.0", 8, "loopback: this machine"},
    Range{"169.254.0.0", 16, "link-local"},
    Range{"172.16.0.0", 12, "private"},
    Range{"192.0.0.0", 24, "reserved for protocols"},
    Range{"192.0.2.0", 24, "for documentation"},
    Range{"192.88.99.0", 24, "a 6to4 relay"},
    Range{"192.168.0.0", 16, "private"},
    Range{"198.18.0.0", 15, "for benchmarks"},
    Range{"198.51.100.0", 24, "for documentation"},
    Range{"203.0.113.0", 24, "for documentation"},
    Range{"224.0.0.0", 4, "multicast"},
    Range{"255.255.255.255", 32, "broadcast"},
    Range{"240.0.0.0", 4, "reserved"},
};

constexpr std::array kForbidden6{
    Range{"fd00:ec2::254", 128, "private (cloud metadata of AWS)"},
    Range{"fd20:ce::254", 128, "private (cloud metadata of Google)"},
    Range{"::", 128, "unspecified: this machine"},
    Range{"::1", 128, "loopback: this machine"},
    Range{"::", 96, "an IPv4 address in IPv6 form (compatible)"},
    Range{"::ffff:0:0", 96, "an IPv4 address in IPv6 form (mapped)"},
    Range{"::ffff:0:0:0", 96, "an IPv4 address in IPv6 form (translated)"},
    Range{"64:ff9b::", 96, "an IPv4 address in IPv6 form (NAT64)"},
    Range{"64:ff9b:1::", 48, "an IPv4 address in IPv6 form (NAT64)"},
    Range{"100::", 64, "discarded"},
    Range{"2001::", 32, "an IPv4 address in IPv6 form (Teredo)"},
    Range{"2001::", 23, "reserved for protocols"},
    Range{"2001:db8::", 32, "for documentation"},
    Range{"2002::", 16, "an IPv4 address in IPv6 form (6to4)"},
    Range{"3fff::", 20, "for documentation"},
    Range{"fc00::", 7, "private (unique local)"},
    Range{"fe80::", 10, "link-local"},
    Range{"fec0::", 10, "private (site-local)"},
    Range{"ff00::", 8, "multicast"},
};

// Only this much of IPv6 has been given out for the internet.
constexpr Range kGlobal6{"2000::", 3, {}};

std::optional<Bytes> bytes_of(int family, const char* text) {
  Bytes bytes{};
  if (::inet_pton(family, text, bytes.data()) != 1) return std::nullopt;
  return bytes;
}

bool is_in(const Bytes& address, int family, const Range& range) {
  const std::optional<Bytes> first = bytes_of(family, range.first);
  if (!first) return true;  // a slip in the table must not open anything
  for (unsigned bit = 0; bit < range.bits; bit += 8) {
    const unsigned left = std::min(range.bits - bit, 8U);
    const unsigned mask = 0xffU << (8U - left) & 0xffU;
    if (((address[bit / 8] ^ (*first)[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

std::string reason_in(std::span<const Range> ranges, const Bytes& address, int family) {
  const auto found = std::ranges::find_if(
      ranges, [&](const Range& range) { return is_in(address, family, range); });
  return found == ranges.end() ? std::string() : std::string(found->reason);
}

Result<std::vector<std::string>> look_up(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;  // each address once
  addrinfo* list = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), nullptr, &wanted, &list); error != 0)
    return invalid("resolve " + printable(host), ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  std::vector<std::string> addresses;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    // With NI_NUMERICHOST nobody is asked. A scope ("%eth0") stays in the text, and is refused.
    std::array<char, NI_MAXHOST> text{};
    const int error = ::getnameinfo(entry->ai_addr, entry->ai_addrlen, text.data(), text.size(),
                                    nullptr, 0, NI_NUMERICHOST);
    if (error != 0) return invalid("resolve " + printable(host), ::gai_strerror(error));
    addresses.emplace_back(text.data());
  }
  return addresses;
}

// What the asking thread and the asked one share; whoever is last lets go of it.
struct Question {
  std::mutex mutex{};
  std::condition_variable answered{};
  std::optional<Result<std::vector<std::string>>> answer{};
};

// getaddrinfo() has no time limit of its own: a name server that never answers holds it for half a
// minute and more. Its thread is left behind then, and ends by itself.
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
    return invalid("resolve " + printable(host), "no answer within 10s");
  return *question->answer;
}

}  // namespace

std::string why_forbidden(std::string_view address) {
  const std::string text(address);
  if (text.size() != ::strlen(text.c_str())) return "not an address";
  if (const std::optional<Bytes> bytes = bytes_of(AF_INET, text.c_str()))
    return reason_in(kForbidden4, *bytes, AF_INET);
  const std::optional<Bytes> bytes = bytes_of(AF_INET6, text.c_str());
  if (!bytes) return "not an address";
  std::string reason = reason_in(kForbidden6, *bytes, AF_INET6);
  if (reason.empty() && !is_in(*bytes, AF_INET6, kGlobal6)) reason = "reserved";
  return reason;
}

Resolver system_resolver() { return look_up_in_time; }

}  // namespace coop::tools
