// Runs the official conformance suite against tests/conformance/server.cc. Fails when a check fails that conformance.txt
// does not name, or when one that it names passes.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const token = "0123456789abcdef0123456789abcdef";

// The suite cannot send a token. A foreign Host stays as it is.
function proxyTo(target) {
  const server = http.createServer((request, response) => {
    const own = ["127.0.0.1", "localhost"].some((name) => request.headers.host === `${name}:${server.address().port}`);
    const host = own ? `127.0.0.1:${target}` : request.headers.host;
    const headers = { ...request.headers, host, authorization: `Bearer ${token}` };
    const onward = http.request({ port: target, path: request.url, method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers).flushHeaders();
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

function run(program, words) {
  return new Promise((resolve) => {
    const child = spawn(program, words, { stdio: ["ignore", "ignore", "inherit"] });
    child.on("close", resolve);
  });
}

// "scenario" or "scenario check", then a tab and the reason.
function known() {
  const file = join(dirname(fileURLToPath(import.meta.url)), "conformance.txt");
  const lines = readFileSync(file, "utf8").split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => line.split("\t")));
}

const [program, node, suite] = process.argv.slice(2);
const results = mkdtempSync(join(tmpdir(), "coop-conformance-"));
const server = spawn(program, ["0", token], { stdio: ["ignore", "pipe", "inherit"] });
const [url] = await new Promise((resolve) => createInterface({ input: server.stdout }).once("line", (...line) => resolve(line)));
const proxy = await proxyTo(new URL(url).port);
await run(node, [suite, "server", "--url", `http://127.0.0.1:${proxy.address().port}/mcp`, "--suite", "all", "-o", results]);
server.kill();
proxy.close();
proxy.closeAllConnections();

const excused = known();
const used = new Set();
let passed = 0;
const problems = [];
for (const directory of readdirSync(results)) {
  const scenario = directory.replace(/^server-/, "").replace(/-\d{4}-\d{2}-\d{2}T.*$/, "");
  for (const check of JSON.parse(readFileSync(join(results, directory, "checks.json"), "utf8"))) {
    if (check.status === "SUCCESS") passed += 1;
    if (check.status !== "FAILURE") continue;
    const name = [scenario, `${scenario} ${check.id}`].find((one) => excused.has(one));
    if (name === undefined) problems.push(`${scenario} ${check.id}: ${check.errorMessage}`);
    else used.add(name);
  }
}
for (const name of excused.keys()) if (!used.has(name)) problems.push(`${name} is in conformance.txt, but does not fail`);
if (passed < 80) problems.push(`only ${passed} checks passed: the suite did not run`);
spawnSync("rm", ["-rf", results]);
console.log(`${passed} checks passed, ${used.size} scenarios or checks do not apply`);
for (const problem of problems) console.log(`FAILED ${problem}`);
process.exit(problems.length === 0 ? 0 : 1);
