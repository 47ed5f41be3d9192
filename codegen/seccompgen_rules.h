// The rules of policies/syscalls as values, and their parser. Format: README.md there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coop::seccompgen {

// Errors are complete sentences: `files.txt:12: "alow" is no verdict`. A build tool does without
// coop's libraries.
template <typename T>
using Result = std::expected<T, std::string>;

enum class Verdict : std::uint8_t {
  allow,
  eperm,
  enosys,
  eafnosupport,
  eprotonosupport,
  kill,
  notify,
  debug,
  mptcp
};

// (low 32 bits of the argument & mask) equals value, or does not.
struct Test {
  enum class Relation : std::uint8_t { equal, different };
  unsigned argument = 0;
  std::uint32_t mask = 0xffffffff;
  Relation relation = Relation::equal;
  std::uint32_t value = 0;
};

struct Rule {
  Verdict verdict = Verdict::enosys;
  std::string condition{};    // as written, without brackets
  std::vector<Test> tests{};  // all must hold; empty: always
  std::string reason{};
};

// All rules of one system call, in the order they are tried. The last one has no condition.
struct Syscall {
  std::string name{};
  std::optional<int> number{};  // written as name=number
  std::vector<Rule> rules{};
  std::string place{};  // "files.txt:12", of the first rule
};

std::string_view to_text(Verdict verdict);

struct Source {
  std::string name;
  std::string text;
};
Result<std::vector<Syscall>> read_rules(const std::vector<Source>& sources);

}  // namespace coop::seccompgen
