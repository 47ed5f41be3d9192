/* coop from C, and from every language that can call C: libcoop.so.
 *
 *   char *answer = NULL;
 *   if (coop_exec("{\"command\": \"make test\", \"policy\": {\"workspace\": \"/srv/project\"}}", -1, &answer) == COOP_OK)
 *     puts(answer);
 *   coop_free(answer);
 *
 * Texts are UTF-8 and JSON. Every function that takes a char ** gives back a text that the caller frees with
 * coop_free(): the answer when it returns COOP_OK, and otherwise {"error": {"kind", "message", "hint"}}.
 * NULL comes back only when there is no memory. Functions may be called from many threads at once; none
 * installs a signal handler or changes the directory, the environment or the limits of the caller.
 * This interface only grows: a program that was linked against it goes on working with every later
 * library of the same coop_abi_version().
 */
#ifndef COOP_COOP_H
#define COOP_COOP_H

#ifdef __cplusplus
extern "C" {
#endif

#define COOP_ABI_VERSION 1

enum {
  COOP_OK = 0,
  COOP_FAILED = 1, /* the text says why */
};

int coop_abi_version(void);
const char* coop_version(void); /* "0.1.0"; never freed */

/* What this machine offers, as `coop status --json` prints it. */
int coop_probe(char** json);

/* Runs one command in a sandbox, to its end. The request:
 *   {"command": "shell text" or ["program", "argument", …],
 *    "environment": {"NAME": "value"}, "directory": "/work/sub", "timeout": SECONDS,
 *    "policy": {"workspace": DIRECTORY, …}}
 * "policy" has the keys of a policy file's [sandbox] table, and "workspace" (default: the current directory). The
 * organisation's, user's and project's policy files hold as they do for `coop run`. The answer is what `coop run
 * --json` prints. When cancel_fd (or -1) becomes readable, everything inside is killed. */
int coop_exec(const char* request, int cancel_fd, char** json);

/* One principal's tools: bash, exec, read_file, … Options:
 *   {"workspace": DIRECTORY, "policy": {…}, "on_leak": "redact" | "block" | "terminate"}
 * for the agent itself (trust full, always in the sandbox), or for a person of a coop.toml
 *   {"config": FILE, "agent": ID, "as": USER, "channel": SENDER, "group": true} */
typedef struct coop_session coop_session;
int coop_session_open(const char* options, coop_session** session, char** json);

/* What this session may call: [{"name", "description", "inputSchema"}]. */
int coop_session_tools(coop_session* session, char** json);

/* Calls one tool: {"text", "structured", "failed"}. A call that was refused is an answer too, with "failed": true.
 * When cancel_fd (or -1) becomes readable, a command that runs is killed. */
int coop_session_call(coop_session* session, const char* tool, const char* arguments, int cancel_fd,
                      char** json);

/* Not while another thread is in a call of it. NULL is nothing to close. */
void coop_session_close(coop_session* session);

void coop_free(char* text); /* NULL is nothing to free */

#ifdef __cplusplus
}
#endif

#endif
