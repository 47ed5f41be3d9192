// Against the real coop: the program that COOP_PROGRAM names, or the one on the PATH.
import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { Coop, CoopError, CoopExitError } from "../src/index.js";
import { start, temporaryDirectory } from "./support.js";

test("the agent itself has all tools", async (context) => {
  const { coop } = await start(context);
  const names = (await coop.tools()).map((tool) => tool.name);
  assert.deepEqual(names.sort(), [
    "bash", "edit_file", "exec", "fetch_url", "list_files", "read_file", "search_files", "send_file", "write_file",
  ]);
});

test("commands run in the sandbox", async (context) => {
  const { coop, workspace } = await start(context);
  const done = await coop.bash({ command: "echo out; echo err >&2; exit 3" });
  assert.equal(done.failed, true);
  assert.deepEqual([done.structured.outcome, done.structured.exit_code], ["exited", 3]);
  assert.deepEqual([done.structured.stdout?.text, done.structured.stderr?.text], ["out\n", "err\n"]);

  assert.equal((await coop.bash({ command: "touch mine" })).failed, false);
  assert.ok(existsSync(join(workspace, "mine")));
  assert.equal((await coop.bash({ command: "touch /usr/mine" })).failed, true);
  assert.ok(!existsSync("/usr/mine"));

  const program = { program: "printf", arguments: ["%s|", "$A", "ä€😀"], environment: { A: "b" } };
  assert.equal((await coop.exec(program)).text, "$A|ä€😀|");
  assert.equal((await coop.bash({ command: "sleep 60", timeout: 1 })).structured.outcome, "timed_out");
});

test("file tools", async (context) => {
  const { coop, workspace } = await start(context);
  const content = "one\ntwo\nthree\n";
  assert.equal((await coop.writeFile({ path: "a/b.txt", content })).structured.created, true);
  assert.equal(readFileSync(join(workspace, "a/b.txt"), "utf8"), content);
  assert.equal((await coop.readFile({ path: "a/b.txt", offset: 2, limit: 1 })).text.includes("two"), true);
  assert.equal((await coop.editFile({ path: "a/b.txt", old: "two", new: "zwei" })).structured.replaced, 1);
  assert.equal((await coop.searchFiles({ pattern: "ZWEI", ignore_case: true })).structured.matches, 1);
  assert.match((await coop.listFiles({ depth: 2 })).text, /b\.txt/);
  const sent = await coop.sendFile({ path: "a/b.txt" });
  assert.equal(Buffer.from(sent.structured.data ?? "", "base64").toString(), "one\nzwei\nthree\n");
});

test("what the policy does not give is refused", async (context) => {
  const { coop } = await start(context);
  const read = await coop.readFile({ path: "/etc/shadow" });
  assert.deepEqual([read.failed, read.structured.outcome], [true, "refused"]);
  const fetched = await coop.fetchUrl({ url: "http://127.0.0.1/" });
  assert.deepEqual([fetched.failed, fetched.structured.outcome], [true, "refused"]);
});

test("a tool that does not exist is an error", async (context) => {
  const { coop } = await start(context);
  await assert.rejects(coop.call("no_such_tool"), /no_such_tool/);
});

test("output comes while the command runs", async (context) => {
  const { coop, workspace } = await start(context);
  let seen = "";
  const done = await coop.bash(
    { command: "echo first; while [ ! -e go ]; do sleep 0.05; done; echo ä€😀", timeout: 30 },
    {
      onOutput: (text) => {
        seen += text;
        if (seen === "first\n") writeFileSync(join(workspace, "go"), "");
      },
    },
  );
  assert.deepEqual([seen, done.text], ["first\nä€😀\n", "first\nä€😀\n"]);
});

test("an abort kills the command, and coop goes on", async (context) => {
  const { coop, workspace } = await start(context);
  const abort = new AbortController();
  const reason = new Error("no longer wanted");
  const call = coop.bash(
    { command: "echo begin; while :; do echo >> beats; sleep 0.05; done", timeout: 60 },
    { signal: abort.signal, onOutput: () => setTimeout(() => abort.abort(reason), 300) },
  );
  await assert.rejects(call, (error) => error === reason);
  await wait(1000);
  const beats = statSync(join(workspace, "beats")).size;
  await wait(500);
  assert.equal(statSync(join(workspace, "beats")).size, beats);

  assert.equal((await coop.bash({ command: "echo again" })).text, "again\n");
  await assert.rejects(coop.bash({ command: "true" }, { signal: abort.signal }), (error) => error === reason);
});

test("an onOutput that throws ends its call", async (context) => {
  const { coop } = await start(context);
  const onOutput = (): void => {
    throw new Error("my own mistake");
  };
  await assert.rejects(coop.bash({ command: "echo; sleep 60" }, { onOutput }), /my own mistake/);
  assert.equal((await coop.bash({ command: "echo again" })).text, "again\n");
});

test("many calls at once", async (context) => {
  const { coop } = await start(context);
  const numbers = Array.from({ length: 16 }, (_, index) => index);
  const answers = await Promise.all(numbers.map((number) => coop.bash({ command: `echo ${number}` })));
  assert.deepEqual(
    answers.map((answer) => answer.text),
    numbers.map((number) => `${number}\n`),
  );
});

test("a long message goes and comes whole", async (context) => {
  const { coop, workspace } = await start(context);
  const content = "ä€😀 0123456789\n".repeat(50_000);
  assert.equal((await coop.writeFile({ path: "long", content })).failed, false);
  assert.equal(readFileSync(join(workspace, "long"), "utf8"), content);
  const sent = await coop.sendFile({ path: "long" });
  assert.equal(Buffer.from(sent.structured.data ?? "", "base64").toString(), content);
});

test("a text that is not Unicode is refused, and coop goes on", async (context) => {
  const { coop } = await start(context);
  await assert.rejects(coop.bash({ command: "echo \ud83d" }), CoopError);
  assert.equal((await coop.bash({ command: "echo \ud83d\ude00" })).text, "😀\n");
});

test("a workspace that is missing is an error with coop's own words", async (context) => {
  const workspace = join(temporaryDirectory(context), "missing");
  await assert.rejects(Coop.start({ workspace }), (error) => {
    assert.ok(error instanceof CoopExitError);
    assert.equal(error.exitCode, 125);
    assert.ok(error.stderr.includes(workspace), error.stderr);
    return true;
  });
});

test("close() kills what runs inside, and may be called again", async (context) => {
  const { coop } = await start(context);
  const call = assert.rejects(coop.bash({ command: "sleep 60" }), /coop was closed/);
  const begin = Date.now();
  await coop[Symbol.asyncDispose]();
  await call;
  assert.ok(Date.now() - begin < 4_000);
  await coop.close();
});
