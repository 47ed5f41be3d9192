// libseccomp writes the search for the system call's number; we write what depends on arguments.
//
// libseccomp cannot say "all but these three ioctls": a rule without conditions swallows those
// with, and a call whose conditions all fail gets the filter's default. So a call with conditions
// first gets a placeholder, "return TRACE n"; each such return then becomes a jump to our own code,
// appended at the end. No instruction of libseccomp's moves, so its jumps stay right.
#include "seccompgen_filter.h"

#include "seccompgen_compact.h"

#include <linux/seccomp.h>
#include <seccomp.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

namespace coop::seccompgen {
namespace {

using Code = std::vector<sock_filter>;
using Filter = std::unique_ptr<void, decltype(&seccomp_release)>;

constexpr std::uint32_t kUnlisted = SECCOMP_RET_ERRNO | ENOSYS;

constexpr std::uint32_t return_value(Verdict verdict) {
  switch (verdict) {
    case Verdict::allow: return SECCOMP_RET_ALLOW;
    case Verdict::eperm: return SECCOMP_RET_ERRNO | EPERM;
    case Verdict::eafnosupport: return SECCOMP_RET_ERRNO | EAFNOSUPPORT;
    case Verdict::eprotonosupport: return SECCOMP_RET_ERRNO | EPROTONOSUPPORT;
    case Verdict::enosys: return kUnlisted;
    case Verdict::notify: return SECCOMP_RET_USER_NOTIF;
    case Verdict::kill:
    case Verdict::debug:
    case Verdict::mptcp: break;  // verdict_in() has resolved it
  }
  return SECCOMP_RET_KILL_PROCESS;
}

constexpr std::uint32_t placeholder(std::size_t index) {
  return SECCOMP_RET_TRACE | static_cast<std::uint32_t>(index + 1);
}

sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}
sock_filter finish(std::uint32_t value) { return BPF_STMT(BPF_RET | BPF_K, value); }

// One rule: every test that fails jumps to after the rule's return.
Code rule_code(const Rule& rule, const Choices& choices) {
  Code code;
  std::vector<std::size_t> comparisons;
  for (const Test& test : rule.tests) {
    // Both architectures are little-endian: the low half of an argument comes first. Ignore the
    // high half: the kernel drops it, so an attacker can set it freely.
    code.push_back(load(offsetof(seccomp_data, args) + 8 * test.argument));
    if (test.mask != 0xffffffff) code.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, test.mask));
    comparisons.push_back(code.size());
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, test.value, 0, 0));
  }
  code.push_back(finish(return_value(verdict_in(choices, rule.verdict))));
  for (std::size_t index = 0; index < comparisons.size(); ++index) {
    sock_filter& comparison = code[comparisons[index]];
    const auto behind = static_cast<std::uint8_t>(code.size() - comparisons[index] - 1);
    const bool equal = rule.tests[index].relation == Test::Relation::equal;
    (equal ? comparison.jf : comparison.jt) = behind;
  }
  return code;
}

Code rules_code(const Syscall& syscall, const Choices& choices) {
  Code code;
  for (const Rule& rule : syscall.rules) {
    const Code part = rule_code(rule, choices);
    code.insert(code.end(), part.begin(), part.end());
  }
  return code;
}

// Numbers that libseccomp may not know are searched after all others.
Result<Code> unlisted_code(const std::vector<Syscall>& present, const Choices& choices) {
  Code code{load(offsetof(seccomp_data, nr))};
  for (const Syscall& syscall : present) {
    if (!syscall.number) continue;
    const Code part = rules_code(syscall, choices);
    if (part.size() > UINT8_MAX)
      return std::unexpected(syscall.place + ": " + syscall.name + " has too many rules");
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(*syscall.number),
                            0, static_cast<std::uint8_t>(part.size())));
    code.insert(code.end(), part.begin(), part.end());
  }
  code.push_back(finish(kUnlisted));
  return code;
}

// What libseccomp is told about one call. Skip a call whose verdict equals the default: libseccomp
// refuses such rules.
std::uint32_t outer_value(const std::vector<Syscall>& present, std::size_t index,
                          const Choices& choices) {
  const Syscall& syscall = present[index];
  if (syscall.number) return kUnlisted;
  if (syscall.rules.size() > 1) return placeholder(index);
  return return_value(verdict_in(choices, syscall.rules.front().verdict));
}

std::unexpected<std::string> failed(const std::string& what, int result) {
  return std::unexpected(what + ": " + std::strerror(-result));
}

Result<Code> exported(const Filter& filter) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  if (!file) return failed("tmpfile", -errno);
  if (const int result = seccomp_export_bpf(filter.get(), fileno(file.get())); result < 0)
    return failed("seccomp_export_bpf", result);
  std::rewind(file.get());
  Code code;
  for (sock_filter one{}; std::fread(&one, sizeof one, 1, file.get()) == 1;) code.push_back(one);
  return code;
}

// libseccomp's program: numbers to verdicts and placeholders.
Result<Code> outer_code(const Machine& machine, const Choices& choices,
                        const std::vector<Syscall>& present) {
  const Filter filter(seccomp_init(kUnlisted), &seccomp_release);
  if (!filter) return std::unexpected("seccomp_init failed");
  int result = 0;
  if (machine.token != seccomp_arch_native()) {
    result = seccomp_arch_add(filter.get(), machine.token);
    if (result == 0) result = seccomp_arch_remove(filter.get(), SCMP_ARCH_NATIVE);
  }
  if (result == 0)
    result = seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  // A binary search, not a list: 15 instructions for an average call instead of 168 (openat: 14
  // instead of 245; read: 15 instead of 6).
  if (result == 0) result = seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
  if (result != 0) return failed("preparing a filter for " + std::string(machine.name), result);

  for (std::size_t index = 0; index < present.size(); ++index) {
    const std::uint32_t value = outer_value(present, index, choices);
    if (value == kUnlisted) continue;
    // Use the build machine's number, also for another architecture's filter: libseccomp translates
    // it.
    const int number = seccomp_syscall_resolve_name(present[index].name.c_str());
    result = seccomp_rule_add_exact(filter.get(), value, number, 0);
    if (result != 0) return failed(present[index].place + ": " + present[index].name, result);
  }
  return exported(filter);
}

// Replaces every return of `value` in the first `outer_size` instructions by a jump to `part`,
// which is appended. Returns the number of replacements.
std::size_t replace_returns(Code& code, std::size_t outer_size, std::uint32_t value,
                            const Code& part) {
  std::size_t replaced = 0;
  for (std::size_t index = 0; index < outer_size; ++index) {
    if (code[index].code != (BPF_RET | BPF_K) || code[index].k != value) continue;
    code[index] = BPF_STMT(BPF_JMP | BPF_JA, static_cast<std::uint32_t>(code.size() - index - 1));
    ++replaced;
  }
  code.insert(code.end(), part.begin(), part.end());
  return replaced;
}

}  // namespace

Verdict verdict_in(const Choices& choices, Verdict written) {
  if (written == Verdict::debug)
    return choices.debugging == Choice::allowed ? Verdict::allow : Verdict::eperm;
  if (written == Verdict::mptcp)
    return choices.mptcp == Choice::allowed ? Verdict::allow : Verdict::eprotonosupport;
  return written;
}

Result<std::vector<Syscall>> present_on(const Machine& machine,
                                        const std::vector<Syscall>& syscalls) {
  std::vector<Syscall> present;
  for (const Syscall& syscall : syscalls) {
    const int known = seccomp_syscall_resolve_name_arch(machine.token, syscall.name.c_str());
    if (known == __NR_SCMP_ERROR && !syscall.number)
      return std::unexpected(syscall.place + ": there is no system call \"" + syscall.name + '"');
    if (known >= 0 && syscall.number && *syscall.number != known)
      return std::unexpected(syscall.place + ": " + syscall.name + " has the number " +
                             std::to_string(known) + " on " + std::string(machine.name));
    // Numbers below -1 are libseccomp's pseudo numbers for calls of other architectures.
    if (known >= 0 || syscall.number) present.push_back(syscall);
  }
  return present;
}

Result<std::vector<sock_filter>> compile(const Machine& machine, const Choices& choices,
                                         const std::vector<Syscall>& present) {
  Result<Code> searched = outer_code(machine, choices, present);
  if (!searched) return searched;
  Result<Code> outer = compact(*searched, machine.token);
  if (!outer) return outer;
  Code code = std::move(*outer);
  const std::size_t outer_size = code.size();
  for (std::size_t index = 0; index < present.size(); ++index) {
    const std::uint32_t value = outer_value(present, index, choices);
    if (value != placeholder(index)) continue;
    if (replace_returns(code, outer_size, value, rules_code(present[index], choices)) == 0)
      return std::unexpected(present[index].place + ": libseccomp lost " + present[index].name);
  }
  const Result<Code> unlisted = unlisted_code(present, choices);
  if (!unlisted) return unlisted;
  if (replace_returns(code, outer_size, kUnlisted, *unlisted) == 0)
    return std::unexpected("libseccomp lost the default");
  if (code.size() > BPF_MAXINSNS) return std::unexpected("the program is too long for the kernel");
  return code;
}

}  // namespace coop::seccompgen
