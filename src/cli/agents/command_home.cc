#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/path.h"
#include "cli/clock.h"
#include "cli/usage/usage.h"
#include "host/files/kept_homes.h"
#include "host/probe.h"
#include "policy/policy.h"

namespace coop::cli {

namespace {

using host::KeptHome;

Result<Path> state_directory() {
  const HostFacts host = TRY(host::probe(host::Depth::quick));
  return host.state_directory;
}

std::string as_text(const std::vector<KeptHome>& homes) {
  std::size_t width = 0;
  for (const KeptHome& home : homes) width = std::max(width, home.name.size());
  std::string text;
  for (const KeptHome& home : homes)
    text += home.name + std::string(width - home.name.size() + 2, ' ') +
            clock_text(home.used, "%Y-%m-%d %H:%M UTC") + "  " + printable(home.workspace) +
            (home.in_use ? "  (in use)" : "") + "\n";
  return text.empty() ? "no home is kept\n" : text;
}

std::string as_json(const std::vector<KeptHome>& homes) {
  Json all = Json::array();
  for (const KeptHome& home : homes)
    all.push_back({{"name", home.name},
                   {"path", printable(home.path)},
                   {"workspace", printable(home.workspace)},
                   {"used", clock_text(home.used, "%Y-%m-%dT%H:%M:%SZ")},
                   {"in_use", home.in_use}});
  const Json json{{"homes", std::move(all)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::string> name_of_home(const Parsed& parsed, std::string_view command) {
  if (parsed.arguments.empty())
    return invalid(command, "the NAME of a home is expected", "`coop home ls` lists them");
  const std::string& name = parsed.arguments.front();
  if (!is_home_name(name))
    return invalid(command, "\"" + printable(name) + "\" is not the name of a home",
                   "`coop home ls` lists them");
  return name;
}

}  // namespace

Result<int> home_list(const Parsed& parsed) {
  const Path state = TRY(state_directory());
  const std::vector<KeptHome> homes = TRY(host::kept_homes(state));
  TRY(print_all(parsed.has("--json") ? as_json(homes) : as_text(homes)));
  return 0;
}

Result<int> home_path(const Parsed& parsed) {
  const std::string name = TRY(name_of_home(parsed, "home path"));
  const Path state = TRY(state_directory());
  const std::vector<KeptHome> homes = TRY(host::kept_homes(state));
  const auto found = std::ranges::find(homes, name, &KeptHome::name);
  if (found == homes.end())
    return invalid("home path", "there is no home \"" + name + "\"", "`coop home ls` lists them");
  TRY(print_all(found->path + "\n"));
  return 0;
}

Result<int> home_remove(const Parsed& parsed) {
  TRY(name_of_home(parsed, "home rm"));
  const Path state = TRY(state_directory());
  for (const std::string& name : parsed.arguments) {
    if (!is_home_name(name))
      return invalid("home rm", "\"" + printable(name) + "\" is not the name of a home",
                     "`coop home ls` lists them");
    TRY(host::remove_home(state, name));
    TRY(print_all("removed " + name + "\n"));
  }
  return 0;
}

}  // namespace coop::cli
