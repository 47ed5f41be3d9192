// The attacking program. `payload NAME ARGUMENTS…` tries one thing and says how it went:
//   ESCAPED …      exit 0: it worked
//   BLOCKED n NAME exit 1: it was refused with this errno (0: done, yet without the effect)
//   exit 2         it could not even try
// Statically linked, so that it runs in any view.
#pragma once

#include <span>
#include <string_view>

namespace payload {

using Arguments = std::span<char* const>;

struct Attack {
  std::string_view name;
  std::size_t arguments;  // at least this many
  int (*run)(Arguments);
};

std::span<const Attack> file_attacks();
std::span<const Attack> naming_attacks();
std::span<const Attack> process_attacks();
std::span<const Attack> memory_attacks();
std::span<const Attack> kernel_attacks();
std::span<const Attack> socket_attacks();
std::span<const Attack> resource_attacks();
std::span<const Attack> shared_attacks();

int escaped(std::string_view detail = "");
int blocked(int error);
int cannot_try(std::string_view why);

// A system call's answer: an error is a refusal, anything else a success.
int judge(long result);

long number(const char* text);  // decimal, 0x or 0 octal; any width, sign allowed

}  // namespace payload
