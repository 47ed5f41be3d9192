/* libcoop.so from C: one command, one toolbox, and mistakes. */
#include <coop/coop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failures = 0;

static void expect(int status, int wanted, char *answer, const char *part) {
  if (status != wanted || answer == NULL || strstr(answer, part) == NULL) {
    fprintf(stderr, "expected %d with %s, got %d with %s\n", wanted, part, status, answer ? answer : "NULL");
    ++failures;
  }
  coop_free(answer);
}

int main(void) {
  char *answer = NULL;
  coop_tools *tools = NULL;
  int status;

  if (coop_abi_version() != COOP_ABI_VERSION || coop_version()[0] == '\0') return 1;

  status = coop_probe(&answer);
  expect(status, COOP_OK, answer, "kernel");
  status = coop_exec("{\"command\": \"hostname; exit 3\"}", -1, &answer);
  expect(status, COOP_OK, answer, "\"exit_code\": 3");
  status = coop_exec("{\"command\": [\"echo\", \"a b\"], \"policy\": {\"memory\": \"64m\"}}", -1, &answer);
  expect(status, COOP_OK, answer, "a b\\n");
  status = coop_exec("{\"command\": \"true\", \"policy\": {\"memroy\": \"64m\"}}", -1, &answer);
  expect(status, COOP_FAILED, answer, "memroy");
  status = coop_exec("{\"command\": \"true\", \"policy\": {\"mode\": \"disabled\"}}", -1, &answer);
  expect(status, COOP_FAILED, answer, "always runs in a sandbox");
  status = coop_exec("not json", -1, &answer);
  expect(status, COOP_FAILED, answer, "JSON");
  status = coop_exec(NULL, -1, &answer);
  expect(status, COOP_FAILED, answer, "error");

  {
    int pipes[2];
    char text[16] = "";
    int descriptors[3] = {-1, -1, -1};
    if (pipe(pipes) != 0) return 1;
    descriptors[1] = pipes[1];
    status = coop_run("{\"command\": \"echo straight; exit 4\"}", descriptors, -1, &answer);
    expect(status, COOP_OK, answer, "\"exit_code\": 4");
    if (read(pipes[0], text, sizeof text - 1) != 9 || strcmp(text, "straight\n") != 0) ++failures;
    /* A descriptor that is readable cancels. */
    if (write(pipes[1], "x", 1) != 1) return 1;
    descriptors[1] = -1;
    status = coop_run("{\"command\": \"sleep 60\"}", descriptors, pipes[0], &answer);
    expect(status, COOP_OK, answer, "\"outcome\": \"signalled\"");
    status = coop_run("{\"command\": \"true\"}", NULL, -1, &answer);
    expect(status, COOP_FAILED, answer, "NULL");
    close(pipes[0]);
    close(pipes[1]);
  }

  status = coop_tools_open("{\"on_leak\": \"block\"}", &tools, &answer);
  expect(status, COOP_OK, answer, "\"trust\":\"full\"");
  status = coop_tools_list(tools, &answer);
  expect(status, COOP_OK, answer, "search_files");
  status = coop_tools_call(tools, "write_file", "{\"path\": \"a\", \"content\": \"hello\"}", -1, &answer);
  expect(status, COOP_OK, answer, "\"failed\":false");
  status = coop_tools_call(tools, "bash", "{\"command\": \"cat a\"}", -1, &answer);
  expect(status, COOP_OK, answer, "\"text\":\"hello\"");
  status = coop_tools_call(tools, "read_file", "{\"path\": \"/etc/shadow\"}", -1, &answer);
  expect(status, COOP_OK, answer, "\"rule\":\"built-in secrets\"");
  status = coop_tools_call(tools, "no_such_tool", "{}", -1, &answer);
  expect(status, COOP_OK, answer, "no tool");
  status = coop_tools_call(NULL, "bash", "{}", -1, &answer);
  expect(status, COOP_FAILED, answer, "NULL");
  coop_tools_close(tools);
  coop_tools_close(NULL);

  status = coop_tools_open("{\"workspace\": \"/no/such/place\"}", &tools, &answer);
  expect(status, COOP_FAILED, answer, "/no/such/place");
  if (tools != NULL) ++failures;
  return failures == 0 ? 0 : 1;
}
