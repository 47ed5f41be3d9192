#include "seccompgen_compact.h"

#include <linux/seccomp.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace coop::seccompgen {
namespace {

using Code = std::vector<sock_filter>;

constexpr std::uint32_t kHighestNumber = 0xffff;  // far above every system call number

// The program's return value, or nothing if it has an instruction that a number search does not
// need.
std::optional<std::uint32_t> evaluate(const Code& code, std::uint32_t architecture,
                                      std::uint32_t number) {
  std::uint32_t accumulator = 0;
  for (std::size_t at = 0; at < code.size(); ++at) {
    const sock_filter& one = code[at];
    switch (one.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (one.k == offsetof(seccomp_data, arch)) accumulator = architecture;
        else if (one.k == offsetof(seccomp_data, nr)) accumulator = number;
        else return std::nullopt;
        break;
      case BPF_JMP | BPF_JA: at += one.k; break;
      case BPF_JMP | BPF_JEQ | BPF_K: at += accumulator == one.k ? one.jt : one.jf; break;
      case BPF_JMP | BPF_JGT | BPF_K: at += accumulator > one.k ? one.jt : one.jf; break;
      case BPF_JMP | BPF_JGE | BPF_K: at += accumulator >= one.k ? one.jt : one.jf; break;
      case BPF_RET | BPF_K: return one.k;
      default: return std::nullopt;
    }
  }
  return std::nullopt;
}

struct Run {
  std::uint32_t first;
  std::uint32_t value;
};

// Special numbers: those of x32, and -1 ("no system call").
constexpr std::uint32_t kEdges[] = {0x3fffffff, 0x40000000, 0x40000001, 0x40000000 + 512,
                                    0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};

std::optional<std::vector<Run>> runs_of(const Code& code, std::uint32_t architecture) {
  std::vector<Run> runs;
  const auto add = [&](std::uint32_t number) {
    const std::optional<std::uint32_t> value = evaluate(code, architecture, number);
    if (!value) return false;
    if (runs.empty() || runs.back().value != *value) runs.push_back({number, *value});
    return true;
  };
  for (std::uint32_t number = 0; number <= kHighestNumber; ++number)
    if (!add(number)) return std::nullopt;
  for (const std::uint32_t number : kEdges)
    if (!add(number)) return std::nullopt;
  return runs;
}

// A balanced tree over runs[from, to): "is it at or above the middle?"
Code search(const std::vector<Run>& runs, std::size_t from, std::size_t to) {
  if (to - from == 1) return {BPF_STMT(BPF_RET | BPF_K, runs[from].value)};
  const std::size_t middle = (from + to) / 2;
  const Code below = search(runs, from, middle);
  const Code above = search(runs, middle, to);
  Code code;
  if (below.size() <= 255) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, runs[middle].first,
                            static_cast<std::uint8_t>(below.size()), 0));
  } else {  // too far for a conditional jump
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, runs[middle].first, 0, 1));
    code.push_back(BPF_STMT(BPF_JMP | BPF_JA, static_cast<std::uint32_t>(below.size())));
  }
  code.insert(code.end(), below.begin(), below.end());
  code.insert(code.end(), above.begin(), above.end());
  return code;
}

bool agree(const Code& a, const Code& b, std::uint32_t architecture, std::uint32_t number) {
  const std::optional<std::uint32_t> value = evaluate(a, architecture, number);
  return value && value == evaluate(b, architecture, number);
}

}  // namespace

std::expected<std::vector<sock_filter>, std::string> compact(const std::vector<sock_filter>& code,
                                                             std::uint32_t audit_architecture) {
  const std::uint32_t foreign = ~audit_architecture;
  const std::optional<std::vector<Run>> runs = runs_of(code, audit_architecture);
  const std::optional<std::uint32_t> foreign_value = evaluate(code, foreign, 0);
  if (!runs || !foreign_value) return std::unexpected("libseccomp's program is of an unknown form");
  Code shorter{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, audit_architecture, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, *foreign_value),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
  };
  const Code tree = search(*runs, 0, runs->size());
  shorter.insert(shorter.end(), tree.begin(), tree.end());
  // libseccomp is the reference: compare every plain number, the edges and foreign architectures.
  for (const std::uint32_t architecture : {audit_architecture, foreign, 0U, 0x40000003U}) {
    for (std::uint32_t number = 0; number <= kHighestNumber; ++number)
      if (!agree(code, shorter, architecture, number))
        return std::unexpected("the shorter search differs at " + std::to_string(number));
    for (const std::uint32_t number : kEdges)
      if (!agree(code, shorter, architecture, number))
        return std::unexpected("the shorter search differs at " + std::to_string(number));
  }
  return shorter;
}

}  // namespace coop::seccompgen
