// Commands with streams of their own, and policies.
import assert from "node:assert/strict";
import test from "node:test";
import { text } from "node:stream/consumers";

import { run } from "../src/index.js";
import { policyFlags } from "../src/policy.js";
import { start, temporaryDirectory } from "./support.js";

test("policy options are coop's flags", () => {
  assert.deepEqual(
    policyFlags({ allowNet: ["a.example", "b.example:8080"], memory: "1g", pids: 100, hideSecrets: true, mptcp: false,
                  env: { CI: "yes", EMPTY: "" } }),
    ["--allow-net=a.example", "--allow-net=b.example:8080", "--memory=1g", "--pids=100", "--hide-secrets",
     "--env=CI=yes", "--env=EMPTY="],
  );
});

test("a command has its streams, its input and its exit code", async (context) => {
  const workspace = temporaryDirectory(context);
  const child = run("read line; echo got $line; echo $CI >&2; exit 3", { workspace, policy: { env: { CI: "yes" } } });
  child.stdin.end("hello\n");
  const [out, err, ended] = await Promise.all([text(child.stdout), text(child.stderr), child.wait()]);
  assert.deepEqual([out, err.trim(), ended.exitCode], ["got hello\n", "yes", 3]);
});

test("output arrives while the command runs", async (context) => {
  const workspace = temporaryDirectory(context);
  const child = run(["sh", "-c", "echo first; exec sleep 60"], { workspace });
  for await (const piece of child.stdout) {
    assert.equal(String(piece), "first\n");
    break;
  }
  child.kill();
  assert.equal((await child.wait()).exitCode, 137);
});

test("an aborted command is killed", async (context) => {
  const workspace = temporaryDirectory(context);
  const child = run("sleep 60", { workspace, signal: AbortSignal.timeout(300) });
  await assert.rejects(child.wait(), { name: "TimeoutError" });
});

test("a mistake in a policy is coop's error", async (context) => {
  const workspace = temporaryDirectory(context);
  const child = run("true", { workspace, policy: { memory: "much" } });
  const [err, ended] = await Promise.all([text(child.stderr), child.wait()]);
  assert.equal(ended.exitCode, 125);
  assert.match(err, /memory/);
});

test("tools take a policy too", async (context) => {
  const { coop } = await start(context, { policy: { env: { FLAVOUR: "plum" } } });
  assert.equal((await coop.bash({ command: "echo $FLAVOUR" })).text, "plum\n");
});
