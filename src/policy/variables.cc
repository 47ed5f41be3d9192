#include "policy/variables.h"

#include <algorithm>
#include <array>

#include "base/path.h"
#include "base/text.h"

namespace coop::policy {

namespace {

struct Variable {
  std::string_view name;  // a trailing '*' matches any ending
  std::string_view reason;
};

constexpr std::array kInjecting{
    Variable{"LD_*", "the dynamic linker loads libraries it names into every program"},
    Variable{"DYLD_*", "the dynamic linker loads libraries it names into every program"},
    Variable{"GCONV_PATH", "the C library loads character set modules from it"},
    Variable{"GLIBC_TUNABLES", "changes the C library's own protections"},
    Variable{"BASH_ENV", "every shell script runs the file it names first"},
    Variable{"ENV", "every shell runs the file it names first"},
    Variable{"SHELLOPTS", "changes how every shell script runs"},
    Variable{"PROMPT_COMMAND", "every interactive shell runs it"},
    Variable{"PYTHONPATH", "Python loads modules from it"},
    Variable{"PYTHONSTARTUP", "Python runs the file it names"},
    Variable{"PYTHONHOME", "Python loads its library from it"},
    Variable{"NODE_OPTIONS", "Node loads modules it names"},
    Variable{"NODE_PATH", "Node loads modules from it"},
    Variable{"RUBYOPT", "Ruby loads files it names"},
    Variable{"RUBYLIB", "Ruby loads files from it"},
    Variable{"PERL5OPT", "Perl loads modules it names"},
    Variable{"PERL5LIB", "Perl loads modules from it"},
    Variable{"JAVA_TOOL_OPTIONS", "Java loads agents it names"},
    Variable{"GIT_SSH_COMMAND", "git runs it"},
    Variable{"GIT_SSH", "git runs it"},
    Variable{"GIT_EXTERNAL_DIFF", "git runs it"},
    Variable{"GIT_ASKPASS", "git runs it"},
    Variable{"GIT_PROXY_COMMAND", "git runs it"},
    Variable{"GIT_CONFIG*", "git takes settings from it, and runs what those name"},
    Variable{"GIT_EXEC_PATH", "git runs its own commands from it"},
    Variable{"GIT_TEMPLATE_DIR", "git copies hooks from it"},
    Variable{"BASH_FUNC_*", "bash takes functions from it, in the place of programs"},
    Variable{"PS4", "bash runs what is in it while it traces"},
    Variable{"LESSOPEN", "less runs it"},
    Variable{"LESSCLOSE", "less runs it"},
    Variable{"RUSTC_WRAPPER", "cargo runs it"},
    Variable{"RUSTC_WORKSPACE_WRAPPER", "cargo runs it"},
    Variable{"npm_config_script_shell", "npm runs it for every script"},
    Variable{"npm_config_node_options", "Node loads modules it names"},
    Variable{"_JAVA_OPTIONS", "Java loads agents it names"},
    Variable{"JDK_JAVA_OPTIONS", "Java loads agents it names"},
    Variable{"PERL5DB", "Perl runs it"},
    Variable{"PYTHONINSPECT", "Python goes on reading commands"},
    Variable{"PYTHONBREAKPOINT", "Python calls what it names"},
};

bool matches(const Variable& variable, std::string_view name) {
  if (!variable.name.ends_with('*')) return variable.name == name;
  return name.starts_with(variable.name.substr(0, variable.name.size() - 1));
}

}  // namespace

Result<void> check_variable(std::string_view name, std::string_view origin,
                            std::span<const std::string> allowed) {
  if (contains(allowed, name)) return {};
  for (const Variable& variable : kInjecting)
    if (matches(variable, name))
      return invalid(origin, printable(name) + " injects code: " + std::string(variable.reason),
                     "if you intend this, add --unsafe-env " + printable(name));
  return {};
}

}  // namespace coop::policy
