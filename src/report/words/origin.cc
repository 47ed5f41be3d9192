#include "base/path.h"
#include "coop/destination.h"
#include "report/text.h"
#include "report/words/words.h"

namespace coop::report {

namespace {

std::string part_text(const Origin& origin) {
  switch (origin.part) {
    case Part::cache: return "cache " + printable(origin.name);
    case Part::secrets:
    case Part::own_files: return "built-in secrets";
    case Part::home: return "home list";
    case Part::policy_files: return "built-in policy files";
    case Part::identity_files: return "identity file";
    case Part::sockets: return "built-in sockets";
    case Part::guard: return "guard " + printable(origin.name);
    case Part::view: return "view " + origin.name;
    case Part::devices: return "devices";
    case Part::namespaces: return "namespaces";
    case Part::mount_point: return "mount point";
    case Part::running_as_root: return "running as root";
    case Part::unlisted: return "no rule allows it";
    case Part::network_mode: return "network = \"" + origin.name + "\"";
    case Part::address_guard: return "address guard";
    case Part::tls_guard: return "TLS guard";
    case Part::proxy_guard: return "proxy guard";
    case Part::loopback_guard: return "loopback guard";
    case Part::url_guard: return "url guard";
    case Part::path_form: return "form of paths";
    case Part::workspace_links: return "links of the workspace";
    case Part::injected_variables: return "variables that inject code";
    case Part::leak_guard: return "leak guard";
    case Part::trust: return "trust";
    case Part::system_calls: return "seccomp: i386 and x32 system calls are killed";
    case Part::workspace:
    case Part::host_group:
    case Part::none: break;
  }
  // A program may name its rules; those of a group have its name.
  const bool named = origin.scope == Scope::program && !origin.name.empty();
  return named ? printable(origin.name) : std::string(to_text(origin.scope));
}

}  // namespace

std::string_view to_text(Scope scope) {
  switch (scope) {
    case Scope::built_in: return "built-in";
    case Scope::preset: return "preset";
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
  std::string text = (origin.scope == Scope::preset ? "preset " : "") + printable(origin.file);
  if (origin.at.line > 0) text += ":" + std::to_string(origin.at.line);
  if (origin.part == Part::host_group) text += " " + printable(origin.name);
  return text;
}

std::string to_text(const Rule& rule) {
  const std::string origin = to_text(rule.origin);
  return rule.destination ? origin + " " + to_text(*rule.destination) : origin;
}

std::string to_text(const std::optional<Rule>& rule) { return rule ? to_text(*rule) : ""; }

Words in_words(Scope scope) { return Words(std::string(to_text(scope))); }
Words in_words(const Origin& origin) { return Words(to_text(origin)); }
Words in_words(const Rule& rule) { return Words(to_text(rule)); }

}  // namespace coop::report
