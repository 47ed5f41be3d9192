#include "bpf.h"

#include <cstring>

namespace coop::testing {
namespace {

std::optional<std::uint32_t> load_word(const seccomp_data& call, std::uint32_t offset) {
  if (offset % 4 != 0 || offset > sizeof call - 4) return std::nullopt;
  std::uint32_t word = 0;
  std::memcpy(&word, reinterpret_cast<const char*>(&call) + offset, sizeof word);
  return word;
}

// How far a jump goes, or nothing for a kind of jump filters do not use.
std::optional<std::uint32_t> jump_distance(const sock_filter& jump, std::uint32_t accumulator) {
  switch (jump.code) {
    case BPF_JMP | BPF_JA: return jump.k;
    case BPF_JMP | BPF_JEQ | BPF_K: return accumulator == jump.k ? jump.jt : jump.jf;
    case BPF_JMP | BPF_JGT | BPF_K: return accumulator > jump.k ? jump.jt : jump.jf;
    case BPF_JMP | BPF_JGE | BPF_K: return accumulator >= jump.k ? jump.jt : jump.jf;
    case BPF_JMP | BPF_JSET | BPF_K: return (accumulator & jump.k) != 0 ? jump.jt : jump.jf;
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<Evaluation> evaluate(std::span<const sock_filter> program, const seccomp_data& call) {
  std::uint32_t accumulator = 0;
  std::size_t executed = 0;
  // Jumps only go forward, so this ends.
  for (std::size_t index = 0; index < program.size(); ++index) {
    const sock_filter& one = program[index];
    ++executed;
    if (one.code == (BPF_RET | BPF_K)) return Evaluation{one.k, executed};
    if (one.code == (BPF_LD | BPF_W | BPF_ABS)) {
      const std::optional<std::uint32_t> word = load_word(call, one.k);
      if (!word) return std::nullopt;
      accumulator = *word;
    } else if (one.code == (BPF_ALU | BPF_AND | BPF_K)) {
      accumulator &= one.k;
    } else if (const auto distance = jump_distance(one, accumulator)) {
      index += *distance;
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace coop::testing
