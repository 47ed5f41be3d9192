#include "host/environment.h"

#include <limits.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <string_view>

#include "base/path.h"
#include "host/accounts.h"
#include "host/machine/kernel_features.h"
#include "sys/fd.h"

namespace coop::host {
namespace {

std::string_view variable(const HostFacts& facts, const char* name) {
  const auto found = facts.environment.find(name);
  return found == facts.environment.end() ? std::string_view{} : std::string_view(found->second);
}

// gmtime would read /etc/localtime first.
std::string utc_now() {
  using namespace std::chrono;
  const auto now = floor<seconds>(system_clock::now());
  const auto midnight = floor<days>(now);
  const year_month_day date(midnight);
  const hh_mm_ss time(now - midnight);
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02ld:%02ld:%02ldZ", int{date.year()},
                unsigned{date.month()}, unsigned{date.day()}, time.hours().count(),
                time.minutes().count(), time.seconds().count());
  return text.data();
}

Result<Path> working_directory() {
  std::array<char, PATH_MAX> text{};
  if (::getcwd(text.data(), text.size()) == nullptr) return system_error("getcwd");
  return Path(text.data());
}

void read_user(HostFacts& facts) {
  facts.user = variable(facts, "USER");
  const std::string_view home = variable(facts, "HOME");
  if (home.starts_with('/')) facts.home = normalize(home);
  const std::string passwd = read_file("/etc/passwd").value_or("");
  const Account account = parse_passwd(passwd, facts.uid).value_or(Account{});
  if (facts.user.empty())
    facts.user = account.name.empty() ? std::to_string(facts.uid) : account.name;
  facts.account_home = account.home;
  facts.other_homes = parse_homes(passwd);
  if (facts.home.empty()) facts.home = account.home.empty() ? Path("/") : account.home;
}

bool belongs_to_another(const Path& directory, std::uint32_t uid) {
  struct stat status{};
  return ::stat(directory.c_str(), &status) == 0 && status.st_uid != uid && status.st_uid != 0;
}

}  // namespace

std::map<std::string, std::string> read_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

Result<void> read_surroundings(HostFacts& facts) {
  utsname system{};
  if (::uname(&system) < 0) return system_error("uname");
  facts.kernel_release = system.release;
  facts.kernel = parse_kernel_release(facts.kernel_release);
  facts.architecture = system.machine;
  facts.node_name = system.nodename;
  facts.uid = ::geteuid();
  facts.gid = ::getegid();
  facts.environment = read_environment();
  facts.working_directory = TRY(working_directory());
  facts.now = utc_now();
  read_user(facts);

  // As root with the HOME of a user, what coop makes there would be root's, and what is there obeys that user.
  const bool foreign = !facts.account_home.empty() && belongs_to_another(facts.home, facts.uid);
  const Path& home = foreign ? facts.account_home : facts.home;
  // The XDG specification says to ignore a relative $XDG_STATE_HOME.
  const std::string_view state = variable(facts, "XDG_STATE_HOME");
  facts.state_directory =
      state.starts_with('/') ? join(normalize(state), "coop") : join(home, ".local/state/coop");
  return {};
}

}  // namespace coop::host
