#include "seccompgen_rules.h"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/udp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

namespace coop::seccompgen {
namespace {

constexpr std::array<std::pair<std::string_view, Verdict>, 9> kVerdicts{{
    {"allow", Verdict::allow},
    {"eperm", Verdict::eperm},
    {"enosys", Verdict::enosys},
    {"eafnosupport", Verdict::eafnosupport},
    {"eprotonosupport", Verdict::eprotonosupport},
    {"kill", Verdict::kill},
    {"notify", Verdict::notify},
    {"debug", Verdict::debug},
    {"mptcp", Verdict::mptcp},
}};

// From the kernel's headers, so that no number is mistyped. The values are the same on all
// architectures.
constexpr std::array<std::pair<std::string_view, std::uint32_t>, 37> kConstants{{
    {"ADDR_NO_RANDOMIZE", ADDR_NO_RANDOMIZE},
    {"AF_INET", AF_INET},
    {"AF_INET6", AF_INET6},
    {"AF_NETLINK", AF_NETLINK},
    {"AF_UNIX", AF_UNIX},
    {"CLONE_NEWCGROUP", CLONE_NEWCGROUP},
    {"CLONE_NEWIPC", CLONE_NEWIPC},
    {"CLONE_NEWNET", CLONE_NEWNET},
    {"CLONE_NEWNS", CLONE_NEWNS},
    {"CLONE_NEWPID", CLONE_NEWPID},
    {"CLONE_NEWUSER", CLONE_NEWUSER},
    {"CLONE_NEWUTS", CLONE_NEWUTS},
    {"INET_MASK", ~std::uint32_t{AF_INET ^ AF_INET6}},
    {"IPPROTO_MPTCP", 262},  // not in every C library's headers
    {"IPPROTO_TCP", IPPROTO_TCP},
    {"IPPROTO_UDP", IPPROTO_UDP},
    {"NETLINK_ROUTE", NETLINK_ROUTE},
    {"O_CREAT", O_CREAT},
    {"O_TMPFILE", 020000000},  // without the O_DIRECTORY that the C library's constant includes
    {"PER_LINUX", PER_LINUX},
    {"PER_LINUX32", PER_LINUX32},
    {"SECCOMP_FILTER_FLAG_NEW_LISTENER", SECCOMP_FILTER_FLAG_NEW_LISTENER},
    {"S_ISGID", S_ISGID},
    {"S_ISUID", S_ISUID},
    {"SOCK_DGRAM", SOCK_DGRAM},
    {"SOCK_PACKET", SOCK_PACKET},
    {"SOCK_RAW", SOCK_RAW},
    {"SOCK_STREAM", SOCK_STREAM},
    {"SOCK_TYPE_MASK", 0xf},  // not in the kernel's public headers
    {"SOL_TCP", IPPROTO_TCP},
    {"SOL_UDP", IPPROTO_UDP},
    {"TCP_ULP", TCP_ULP},
    {"TIOCLINUX", TIOCLINUX},
    {"TIOCSETD", TIOCSETD},
    {"F_SETLEASE", F_SETLEASE},
    {"TIOCSTI", TIOCSTI},
    {"UDP_ENCAP", UDP_ENCAP},
}};

// More than any rule needs, and few enough for the eight-bit offset of a conditional jump.
constexpr std::size_t kMostTests = 6;

// From here on a new system call has the same number on every architecture.
constexpr int kFirstSharedNumber = 424;

std::string quote(std::string_view text) { return '"' + std::string(text) + '"'; }

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// Removes everything before `separator` from the front of `text`; all of it if there is none.
std::string_view take_until(std::string_view& text, std::string_view separator) {
  const std::size_t end = text.find(separator);
  const std::string_view taken = trim(text.substr(0, end));
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + separator.size());
  text = trim(text);
  return taken;
}

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "0x8" or "TIOCSTI" or several of them joined by "|".
Result<std::uint32_t> parse_value(std::string_view text) {
  if (text.ends_with('|')) return std::unexpected(quote(text) + " ends in \"|\"");
  std::uint32_t value = 0;
  do {
    const std::string_view part = take_until(text, "|");
    const auto constant =
        std::ranges::find(kConstants, part, [](auto& pair) { return pair.first; });
    const std::optional<std::uint32_t> number = parse_number<std::uint32_t>(part);
    if (part.empty() || (constant == kConstants.end() && !number))
      return std::unexpected(quote(part) + " is neither a 32-bit number nor a known constant");
    value |= number ? *number : constant->second;
  } while (!text.empty());
  return value;
}

// "arg1 & SOCK_TYPE_MASK == SOCK_RAW"
Result<Test> parse_test(std::string_view text) {
  Test test{};
  const std::string_view whole = text;
  const bool different = text.find("!=") != std::string_view::npos;
  std::string_view left = take_until(text, different ? "!=" : "==");
  test.relation = different ? Test::Relation::different : Test::Relation::equal;

  const bool masked = left.find('&') != std::string_view::npos;
  const std::string_view argument = take_until(left, "&");
  if (argument.size() != 4 || !argument.starts_with("arg") || argument[3] < '0' ||
      argument[3] > '5')
    return std::unexpected("condition " + quote(whole) + " does not begin with arg0 to arg5");
  test.argument = static_cast<unsigned>(argument[3] - '0');

  if (masked) {
    const Result<std::uint32_t> mask = parse_value(left);
    if (!mask) return std::unexpected(mask.error());
    test.mask = *mask;
  }
  const Result<std::uint32_t> value = parse_value(text);
  if (!value) return std::unexpected(value.error());
  test.value = *value;
  // Such a test would be constant: certainly a mistake.
  if ((test.value & ~test.mask) != 0)
    return std::unexpected("condition " + quote(whole) + " compares bits its mask removes");
  return test;
}

// What follows the name: "eperm [arg1 == TIOCSTI] types into the terminal".
Result<Rule> parse_rule(std::string_view text) {
  Rule rule{};
  const std::string_view verdict = take_until(text, " ");
  const auto known = std::ranges::find(kVerdicts, verdict, [](auto& pair) { return pair.first; });
  if (known == kVerdicts.end()) return std::unexpected(quote(verdict) + " is no verdict");
  rule.verdict = known->second;

  if (text.starts_with('[')) {
    if (text.find(']') == std::string_view::npos)
      return std::unexpected("condition without a \"]\"");
    text.remove_prefix(1);
    std::string_view condition = take_until(text, "]");
    rule.condition = condition;
    do {
      const Result<Test> test = parse_test(take_until(condition, " and "));
      if (!test) return std::unexpected(test.error());
      rule.tests.push_back(*test);
    } while (!condition.empty());
    if (rule.tests.size() > kMostTests) return std::unexpected("a condition of too many tests");
  }
  if (text.empty()) return std::unexpected("a rule needs a reason");
  rule.reason = text;
  return rule;
}

// "read" or "mseal=462".
Result<Syscall> parse_name(std::string_view text) {
  Syscall syscall{};
  const bool numbered = text.find('=') != std::string_view::npos;
  syscall.name = take_until(text, "=");
  if (!numbered) return syscall;
  syscall.number = parse_number<int>(text);
  if (!syscall.number || *syscall.number < kFirstSharedNumber)
    return std::unexpected(quote(text) + " is no number that all machines share (424 and up)");
  return syscall;
}

// The rules of a call end with an unconditional rule, and none follows an unconditional one.
Result<void> check_order(const Syscall& syscall) {
  for (const Rule& rule : syscall.rules) {
    const bool last = &rule == &syscall.rules.back();
    if (last && !rule.tests.empty())
      return std::unexpected(syscall.place + ": the last rule of " + syscall.name +
                             " must have no condition");
    if (!last && rule.tests.empty())
      return std::unexpected(syscall.place + ": rules of " + syscall.name +
                             " stand behind one without a condition");
  }
  return {};
}

Result<void> read_line(std::string_view line, const std::string& place,
                       std::vector<Syscall>& syscalls) {
  const auto at_place = [&](const std::string& what) {
    return std::unexpected(place + ": " + what);
  };
  if (std::ranges::any_of(line, [](unsigned char byte) { return byte < 0x20 || byte > 0x7e; }))
    return at_place("only printable ASCII is expected, and no tabs");

  Result<Syscall> named = parse_name(take_until(line, " "));
  if (!named) return at_place(named.error());
  Result<Rule> rule = parse_rule(line);
  if (!rule) return at_place(rule.error());

  if (syscalls.empty() || syscalls.back().name != named->name) {
    const auto before = std::ranges::find(syscalls, named->name, &Syscall::name);
    if (before != syscalls.end())
      return at_place(named->name + " has rules already, at " + before->place);
    named->place = place;
    syscalls.push_back(std::move(*named));
  } else if (syscalls.back().number != named->number) {
    return at_place(named->name + " has another number in the line before");
  }
  syscalls.back().rules.push_back(std::move(*rule));
  return {};
}

}  // namespace

std::string_view to_text(Verdict verdict) {
  return std::ranges::find(kVerdicts, verdict, [](auto& pair) { return pair.second; })->first;
}

Result<std::vector<Syscall>> read_rules(const std::vector<Source>& sources) {
  std::vector<Syscall> syscalls;
  for (const Source& source : sources) {
    std::string_view text = source.text;
    for (std::size_t number = 1; !text.empty(); ++number) {
      const std::size_t end = text.find('\n');
      const std::string_view line = trim(text.substr(0, end));
      text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
      if (line.empty() || line.starts_with('#')) continue;
      const Result<void> read =
          read_line(line, source.name + ":" + std::to_string(number), syscalls);
      if (!read) return std::unexpected(read.error());
    }
  }
  for (const Syscall& syscall : syscalls) {
    const Result<void> checked = check_order(syscall);
    if (!checked) return std::unexpected(checked.error());
  }
  return syscalls;
}

}  // namespace coop::seccompgen
