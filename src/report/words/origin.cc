#include "report/words/origin.h"

#include "base/path.h"

namespace coop::report {

namespace {

std::string part_text(const Origin& origin) {
  switch (origin.part) {
    case Part::cache: return "cache " + printable(origin.name);
    case Part::secrets:
    case Part::own_files: return "built-in secrets";
    case Part::policy_files: return "built-in policy files";
    case Part::identity_files: return "identity file";
    case Part::sockets: return "built-in sockets";
    case Part::guard: return "guard " + printable(origin.name);
    case Part::view: return "view " + origin.name;
    case Part::devices: return "devices";
    case Part::namespaces: return "namespaces";
    case Part::mount_point: return "mount point";
    case Part::running_as_root: return "running as root";
    case Part::workspace:
    case Part::none: break;
  }
  return std::string(to_text(origin.scope));
}

}  // namespace

std::string_view to_text(Scope scope) {
  switch (scope) {
    case Scope::built_in: return "built-in";
    case Scope::organisation: return "organisation";
    case Scope::user: return "user";
    case Scope::project: return "project";
    case Scope::config: return "config";
    case Scope::override: return "override";
    case Scope::program: return "program";
    case Scope::command_line: return "command line";
  }
  return "?";
}

std::string to_text(const Origin& origin) {
  if (!origin.flag.empty())
    return printable(origin.name.empty() ? origin.flag : origin.flag + " " + origin.name);
  if (origin.file.empty()) return part_text(origin);
  std::string text = printable(origin.file);
  if (origin.at.line > 0) text += ":" + std::to_string(origin.at.line);
  return text;
}

}  // namespace coop::report
