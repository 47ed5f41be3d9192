#include "plan/seccomp/profile.h"

#include <algorithm>

namespace coop::seccomp {
namespace {

#include "seccomp_profiles.inc"

#if defined(__x86_64__)
constexpr Machine kThisMachine = Machine::x86_64;
#elif defined(__aarch64__)
constexpr Machine kThisMachine = Machine::aarch64;
#else
#error "no system call filter for this machine: add it to codegen/seccompgen.cc"
#endif

}  // namespace

const Profile* find(std::string_view name) { return find(name, kThisMachine); }

const Profile* find(std::string_view name, Machine machine) {
  const std::span<const Profile> profiles =
      machine == Machine::x86_64 ? std::span(x86_64_::profiles) : std::span(aarch64_::profiles);
  const auto found = std::ranges::find(profiles, name, &Profile::name);
  return found == profiles.end() ? nullptr : &*found;
}

}  // namespace coop::seccomp
