// What the real coop rarely does: pieces of messages, an end in the middle, nonsense.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

import { Coop, CoopError, CoopExitError } from "../src/index.js";
import { pretender, temporaryDirectory } from "./support.js";

async function startPretender(context: test.TestContext, body: string): Promise<Coop> {
  const coop = await Coop.start({ program: pretender(context, body) });
  context.after(() => coop.close());
  return coop;
}

test("a message may come in pieces, cut within a character", async (context) => {
  const coop = await startPretender(
    context,
    `const bytes = Buffer.from(answer(message.id, content("ä€😀")));
     for (const byte of bytes) { write(Buffer.of(byte)); if (byte > 127) await pause(5); }`,
  );
  assert.equal((await coop.call("bash")).text, "ä€😀");
});

test("many messages may come in one piece, in any order", async (context) => {
  const coop = await startPretender(
    context,
    `globalThis.held = [answer(message.id, content(message.params.name)), ...(globalThis.held ?? [])];
     if (held.length === 3) write(held.join("") + "\\n");`,
  );
  const answers = await Promise.all(["a", "b", "c"].map((name) => coop.call(name)));
  assert.deepEqual(
    answers.map((answer) => answer.text),
    ["a", "b", "c"],
  );
});

test("when the program ends, every call that waits hears how and why", async (context) => {
  const coop = await startPretender(
    context,
    `if (message.params.name !== "last") return;
     process.stderr.write("first line\\nlast words\\n");
     process.exitCode = 9;
     process.stdin.destroy();`,
  );
  const calls = await Promise.allSettled([coop.call("one"), coop.call("two"), coop.call("last")]);
  for (const call of calls) {
    assert.equal(call.status, "rejected");
    const error = call.reason;
    assert.ok(error instanceof CoopExitError);
    assert.deepEqual([error.exitCode, error.signal, error.stderr], [9, null, "first line\nlast words"]);
    assert.match(error.message, /exit code 9.*last words/s);
  }
  await assert.rejects(coop.call("afterwards"), CoopExitError);
  await coop.close();
});

test("a signal that ends the program is named", async (context) => {
  const coop = await startPretender(context, `process.kill(process.pid, "SIGKILL");`);
  await assert.rejects(coop.call("bash"), (error) => error instanceof CoopExitError && error.signal === "SIGKILL");
});

test("invalid input ends the connection, and no call waits for ever", async (context) => {
  const coop = await startPretender(context, `write("hello\\n");`);
  await assert.rejects(coop.call("bash"), /not JSON: hello/);
});

test("an error without an id ends the connection", async (context) => {
  const coop = await startPretender(
    context,
    `write(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "what?" } }) + "\\n");`,
  );
  await assert.rejects(coop.call("bash"), /did not understand a message: what\?/);
});

test("close() rejects the calls that wait", async (context) => {
  const coop = await startPretender(context, "");
  const call = assert.rejects(coop.call("bash"), /coop was closed/);
  await coop.close();
  await call;
  await assert.rejects(coop.tools(), /coop was closed/);
});

test("options become flags, and the environment is handed on", async (context) => {
  process.env["COOP_TEST"] = "here";
  const body = `write(answer(message.id, content([...process.argv.slice(2), process.env.COOP_TEST].join("|"))));`;
  const coop = await Coop.start({
    program: pretender(context, body),
    workspace: "-w",
    config: "c.toml",
    agent: "main",
    user: "bob",
    channel: "signal:+1",
    group: true,
    onLeak: "block",
  });
  context.after(() => coop.close());
  const expected = [
    "mcp", "--workspace=-w", "--config=c.toml", "--agent=main", "--as=bob", "--channel=signal:+1", "--on-leak=block",
    "--group", "here",
  ];
  assert.deepEqual((await coop.call("bash")).text.split("|"), expected);
});

test("a program that is missing is an error that says how to name it", async (context) => {
  const program = join(temporaryDirectory(context), "coop");
  await assert.rejects(Coop.start({ program }), (error) => {
    assert.ok(error instanceof CoopError);
    assert.ok(error.message.includes(program), error.message);
    assert.match(error.message, /"program".*COOP_PROGRAM/);
    return true;
  });
});

test("the version is the package's", () => {
  const root = new URL("../../", import.meta.url);
  const version = (JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as { version: string }).version;
  assert.ok(readFileSync(new URL("dist/src/coop.js", root), "utf8").includes(`version: "${version}"`));
});
