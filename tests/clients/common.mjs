// What the tests with official MCP clients share: a workspace, processes to look for, one set of checks.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after } from "node:test";

export const coop = process.env.COOP_PROGRAM;
assert.ok(coop, "COOP_PROGRAM names the program to test");

// A repository-like workspace that goes away at the end.
export function workspace() {
  const around = fs.mkdtempSync(path.join(os.tmpdir(), "coop-client-"));
  const directory = path.join(around, "project");
  fs.mkdirSync(path.join(directory, ".git", "hooks"), { recursive: true });
  fs.writeFileSync(path.join(directory, "README.md"), "# Project\n\nhello from the project\n");
  fs.writeFileSync(path.join(around, "outside.txt"), "not for the agent\n");
  after(() => fs.rmSync(around, { recursive: true, force: true }));
  return { around, directory };
}

// Process ids whose command line has `marker` in it.
export function processesWith(marker) {
  return fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid).filter((name) => {
    try {
      return fs.readFileSync(`/proc/${name}/cmdline`, "utf8").includes(marker);
    } catch {
      return false; // it has ended meanwhile
    }
  });
}

export async function until(condition, what) {
  const end = Date.now() + 20000;
  while (!condition()) {
    assert.ok(Date.now() < end, `waited in vain for: ${what}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

// Starts `coop mcp --http` and resolves to where it is.
export async function startHttp(directory, more = []) {
  const token = "a-token-of-the-tests-0123456789";
  const server = spawn(coop, ["mcp", "--workspace", directory, "--http", "127.0.0.1:0", ...more],
    { env: { ...process.env, COOP_MCP_TOKEN: token }, stdio: ["ignore", "ignore", "pipe"] });
  after(() => server.kill());
  let said = "";
  server.stderr.on("data", (piece) => { said += piece; });
  await until(() => /http:\S+/.test(said) || server.exitCode !== null, "the server's address");
  const url = new URL(said.match(/http:\S+/)[0]);
  return { server, url, token };
}

export const toolNames = ["bash", "exec", "read_file", "write_file", "edit_file", "list_files", "search_files",
  "send_file", "fetch_url"];

// What every client must be able to do, whichever way it speaks to coop. `call(name, args, options)` resolves
// to the result; options: onprogress, signal.
export async function worksInARepository({ call, listTools }, { directory }) {
  assert.deepEqual((await listTools()).map((tool) => tool.name), toolNames);

  const wrote = await call("write_file", { path: "src/main.sh", content: "echo \"built $1\"\n" });
  assert.equal(wrote.isError, false, JSON.stringify(wrote));
  assert.equal(fs.readFileSync(path.join(directory, "src/main.sh"), "utf8"), "echo \"built $1\"\n");

  const edited = await call("edit_file", { path: "src/main.sh", old: "built", new: "made" });
  assert.equal(edited.isError, false, JSON.stringify(edited));

  const ran = await call("bash", { command: "sh src/main.sh it; pwd; exit 3" });
  assert.equal(ran.isError, true);
  assert.equal(ran.structuredContent.exit_code, 3);
  assert.equal(ran.structuredContent.outcome, "exited");
  assert.equal(ran.structuredContent.stdout.text, "made it\n/work\n");

  const executed = await call("exec", { program: "printf", arguments: ["%s|", "a b", "c"] });
  assert.equal(executed.content[0].text, "a b|c|");

  const read = await call("read_file", { path: "README.md" });
  assert.match(read.content[0].text, /hello from the project/);
  const listed = await call("list_files", {});
  assert.match(listed.content[0].text, /README\.md/);
  const found = await call("search_files", { pattern: "hello" });
  assert.match(found.content[0].text, /README\.md/);
}

// Each of these is refused, and the answer says by which rule.
export async function refusesAttacks({ call }, { around, directory }) {
  const attacks = [
    ["read_file", { path: "../outside.txt" }],
    ["read_file", { path: "/etc/shadow" }],
    ["write_file", { path: ".git/hooks/pre-commit", content: "#!/bin/sh\n" }],
    ["write_file", { path: "SOUL.md", content: "another one\n" }],
    ["edit_file", { path: "../outside.txt", old: "not", new: "all" }],
    ["send_file", { path: "/etc/passwd" }],
    ["fetch_url", { url: "http://169.254.169.254/latest/meta-data/" }],
  ];
  for (const [name, args] of attacks) {
    const refused = await call(name, args);
    assert.equal(refused.isError, true, `${name} ${JSON.stringify(args)}`);
    assert.equal(refused.structuredContent.outcome, "refused", JSON.stringify(refused));
    assert.ok(refused.structuredContent.denials[0].rule, `${name} names no rule: ${JSON.stringify(refused)}`);
  }
  // It is below /tmp, which is another one inside.
  const outside = await call("read_file", { path: path.join(around, "outside.txt") });
  assert.equal(outside.isError, true);
  assert.doesNotMatch(JSON.stringify(outside), /not for the agent/);
  // Above the workspace is the sandbox's own root, and nothing of the host's directory.
  const above = await call("list_files", { path: ".." });
  assert.match(above.content[0].text, /usr/);
  assert.doesNotMatch(JSON.stringify(above), /outside\.txt/);
  const shell = await call("bash", { command: `cat ${path.join(around, "outside.txt")}; echo x > /usr/x` });
  assert.equal(shell.isError, true);
  assert.doesNotMatch(JSON.stringify(shell), /not for the agent/);
  assert.ok(!fs.existsSync(path.join(directory, ".git/hooks/pre-commit")));
  assert.equal(fs.readFileSync(path.join(around, "outside.txt"), "utf8"), "not for the agent\n");
}

// The command goes on only when its last line has arrived.
export async function showsLiveOutput({ call }, { directory }) {
  let output = "";
  const seen = (number) => path.join(directory, `seen-${number}`);
  await call("bash", { command: "for i in 1 2 3; do echo line $i; until [ -e seen-$i ]; do sleep 0.01; done; done" },
    { onprogress: (progress) => {
      output += progress.message;
      const number = output.split("\n").length - 1;
      if (number > 0) fs.writeFileSync(seen(number), "");
    } });
  assert.equal(output, "line 1\nline 2\nline 3\n");
  for (const number of [1, 2, 3]) fs.rmSync(seen(number));
}

export async function cancels({ call }) {
  const marker = `61.${process.pid}${Math.floor(Math.random() * 1e6)}`;
  const abort = new AbortController();
  const call_ = call("bash", { command: `sleep ${marker}` }, { signal: abort.signal });
  const rejected = assert.rejects(call_);
  await until(() => processesWith(marker).length > 0, "the command to run");
  abort.abort();
  await rejected;
  await until(() => processesWith(marker).length === 0, "the command to be killed");
}

export async function servesSixteenAtOnce({ call }) {
  const numbers = Array.from({ length: 16 }, (_, number) => number);
  const results = await Promise.all(numbers.map((number) =>
    call("bash", { command: `sleep 0.2; echo ${number} | tee out-${number}` })));
  assert.deepEqual(results.map((result) => result.content[0].text), numbers.map((number) => `${number}\n`));
}

// How a client reaches coop, by its own two transports.
export function transports(Stdio, Http) {
  return {
    stdio: async ({ directory }) => new Stdio({
      command: coop, args: ["mcp", "--workspace", directory], env: process.env, stderr: "inherit",
    }),
    http: async ({ directory }) => {
      const { url, token } = await startHttp(directory);
      return new Http(url, { requestInit: { headers: { Authorization: `Bearer ${token}` } } });
    },
  };
}
