#include "cli/command.h"
#include "cli/flags.h"

namespace coop::cli {

namespace {

// roff: a leading dot or quote would be a request, a backslash an escape, a minus a hyphen.
std::string roff(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') result += "\\e";
    else if (c == '-') result += "\\-";
    else if (c == '\'') result += "\\(aq";
    else result += c;
  }
  return result;
}

std::string flag_entries() {
  std::string text;
  std::string_view group;
  for (const Flag& flag : flags()) {
    if (flag.group != group) {
      group = flag.group;
      text += ".SS " + roff(group) + "\n";
    }
    text += ".TP\n.B " + roff(flag.name);
    if (!flag.alias.empty()) text += ", " + roff(flag.alias);
    if (!flag.value.empty()) text += " " + roff(flag.value);
    text += "\n" + roff(flag.help) + "\n";
  }
  return text;
}

constexpr const char* kIntroduction =
    R"(.SH NAME
coop \- run a command in a sandbox
.SH SYNOPSIS
.B coop run
[\fIFLAGS\fR] \-\- \fICOMMAND\fR [\fIARGUMENTS\fR...]
.br
.B coop plan
[\fIFLAGS\fR] [\-\-why] [\-\-json]
.br
.B coop status
[\-\-json]
.SH DESCRIPTION
.B coop run
runs a command in new user, mount, PID, network, IPC, UTS and cgroup namespaces, without
capabilities, under a system call filter and Landlock. It needs no privilege and no daemon.
The current directory is the workspace: it is writable, and nothing else of the machine is.
A mechanism that is missing is an error, never a silently weaker sandbox.
.P
.B coop plan
prints everything
.B coop run
with the same flags would do.
.B coop status
shows what the machine offers, by trying it.
.SH VIEWS
.TP
.B minimal
/usr and its companions read\-only, the workspace at /work (also the home directory), a private
/tmp, harmless devices, a fresh /proc.
.TP
.B host
The machine in its usual places, read\-only. The workspace is writable where it is. Keys,
credentials, browser profiles and shell histories are hidden, /run and /tmp are empty.
.SH GUARDS
Files that programs of the host obey (git hooks and configuration, editor tasks, CI files, and
others) are read\-only inside the workspace. Those that appear during a run are moved to
.I $XDG_STATE_HOME/coop/quarantine
when it ends, and reported.
.B \-\-allow\-guarded
permits one by name.
.SH RULES
The more specific of two rules wins, and of two for the same path the later. A hidden path is hidden
under every name it has. A path that does not exist is an error unless it is written
.IR PATH? .
.SH FLAGS
)";

constexpr const char* kEnd =
    R"(.SH EXIT STATUS
The command's own; 128 plus the signal that killed it; 124 after a timeout; 125 when coop itself
failed; 126 when the command could not be run; 127 when it was not found.
.B coop status
exits with 0 when the default sandbox can run here, else with 1.
.SH EXAMPLES
.nf
coop run \-\- make test
coop run \-\-view host \-\-cache cargo \-\- cargo build
coop run \-\-ro /opt/sdk \-\-hide .env \-\-memory 2g \-\-timeout 10m \-\- make
coop plan \-\-why
.fi
.SH SEE ALSO
.BR namespaces (7),
.BR landlock (7),
.BR seccomp (2),
.BR cgroups (7)
)";

}  // namespace

Result<int> command_man(Arguments) {
  print(".TH COOP 1 \"\" \"coop " COOP_VERSION "\" \"User Commands\"\n" +
        std::string(kIntroduction) + flag_entries() + kEnd);
  return 0;
}

}  // namespace coop::cli
