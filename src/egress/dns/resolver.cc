#include "egress/dns/resolver.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/address.h"
#include "base/path.h"
#include "egress/dns/ask.h"
#include "egress/dns/message.h"
#include "policy/destinations/host_name.h"

namespace coop::egress {

namespace {

using Kind = DnsReply::Kind;

constexpr std::chrono::milliseconds kSecondFamily{250};
constexpr std::chrono::seconds kBetweenChecks{1};
constexpr std::chrono::seconds kLongestMemory{60};
constexpr std::chrono::seconds kMemoryOfNothing{5};
constexpr std::size_t kMostRemembered = 1024;
constexpr std::size_t kMostQuestions = 256;  // each has two sockets
constexpr std::size_t kMostAddresses = 16;

Resolver::Addresses problem_with(const std::string& name, std::string_view why) {
  return unavailable("resolve " + printable(name), why);
}

// Alternates the families, IPv4 first: if one family does not work, the other is tried next.
std::vector<std::string> in_turns(const std::vector<std::string>& four,
                                  const std::vector<std::string>& six) {
  std::vector<std::string> both;
  for (std::size_t index = 0; index < std::max(four.size(), six.size()); ++index) {
    if (index < four.size()) both.push_back(address_text(four[index]));
    if (index < six.size()) both.push_back(address_text(six[index]));
  }
  both.resize(std::min(both.size(), kMostAddresses));
  return both;
}

std::vector<std::string> in_turns(const std::vector<std::string>& texts) {
  std::vector<std::string> four;
  std::vector<std::string> six;
  for (const std::string& text : texts)
    if (const auto bytes = address_bytes(text)) (bytes->size() == 4 ? four : six).push_back(*bytes);
  return in_turns(four, six);
}

}  // namespace

// One name being resolved.
struct Resolver::Question {
  struct Family {
    std::unique_ptr<DnsAsk> ask{};
    std::optional<DnsReply> reply{};

    bool has_addresses() const { return reply && !reply->addresses.empty(); }
    bool says_nothing_is_there() const { return reply && reply->kind == Kind::no_such_name; }
    bool failed() const { return reply && reply->kind == Kind::failed; }
  };
  std::string name{};
  std::vector<Found> waiting{};
  Family four{};
  Family six{};
  EventLoop::Timer patience{};
};

Resolver::Resolver(EventLoop& loop, ResolverConfig config)
    : loop_(loop), config_(std::move(config)) {}

Resolver::~Resolver() {
  for (const auto& [name, question] : questions_) loop_.cancel(question->patience);
}

void Resolver::look_up(const std::string& text, Found found) {
  if (const auto bytes = address_bytes(text))
    return found(std::vector<std::string>{address_text(*bytes)});
  const std::optional<std::string> name = policy::host_name(text);
  if (!name) return found(problem_with(text, "not the name of a host"));
  if (policy::is_localhost(*name)) return found(std::vector<std::string>{"127.0.0.1", "::1"});
  refresh();
  if (const auto known = config_.hosts.find(*name); known != config_.hosts.end())
    return found(in_turns(known->second));
  if (const auto known = remembered_.find(*name); known != remembered_.end()) {
    if (known->second.until > Clock::now()) return found(Addresses(known->second.addresses));
    remembered_.erase(known);
  }
  ask(*name, std::move(found));
}

const std::vector<std::string>& Resolver::servers() {
  refresh();
  return config_.servers;
}

void Resolver::refresh() {
  if (!config_.files || Clock::now() - checked_ < kBetweenChecks) return;
  checked_ = Clock::now();
  if (stamps_of(*config_.files) == config_.stamps) return;
  Result<ResolverConfig> config = read_resolver_config(*config_.files);
  if (!config) return;  // keep the old configuration while the new one cannot be read
  config->port = config_.port;
  config_ = std::move(*config);
  remembered_.clear();  // answers of another network
}

void Resolver::ask(const std::string& name, Found found) {
  if (const auto asked = questions_.find(name); asked != questions_.end()) {
    asked->second->waiting.push_back(std::move(found));
    return;
  }
  if (questions_.size() >= kMostQuestions)
    return found(problem_with(name, "too many lookups at once"));
  auto owned = std::make_shared<Question>();
  Question& question = *owned;
  question.name = name;
  question.waiting.push_back(std::move(found));
  const auto prepare = [&](Question::Family& family, std::uint16_t type) {
    family.ask = std::make_unique<DnsAsk>(loop_, NameServers{config_.servers, config_.port}, name,
                                          type, [this, &question, &family](const DnsReply& reply) {
                                            family.reply = reply;
                                            answered(question);
                                          });
  };
  prepare(question.four, kDnsA);
  prepare(question.six, kDnsAaaa);
  questions_.emplace(name, std::move(owned));
  // Neither query can finish the question by itself before the loop runs again.
  question.four.ask->start();
  question.six.ask->start();
}

void Resolver::answered(Question& question) {
  const Question::Family& four = question.four;
  const Question::Family& six = question.six;
  const bool both = four.reply && six.reply;
  if (both || four.says_nothing_is_there() || six.says_nothing_is_there()) return finish(question);
  if (four.has_addresses() || six.has_addresses())
    question.patience = loop_.after(kSecondFamily, [this, &question] { finish(question); });
}

Resolver::Remembered Resolver::conclude(const Question& question) {
  const DnsReply four = question.four.reply.value_or(DnsReply{});
  const DnsReply six = question.six.reply.value_or(DnsReply{});
  Addresses result = in_turns(four.addresses, six.addresses);
  if (!result->empty()) {
    std::chrono::seconds time = kLongestMemory;
    for (const DnsReply& reply : {four, six})
      if (!reply.addresses.empty()) time = std::min(time, std::chrono::seconds(reply.ttl));
    return {std::move(result), Clock::now() + time};
  }
  if (question.four.says_nothing_is_there() || question.six.says_nothing_is_there())
    return {problem_with(question.name, "no such name"), Clock::now() + kMemoryOfNothing};
  // Do not cache failures: they may be temporary.
  for (const Question::Family* family : {&question.four, &question.six})
    if (family->failed()) return {problem_with(question.name, family->ask->problem()), {}};
  return {problem_with(question.name, "the name has no address"), Clock::now() + kMemoryOfNothing};
}

void Resolver::finish(Question& question) {
  loop_.cancel(question.patience);
  const auto found = questions_.find(question.name);
  const std::shared_ptr<Question> owned = std::move(found->second);
  questions_.erase(found);
  const std::vector<Found> waiting = std::move(owned->waiting);

  const Remembered conclusion = conclude(*owned);
  remember(owned->name, conclusion);
  for (const Found& callback : waiting) callback(conclusion.addresses);
}

void Resolver::remember(const std::string& name, const Remembered& conclusion) {
  const Clock::time_point now = Clock::now();
  if (conclusion.until <= now) return;
  if (remembered_.size() >= kMostRemembered)
    std::erase_if(remembered_, [now](const auto& entry) { return entry.second.until <= now; });
  if (remembered_.size() >= kMostRemembered)
    remembered_.erase(std::ranges::min_element(
        remembered_, {}, [](const auto& entry) { return entry.second.until; }));
  remembered_[name] = conclusion;
}

}  // namespace coop::egress
