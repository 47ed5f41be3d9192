#include "run/start/scope.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

#include "base/path.h"
#include "base/quantity.h"
#include "sys/fd.h"

namespace coop::run {

namespace {

constexpr std::string_view kSlice = "app.slice";
constexpr std::uint64_t kHolders = 1;  // processes of the scope that are not the sandbox's

struct Property {
  std::string_view file;
  std::string_view name;
};
constexpr std::array kProperties{
    Property{"memory.max", "MemoryMax"}, Property{"memory.swap.max?", "MemorySwapMax"},
    Property{"pids.max", "TasksMax"}, Property{"cpu.max", "CPUQuotaPerSecUSec"}};

// "50000 100000" is the time of each period.
Result<std::uint64_t> value_of(const GroupLimit& limit) {
  const std::uint64_t number = TRY(parse_count(limit.value.substr(0, limit.value.find(' '))));
  if (limit.file == "pids.max") return number + kHolders;
  if (limit.file != "cpu.max") return number;
  const std::uint64_t period = TRY(parse_count(limit.value.substr(limit.value.find(' ') + 1)));
  return number * 1000000 / period;
}

template <typename Holds>
bool becomes_true(const Holds& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    const timespec pause{0, 1000000};
    ::nanosleep(&pause, nullptr);
  }
  return true;
}

bool is_in(int pid, const Path& directory) {
  const std::string own = read_file("/proc/" + std::to_string(pid) + "/cgroup").value_or("");
  const std::size_t at = ("\n" + own).find("\n0::");
  if (at == std::string::npos) return false;
  const std::string_view path = std::string_view(own).substr(at + 3, own.find('\n', at) - at - 3);
  return directory.ends_with(path) && path.size() > 1;
}

// The kernel rounds memory down to pages, and systemd may choose another period.
bool is_in_force(const GroupLimit& limit, std::uint64_t wanted, const Path& directory) {
  const bool optional = limit.file.ends_with('?');
  const std::string file = limit.file.substr(0, limit.file.size() - (optional ? 1 : 0));
  const Result<std::string> text = read_file(join(directory, file));
  if (!text) return optional;
  const Result<std::uint64_t> value = parse_count(text->substr(0, text->find_first_of(" \n")));
  return value && (file == "cpu.max" || *value <= wanted);
}

}  // namespace

Result<Scope> Scope::make(const GroupPlan& plan) {
  dbus::ScopeRequest request{.name = plan.name + ".scope", .slice = std::string(kSlice)};
  for (const GroupLimit& limit : plan.limits) {
    const auto* const property = std::ranges::find(kProperties, limit.file, &Property::file);
    if (property == kProperties.end()) return invalid("scope", limit.file + " has no property");
    const std::uint64_t value = TRY(value_of(limit));
    request.limits.emplace_back(property->name, value);
  }
  dbus::UserManager manager = TRY(dbus::UserManager::connect(plan.manager));
  TetheredProcess holder = TRY(TetheredProcess::start_empty());
  request.pid = holder.pid();
  Scope scope(std::move(manager), std::move(holder));
  scope.name_ = request.name;
  scope.directory_ = join(join(plan.limits.front().parent, kSlice), request.name);
  TRY(scope.manager_.start_scope(request));
  const bool held = becomes_true([&] { return is_in(request.pid, scope.directory_); });
  for (std::size_t index = 0; held && index < plan.limits.size(); ++index)
    if (!is_in_force(plan.limits[index], request.limits[index].second, scope.directory_))
      return invalid("systemd", "it did not set " + plan.limits[index].file);
  if (!held) return system_error_of(ETIMEDOUT, "wait for systemd's scope", request.name);
  return scope;
}

Result<void> Scope::move(int pid) {
  TRY(manager_.attach(name_, pid));
  if (becomes_true([&] { return is_in(pid, directory_); })) return {};
  return system_error_of(ETIMEDOUT, "wait for systemd's scope", name_);
}

}  // namespace coop::run
