// seccompgen OUTPUT INPUT...: compiles policies/syscalls/*.txt into constant tables at build time,
// so that starting a sandbox compiles nothing.
#include <seccomp.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "seccompgen_filter.h"
#include "seccompgen_rules.h"

namespace coop::seccompgen {
namespace {

constexpr std::array kMachines{Machine{"x86_64", SCMP_ARCH_X86_64},
                               Machine{"aarch64", SCMP_ARCH_AARCH64}};

struct ProfileName {
  std::string_view name;        // as users write it
  std::string_view identifier;  // as C++ does
  Choices choices;
};
constexpr std::array kProfiles{
    ProfileName{"default", "default_", {Choice::allowed, Choice::denied}},
    ProfileName{"no-debug", "no_debug", {Choice::denied, Choice::denied}},
    ProfileName{"mptcp", "mptcp", {Choice::allowed, Choice::allowed}},
    ProfileName{"mptcp-no-debug", "mptcp_no_debug", {Choice::denied, Choice::allowed}}};

Result<std::vector<Source>> read_sources(int count, char** paths) {
  std::vector<Source> sources;
  for (int index = 0; index < count; ++index) {
    std::ifstream file(paths[index], std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (!file) return std::unexpected(std::string(paths[index]) + ": cannot be read");
    // Without its directory: a build must not depend on its path.
    sources.push_back({std::filesystem::path(paths[index]).filename().string(), std::move(text)});
  }
  return sources;
}

// A C++ string literal. read_rules() accepts printable ASCII only.
std::string literal(std::string_view text) {
  std::string quoted = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') quoted += '\\';
    quoted += character;
  }
  return quoted + '"';
}

void write_program(std::ostream& out, const std::vector<sock_filter>& program) {
  out << "constexpr sock_filter program[] = {\n" << std::hex;
  for (const sock_filter& one : program)
    out << "    {0x" << one.code << ", 0x" << unsigned{one.jt} << ", 0x" << unsigned{one.jf}
        << ", 0x" << one.k << "},\n";
  out << "};\n" << std::dec;
}

void write_reasons(std::ostream& out, const Choices& choices, const std::vector<Syscall>& present) {
  out << "constexpr SyscallReason reasons[] = {\n";
  for (const Syscall& syscall : present)
    for (const Rule& rule : syscall.rules)
      out << "    {" << literal(syscall.name) << ", "
          << literal(to_text(verdict_in(choices, rule.verdict))) << ", " << literal(rule.reason)
          << ", " << literal(rule.condition) << "},\n";
  out << "};\n";
}

Result<void> write_machine(std::ostream& out, const Machine& machine,
                           const std::vector<Syscall>& syscalls) {
  const Result<std::vector<Syscall>> present = present_on(machine, syscalls);
  if (!present) return std::unexpected(present.error());
  out << "\nnamespace " << machine.name << "_ {\n";
  for (const ProfileName& profile : kProfiles) {
    const Result<std::vector<sock_filter>> program = compile(machine, profile.choices, *present);
    if (!program) return std::unexpected(program.error());
    out << "namespace " << profile.identifier << " {\n";
    write_program(out, *program);
    write_reasons(out, profile.choices, *present);
    out << "}\n";
  }
  out << "constexpr Profile profiles[] = {\n";
  for (const ProfileName& profile : kProfiles)
    out << "    {" << literal(profile.name) << ", " << profile.identifier << "::program, "
        << profile.identifier << "::reasons},\n";
  out << "};\n}\n";
  return {};
}

Result<void> generate(const char* output, int count, char** inputs) {
  const Result<std::vector<Source>> sources = read_sources(count, inputs);
  if (!sources) return std::unexpected(sources.error());
  const Result<std::vector<Syscall>> syscalls = read_rules(*sources);
  if (!syscalls) return std::unexpected(syscalls.error());

  std::ostringstream text;
  text << "// Made by seccompgen from policies/syscalls. Change those files, not this one.\n";
  for (const Machine& machine : kMachines) {
    const Result<void> written = write_machine(text, machine, *syscalls);
    if (!written) return written;
  }
  std::ofstream file(output, std::ios::binary);
  file << text.str();
  file.close();
  if (!file) return std::unexpected(std::string(output) + ": cannot be written");
  return {};
}

}  // namespace
}  // namespace coop::seccompgen

int main(int count, char** arguments) {
  if (count < 3) {
    std::cerr << "usage: seccompgen OUTPUT INPUT...\n";
    return 2;
  }
  const auto generated = coop::seccompgen::generate(arguments[1], count - 2, arguments + 2);
  if (!generated) {
    std::cerr << "seccompgen: " << generated.error() << '\n';
    return 1;
  }
}
