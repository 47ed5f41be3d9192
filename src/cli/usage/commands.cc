// The table of commands: a new one is a row here and its function.
#include <algorithm>
#include <array>

#include "cli/libexec.h"
#include "cli/policy/policy_command.h"
#include "cli/usage/usage.h"

namespace coop::cli {

namespace {

constexpr Flag own(std::string_view name, std::string_view placeholder, std::string_view help,
                   Values values = {}) {
  return {.name = name, .placeholder = placeholder, .help = help, .values = values};
}

constexpr Flag kJson = own("--json", "", "print the result as JSON");
constexpr Flag kWorkspace{.name = "--workspace",
                          .alias = "-w",
                          .placeholder = "DIR",
                          .help = "whose project policy counts (default: the current directory)",
                          .values = kPathValue};
constexpr Flag kConfig =
    own("--config", "FILE", "this coop.toml (default: the one of your configuration directory)",
        kPathValue);
constexpr Flag kOnLeak =
    own("--on-leak", "WHAT", "a secret in a result: redact (default), block or terminate",
        one_of("redact block terminate"));

constexpr std::array kPlanFlags{own("--why", "", "also the reason of each step and rule")};
constexpr std::array kShowFlags{own("--origin", "", "also where each value was written"), kJson,
                                kWorkspace};
constexpr std::array kJsonAndWorkspace{kJson, kWorkspace};
constexpr std::array kCheckFlags{
    own("--scope", "SCOPE", "read FILE as one of organisation, user (default) or project",
        one_of("organisation user project")),
    kJson, kWorkspace};
constexpr std::array kExportFlags{
    own("--scope", "SCOPE", "organisation, user, project or effective (default)",
        one_of("organisation user project effective")),
    kWorkspace};
constexpr std::array kImportFlags{own("--scope", "SCOPE", "organisation, user (default) or project",
                                      one_of("organisation user project")),
                                  own("--dry-run", "", "only show what would change"), kWorkspace};
constexpr std::array kApproveFlags{own("--yes", "", "do not ask"),
                                   own("--revoke", "", "take the approval back"), kWorkspace};
constexpr std::array kTrustFlags{
    own("--group", "", "in a group conversation: trust is familiar at most"),
    own("--as", "USER", "this user of coop.toml instead of a sender"),
    own("--cron", "NAME", "the user of this cron job instead of a sender"),
    own("--agent", "ID", "with the settings and workspace of this agent"),
    kConfig,
    kJson,
    kWorkspace};
constexpr std::array kConfigFlags{kJson, kConfig};
constexpr std::array kStatusFlags{kJson};
constexpr std::array kHostsFlags{kJson};
constexpr std::array kQuarantineListFlags{kJson};
constexpr std::array kHomeListFlags{kJson};
constexpr std::array kPresetsFlags{kJson};
constexpr std::array kQuarantineRemoveFlags{own("--all", "", "what every run left there")};
constexpr std::array kToolFlags{
    own("--list", "", "list the tools that this caller may use"), kOnLeak,
    own("--plain", "",
        "as the command itself would: its output, its errors, and its exit status. For hooks and "
        "scripts"),
    own("--json", "", "print the whole result as JSON")};
constexpr std::array kSetupFlags{
    own("--bash", "",
        "keep the client's own tools, and run the commands of its shell in a sandbox (Claude "
        "Code)"),
    own("--dry-run", "", "only show what would change"), own("--yes", "", "do not ask"),
    own("--undo", "", "take back what setup changed; without CLIENT, of all of them"), kJson};
constexpr std::array kMcpFlags{
    own("--http", "ADDRESS",
        "serve streamable HTTP at http://ADDRESS/mcp instead, on loopback only; port 0 lets the "
        "kernel choose. Clients send \"Authorization: Bearer TOKEN\""),
    Flag{.name = "--token-file",
         .placeholder = "FILE",
         .help = "the token; made with a new one when the file is missing. Without this, it is "
                 "taken from $COOP_MCP_TOKEN, or made and shown on standard error",
         .values = kPathValue,
         .needs = "--http"},
    kOnLeak, own("--json", "", "")};

constexpr std::array kOptionalFile{ArgumentInfo{"FILE", kPathValue}};
constexpr std::array kHostGroup{ArgumentInfo{"GROUP", kHostValue}};
constexpr std::array kTwoFiles{ArgumentInfo{"A", kPathValue}, ArgumentInfo{"B", kPathValue}};
constexpr std::array kSender{ArgumentInfo{"SENDER", one_of("terminal:default")}};
constexpr std::array kToolArguments{ArgumentInfo{"NAME", kToolValue}, ArgumentInfo{"JSON"}};
constexpr std::array kRun{ArgumentInfo{"ID", kRunValue}};
constexpr std::array kRunAndPath{ArgumentInfo{"ID", kRunValue}, ArgumentInfo{"PATH", kPathValue}};
constexpr std::array kHome{ArgumentInfo{"NAME", kHomeValue}};
constexpr ArgumentInfo kOneHome{"NAME", kHomeValue};
constexpr std::array kHomes{kOneHome, kOneHome, kOneHome, kOneHome, kOneHome, kOneHome};
constexpr std::array kPreset{ArgumentInfo{"NAME", kPresetValue}};
constexpr std::array kClient{ArgumentInfo{"CLIENT", kClientValue}};
constexpr std::array kHookClient{ArgumentInfo{"CLIENT", one_of("claude")}};
constexpr std::array kPage{ArgumentInfo{"PAGE", kPageValue}};
constexpr std::array kShell{ArgumentInfo{"SHELL", one_of("bash zsh fish")}};

Result<int> become_tool(const Parsed& parsed) { return become("tools", "tool", parsed.words); }
Result<int> become_mcp(const Parsed& parsed) { return become("tools", "mcp", parsed.words); }

constexpr std::array kCommands{
    CommandInfo{
        .name = "run",
        .synopsis = "[FLAGS] -- COMMAND [ARGUMENTS…]",
        .summary = "run a command in a sandbox in which only the workspace is writable",
        .text = "Runs COMMAND in new namespaces, under a system call filter and Landlock, without "
                "capabilities. The current directory is the workspace: it is writable, and nothing "
                "else "
                "of the machine is.",
        .examples = "coop run -- sh -c 'echo hello from $(hostname)'\n"
                    "coop run --view host --cache cargo -- cargo build\n"
                    "coop run --ro /opt/sdk --hide .env --memory 2g --timeout 10m -- make\n"
                    "coop run --allow-net '*.example.com' --host-port 5432 -- make "
                    "integration-test\n"
                    "coop run --publish 8080:80 -- ./serve\n"
                    "coop run --config coop.toml --as bob -- make\n"
                    "coop run --json -- python3 script.py\n",
        .exit_status = "the command's own; 128 + signal; 124 timeout; 125 coop itself failed; 126 "
                       "not executable; 127 not found",
        .run_flags = RunFlags::own,
        .rest = Rest::command,
        .run = command_run},
    CommandInfo{.name = "plan",
                .synopsis = "[FLAGS] [-- COMMAND [ARGUMENTS…]]",
                .summary = "show what `run` with the same flags would do, step by step",
                .text = "Prints every step and rule of the sandbox. Nothing is started or changed.",
                .examples = "coop plan --why\ncoop plan --view host --json\n",
                .flags = kPlanFlags,
                .run_flags = RunFlags::own,
                .rest = Rest::command,
                .run = command_plan},
    CommandInfo{.name = "policy",
                .synopsis = "show|check|explain|hosts|diff|export|import|approve|schema",
                .summary = "what sandboxes may do, as policy files say it, and why",
                .text = "What sandboxes may do, as the files say it:\n"
                        "  organisation  /etc/coop/policy.toml            a ceiling that nothing "
                        "below can widen\n"
                        "  user          ~/.config/coop/policy.toml\n"
                        "  project       .coop/policy.toml in the workspace: may narrow; what it "
                        "widens needs approval\n"
                        "The flags of `coop run` come last.",
                .examples = "coop policy show --origin\n"
                            "coop policy explain --view host ~/.ssh/id_ed25519\n"
                            "coop policy diff user project\n",
                .exit_status = "1 when `check` finds an error or `diff` a difference"},
    CommandInfo{.name = "policy show",
                .synopsis = "[--origin] [--json] [-w DIR]",
                .summary = "the values in force; --origin: and where each was written",
                .text = "Prints the values in force here, from the files of all scopes, as a "
                        "policy file.",
                .examples = "coop policy show --origin\ncoop policy show | coop policy check -\n",
                .flags = kShowFlags,
                .run = policy_show},
    CommandInfo{.name = "policy check",
                .synopsis = "[FILE [--scope SCOPE]] [--json] [-w DIR]",
                .summary = "every mistake in the files, with its place and the fix",
                .text = "Without FILE, the files in force here; \"-\" is standard input. Plans a "
                        "sandbox with them and "
                        "starts nothing: what "
                        "`coop run` would refuse is an error here.",
                .examples = "coop policy check\ncoop policy check .coop/policy.toml --json\n",
                .exit_status = "1 when there is an error",
                .arguments = kOptionalFile,
                .flags = kCheckFlags,
                .run = policy_check},
    CommandInfo{
        .name = "policy explain",
        .synopsis = "[FLAGS OF RUN] PATH|HOST",
        .summary = "why a path or a host can or cannot be reached, and what would allow it",
        .text = "Takes the flags of `coop run`, and answers for a sandbox with these flags.",
        .examples = "coop policy explain --view host ~/.ssh/id_ed25519\n"
                    "coop policy explain --allow-net '*.example.com' api.example.com\n",
        .run_flags = RunFlags::all,
        .rest = Rest::command,
        .run = policy_explain},
    CommandInfo{.name = "policy hosts",
                .synopsis = "[GROUP] [--json]",
                .summary = "the groups of hosts, like @github, and what each host is for",
                .text = "A group stands for its hosts wherever a host can be written: --allow-net "
                        "@github, allow = [\"@github\"]; @github:22 for those of its hosts that it "
                        "opens at port 22.",
                .examples = "coop policy hosts\ncoop policy hosts @npm --json\n",
                .arguments = kHostGroup,
                .flags = kHostsFlags,
                .run = policy_hosts},
    CommandInfo{.name = "policy diff",
                .synopsis = "A B [--json] [-w DIR]",
                .summary = "what differs between two files or scopes",
                .text = "A and B are each a file, a scope (organisation, user, project), "
                        "\"effective\" or \"built-in\".",
                .examples = "coop policy diff user project\ncoop policy diff built-in effective\n",
                .exit_status = "1 when there is a difference",
                .arguments = kTwoFiles,
                .flags = kJsonAndWorkspace,
                .run = policy_diff},
    CommandInfo{.name = "policy export",
                .synopsis = "[--scope SCOPE] [-w DIR]",
                .summary = "a scope (default: effective) as one file",
                .text = "Prints a scope as one policy file, for `coop policy import`.",
                .examples = "coop policy export > policy.toml\n",
                .flags = kExportFlags,
                .run = policy_export},
    CommandInfo{.name = "policy import",
                .synopsis = "FILE [--scope SCOPE] [--dry-run] [-w DIR]",
                .summary = "put FILE in the place of a scope's file (default: user)",
                .text =
                    "Shows what changes. The old file is kept with the suffix .previous. \"-\" is "
                    "standard input.",
                .examples = "coop policy import team.toml --dry-run\n",
                .arguments = kOptionalFile,
                .flags = kImportFlags,
                .run = policy_import},
    CommandInfo{.name = "policy approve",
                .synopsis = "[--yes] [--revoke] [-w DIR]",
                .summary = "let the project's file, exactly as it is now, widen the sandbox",
                .text = "The approval ends when the file changes.",
                .examples = "coop policy approve\ncoop policy approve --revoke\n",
                .flags = kApproveFlags,
                .run = policy_approve},
    CommandInfo{.name = "policy schema",
                .synopsis = "",
                .summary = "the JSON Schema of these files, for editors",
                .text = "Prints the JSON Schema of policy files and coop.toml.",
                .examples = "coop policy schema > policy.schema.json\n",
                .run = policy_schema},
    CommandInfo{.name = "trust",
                .synopsis = "SENDER [--group] [--json] [--config FILE] [--agent ID]\n"
                            "--as USER | --cron NAME [--json] [--config FILE]",
                .summary = "who a sender is to coop.toml, and what follows from it",
                .text = "How far the person is trusted (owner, full, inner, familiar, public), and "
                        "what follows: tools, memory stores, and the sandbox with the origin of "
                        "each value.",
                .examples = "coop trust terminal:default\n"
                            "coop trust signal:+15555550101 --group\n"
                            "coop trust --cron deploy --json\n",
                .arguments = kSender,
                .flags = kTrustFlags,
                .run = command_trust},
    CommandInfo{
        .name = "quarantine",
        .synopsis = "list|restore|remove",
        .summary = "the guarded files that ended runs have moved away",
        .text = "New guarded files (hooks, settings of editors and agents, CI) are moved to the "
                "quarantine when a run ends. If one was yours after all, put it back.",
        .examples = "coop quarantine list\ncoop quarantine restore zdyupr4s\n"},
    CommandInfo{.name = "quarantine list",
                .synopsis = "[ID] [--json]",
                .summary = "what is kept, of each run",
                .text = "Newest run first. ID: of that run alone.",
                .examples = "coop quarantine list\ncoop quarantine list zdyupr4s --json\n",
                .arguments = kRun,
                .flags = kQuarantineListFlags,
                .run = quarantine_list},
    CommandInfo{
        .name = "quarantine restore",
        .synopsis = "ID [PATH]",
        .summary = "put a run's files back where they were",
        .text = "All of that run, or the one at PATH and what was below it. Look at them first: "
                "programs of "
                "yours obey these files. Nothing is replaced. While a sandbox runs in that "
                "workspace they would be moved away "
                "again.",
        .examples = "coop quarantine restore zdyupr4s\ncoop quarantine restore zdyupr4s .vscode\n",
        .exit_status = "1 when not all could be put back",
        .arguments = kRunAndPath,
        .run = quarantine_restore},
    CommandInfo{.name = "quarantine remove",
                .synopsis = "ID\n--all",
                .summary = "delete what a run left there",
                .text = "For good: there is no copy.",
                .examples = "coop quarantine remove zdyupr4s\n",
                .arguments = kRun,
                .flags = kQuarantineRemoveFlags,
                .run = quarantine_remove},
    CommandInfo{.name = "home",
                .synopsis = "ls|path|rm",
                .summary = "the private homes that coop keeps for agents",
                .text = "An agent that has a preset gets a home of its own, one for each agent and "
                        "project, and `coop run --home NAME` makes or shares one by name. Logins, "
                        "settings and histories in it survive the sandbox; nothing of it is in the "
                        "repository or in your own home.",
                .examples = "coop home ls\ncoop home rm claude-project-1a2b3c4d\n"},
    CommandInfo{.name = "home ls",
                .synopsis = "[--json]",
                .summary = "list them: name, last use, and the workspace each was made for",
                .text = "Lists every kept home.",
                .examples = "coop home ls\ncoop home ls --json\n",
                .flags = kHomeListFlags,
                .run = home_list},
    CommandInfo{.name = "home path",
                .synopsis = "NAME",
                .summary = "print where a home is on this machine",
                .text = "A sandbox has written what is in it: do not run programs from there, and "
                        "follow no links.",
                .examples = "coop home path claude-project-1a2b3c4d\n",
                .arguments = kHome,
                .run = home_path},
    CommandInfo{.name = "home rm",
                .synopsis = "NAME…",
                .summary = "delete a home, with the login and the history in it",
                .text = "For good: there is no copy. Refused while a sandbox uses it.",
                .examples = "coop home rm claude-project-1a2b3c4d\n",
                .arguments = kHomes,
                .run = home_remove},
    CommandInfo{.name = "presets",
                .synopsis = "[NAME] [--json]",
                .summary = "the agents that coop knows, and what each one gets",
                .text = "`coop run -- claude` recognises the agent by the path of its program, and "
                        "adds what it needs: hosts, variables, and a private home that is kept. "
                        "Your policy and the organisation's still bound it; `coop plan -- claude` "
                        "shows each line with its origin.",
                .examples = "coop presets\ncoop presets claude\ncoop presets codex --json\n",
                .arguments = kPreset,
                .flags = kPresetsFlags,
                .run = command_presets},
    CommandInfo{.name = "config",
                .synopsis = "check [FILE] [--json]",
                .summary = "check a coop.toml: agents, users, cron jobs",
                .text = "About coop.toml: the agents, users and cron jobs of a gateway.",
                .examples = "coop config check\n"},
    CommandInfo{
        .name = "config check",
        .synopsis = "[FILE] [--json]",
        .summary = "every mistake in a coop.toml, with its place and the fix",
        .text = "Checks a coop.toml (default: coop/coop.toml in the configuration directory): its "
                "syntax, "
                "every value, who is trusted how far, and whether this machine can do what it asks "
                "for. Plans a sandbox for each agent, user and job, and starts none. \"-\" is "
                "standard input.",
        .examples = "coop config check\ncoop config check /srv/gateway/coop.toml --json\n",
        .exit_status = "1 when there is an error, 0 with warnings",
        .arguments = kOptionalFile,
        .flags = kConfigFlags,
        .run = config_check},
    CommandInfo{
        .name = "tool",
        .synopsis = "NAME ['{\"argument\": …}'] [FLAGS]\n--list [FLAGS]",
        .summary = "call one tool (bash, read_file, …) as an agent would",
        .text =
            "Prints the result. `coop tool NAME --help` shows the tool's arguments. Without --as "
            "and --channel the caller is the agent itself: trust full, always in the sandbox.",
        .examples =
            "coop tool bash '{\"command\": \"make test\"}'\ncoop tool read_file '{\"path\": "
            "\"README.md\", \"limit\": 20}' --json\ncoop tool --list --as bob\n",
        .exit_status = "1 when the tool failed or was refused",
        .arguments = kToolArguments,
        .flags = kToolFlags,
        .run_flags = RunFlags::sandbox,
        .run = become_tool,
        .help = become_tool},
    CommandInfo{
        .name = "mcp",
        .synopsis = "[--http 127.0.0.1:PORT] [FLAGS]",
        .summary = "serve the tools to an MCP client",
        .text = "On standard input and output. Without --as and --channel the caller is the "
                "agent itself: trust full, always in the sandbox; without --workspace it "
                "works in the current directory.",
        .examples = "claude mcp add --scope user coop -- coop mcp\n"
                    "coop mcp --workspace ~/project\n"
                    "coop mcp --config /srv/gateway/coop.toml --channel "
                    "signal:+15555550101\n"
                    "coop mcp --http 127.0.0.1:8765 --token-file ~/.config/coop/mcp-token\n",
        .flags = kMcpFlags,
        .run_flags = RunFlags::sandbox,
        .run = become_mcp},
    CommandInfo{
        .name = "setup",
        .synopsis = "[CLIENT] [--bash] [--dry-run] [--yes] [--json]\n"
                    "[CLIENT] --undo [--dry-run] [--yes] [--json]",
        .summary = "make an MCP client use coop's tools in place of its own",
        .text = "Writes the client's entry for `coop mcp`, and the settings that turn its own "
                "shell and file tools off. Shows the difference, and asks. All else in its files "
                "stays as it is, comments too. Without CLIENT, lists the clients that coop knows.",
        .examples = "coop setup\ncoop setup claude --dry-run\ncoop setup codex\n"
                    "coop setup claude --bash\ncoop setup --undo\n",
        .exit_status = "1 when the answer was no",
        .arguments = kClient,
        .flags = kSetupFlags,
        .run = command_setup},
    CommandInfo{
        .name = "hook",
        .synopsis = "claude",
        .summary = "answer a hook of an agent, so that its shell commands run in a sandbox",
        .text = "For the settings of an agent: `coop setup claude --bash` writes it there. Reads "
                "the call from standard input, and answers with one of `coop tool bash`.",
        .examples = "coop setup claude --bash\n",
        .exit_status = "2, which refuses the call, after any error",
        .arguments = kHookClient,
        .run = command_hook},
    CommandInfo{.name = "status",
                .synopsis = "[--json]",
                .summary = "show what this machine offers and what is missing",
                .text = "Finds out by trying, and says why something is missing.",
                .examples = "coop status\n",
                .exit_status = "0 when the default sandbox can run here, else 1",
                .flags = kStatusFlags,
                .run = command_status},
    CommandInfo{.name = "completion",
                .synopsis = "bash|zsh|fish",
                .summary = "print a completion script for a shell",
                .text = "Prints a script that completes the words of coop in this shell.",
                .examples = "source <(coop completion bash)\n",
                .arguments = kShell,
                .run = command_completion},
    CommandInfo{.name = "man",
                .synopsis = "[PAGE]",
                .summary = "print a manual page",
                .text = "PAGE is coop (default), coop-run, coop-policy or coop-mcp, or a command: "
                        "the page that has it.",
                .examples = "coop man coop-run | man -l -\n",
                .arguments = kPage,
                .run = command_man},
};

}  // namespace

std::span<const CommandInfo> commands() { return kCommands; }

const CommandInfo* find_command(std::string_view name) {
  const auto found = std::ranges::find(kCommands, name, &CommandInfo::name);
  return found == kCommands.end() ? nullptr : &*found;
}

std::string_view subcommand_of(const CommandInfo& command) {
  const std::size_t space = command.name.find(' ');
  return space == std::string_view::npos ? "" : command.name.substr(space + 1);
}

std::vector<const CommandInfo*> subcommands(const CommandInfo& group) {
  std::vector<const CommandInfo*> found;
  for (const CommandInfo& command : kCommands)
    if (command.name.starts_with(std::string(group.name) + " ")) found.push_back(&command);
  return found;
}

}  // namespace coop::cli
