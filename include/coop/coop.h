/* coop from C, and from every language that can call C: libcoop.so.
 *
 *   char *answer = NULL;
 *   if (coop_exec("{\"command\": \"make test\", \"policy\": {\"workspace\": \"/srv/project\"}}", -1, &answer) == COOP_OK)
 *     puts(answer);
 *   coop_free(answer);
 *
 * Strings are UTF-8 and JSON. Every function that takes a char ** returns a string there, which the caller frees
 * with coop_free(): the answer if the function returns COOP_OK, otherwise {"error": {"kind", "message", "hint"}}.
 * The string is NULL only when memory is exhausted. All functions are thread-safe; none installs a signal handler
 * or changes the working directory, the environment or the rlimits of the caller.
 * This interface only grows: a program linked against it keeps working with every later library of the same
 * coop_abi_version().
 */
#ifndef COOP_COOP_H
#define COOP_COOP_H

#ifdef __cplusplus
extern "C" {
#endif

#define COOP_ABI_VERSION 1

enum {
  COOP_OK = 0,
  COOP_FAILED = 1, /* the string has the reason */
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
 * organisation's, user's and project's policy files apply as they do to `coop run`. The answer is what `coop run
 * --json` prints. When cancel_fd (or -1) becomes readable, everything inside is killed. */
int coop_exec(const char* request, int cancel_fd, char** json);

/* The same, with descriptors of the caller as the command's standard input, output and error; -1 is /dev/null. Nothing is
 * captured, so "stdout" and "stderr" of the answer are empty. The caller may close its copies once the function has
 * returned, or earlier from another thread once the command has started; a pipe's other end sees EOF when both have. */
int coop_run(const char* request, const int descriptors[3], int cancel_fd, char** json);

/* One principal's tools: bash, exec, read_file, … Options:
 *   {"workspace": DIRECTORY, "policy": {…}, "on_leak": "redact" | "block" | "terminate"}
 * for the agent itself (trust full, always in the sandbox), or for a user of a coop.toml
 *   {"config": FILE, "agent": ID, "as": USER, "channel": SENDER, "group": true} */
typedef struct coop_tools coop_tools;
int coop_tools_open(const char* options, coop_tools** tools, char** json);

/* The tools that may be called: [{"name", "description", "inputSchema"}]. */
int coop_tools_list(coop_tools* tools, char** json);

/* Calls one tool: {"text", "structured", "failed"}. A refused call is an answer too, with "failed": true.
 * When cancel_fd (or -1) becomes readable, the running command is killed. */
int coop_tools_call(coop_tools* tools, const char* tool, const char* arguments, int cancel_fd,
                    char** json);

/* Not while another thread is in a call. NULL is ignored. */
void coop_tools_close(coop_tools* tools);

void coop_free(char* text); /* NULL is ignored */

#ifdef __cplusplus
}
#endif

#endif
