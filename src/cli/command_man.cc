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
.B coop policy
\fIshow\fR|\fIcheck\fR|\fIexplain\fR|\fIdiff\fR|\fIexport\fR|\fIimport\fR|\fIapprove\fR|\fIschema\fR
.br
.B coop trust
\fISENDER\fR [\-\-group] [\-\-json]
.br
.B coop config check
[\fIFILE\fR] [\-\-json]
.br
.B coop tool
\fINAME\fR \fIJSON\fR [\-\-as \fIUSER\fR] [\-\-json]
.br
.B coop mcp
[\-\-workspace \fIDIR\fR] [\-\-as \fIUSER\fR | \-\-channel \fISENDER\fR [\-\-group]] [\-\-http \fIADDRESS\fR]
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
.SH POLICY FILES
What is not said by flags is taken from
.I /etc/coop/policy.toml
(the organisation's: a ceiling that nothing below can widen),
.I ~/.config/coop/policy.toml
(yours) and
.I .coop/policy.toml
in the workspace (the project's: it may narrow; what it widens holds only after
.BR "coop policy approve" ,
and only until the file changes). Each has one table,
.BR [sandbox] ;
.B coop policy schema
prints its JSON Schema.
.B coop policy show \-\-origin
prints what is in force and where each value was written,
.B coop policy check
every mistake,
.B coop policy explain
why a path or a host can or cannot be reached,
.B coop policy diff
what differs between two files or scopes.
.B coop policy export
and
.B import
move them.
.SH AGENTS, USERS AND CRON JOBS
A gateway's
.I coop.toml
has
.BR [agent] ", " [[agents]] ", " [sandbox] ", " [[users]] " and " [[cron]] .
.B coop trust
shows who a sender is to it, how far that person is trusted (owner, full, inner, familiar, public),
and what follows from it.
.B coop config check
checks it against this machine.
.SH TOOLS
.B coop mcp
serves tools to a client of the Model Context Protocol on standard input and output:
.BR bash ", " exec ", " read_file ", " write_file ", " edit_file ", " list_files ", " search_files ,
.BR send_file " and " fetch_url .
Commands run in the sandbox; file tools see what commands see. Secrets in arguments stop a call, in results they are
replaced
.RB ( "\-\-on\-leak redact" ", " block " or " terminate ).
.B coop tool
calls one from a shell. Without
.BR \-\-as " and " \-\-channel
the caller is the agent itself: trust full, always sandboxed. A user's trust decides which tools there are; the
owner's run on the host. Both take the flags of
.B coop run
that say what a sandbox is like.
.P
With
.B \-\-http 127.0.0.1:\fIPORT\fR
the server speaks streamable HTTP on loopback. Clients send the token of
.BR "\-\-token\-file \fIFILE\fR" ,
which is made when it is missing, or of
.BR COOP_MCP_TOKEN ;
without both one is made and shown.
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
.SH NETWORK
.TP
.B none
The default: a network of its own, with nothing but loopback.
.TP
.B allowlist
What
.B \-\-allow\-net
names, by name or address, for every program and without proxy settings. One without a port means 80 and 443.
.B \-\-deny\-net
wins. UDP goes where
.B \-\-allow\-udp
says, names of the list are resolved.
.B \-\-allow\-net
alone means this mode.
.TP
.B full
The internet. Private, local and metadata addresses are refused unless
.B \-\-allow\-net
names them.
.TP
.B veth
The same by means of the kernel, for those who have the privilege.
.TP
.B host
The host's own, with every service of this machine:
.B \-\-unsafe host_network
confirms that it is meant. Nothing can be denied in it.
.P
.B \-\-publish
leads a port of this machine into the sandbox,
.B \-\-host\-port
one of the sandbox's localhost to this machine's; both work with every mode but host.
.B \-\-socket
does the same for a Unix socket. Those that control the machine (docker.sock, the buses of D\-Bus and others) need
.BR "\-\-unsafe control_sockets" .
In policy files these are
.BR network.allow ", " deny ", " udp ", " publish " and " host_ports ,
.BR sockets " and " unsafe .
.SH FLAGS
)";

constexpr const char* kEnd =
    R"(.SH EXIT STATUS
The command's own; 128 plus the signal that killed it; 124 after a timeout; 125 when coop itself
failed; 126 when the command could not be run; 127 when it was not found.
.B coop status
exits with 0 when the default sandbox can run here, else with 1.
.B coop policy check
and
.B coop config check
exit with 1 when there is an error,
.B coop policy diff
when there is a difference.
.SH FILES
.TP
.I /etc/coop/policy.toml
The organisation's policy. It and its directory must belong to root and be writable by nobody else.
.TP
.I ~/.config/coop/policy.toml
Yours
.RI ( $XDG_CONFIG_HOME
counts).
.TP
.I .coop/policy.toml
The project's, in the workspace.
.TP
.I ./coop.toml, ~/.config/coop/coop.toml
Agents, users and cron jobs.
.TP
.I ~/.local/state/coop/approvals
Which project policies a person approved.
.SH EXAMPLES
.nf
coop run \-\- make test
coop run \-\-view host \-\-cache cargo \-\- cargo build
coop run \-\-ro /opt/sdk \-\-hide .env \-\-memory 2g \-\-timeout 10m \-\- make
coop run \-\-allow\-net '*.example.com' \-\-host\-port 5432 \-\- make integration\-test
coop run \-\-publish 8080:80 \-\- ./serve
coop run \-\-config coop.toml \-\-as bob \-\- make
coop policy explain \-\-view host ~/.ssh/id_ed25519
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
