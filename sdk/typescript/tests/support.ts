import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

import { Coop, type StartOptions } from "../src/index.js";

export function temporaryDirectory(test: TestContext): string {
  const place = mkdtempSync(join(tmpdir(), "coop-typescript-"));
  test.after(() => rmSync(place, { recursive: true, force: true }));
  return place;
}

/** The real coop, with a workspace of its own. */
export async function start(test: TestContext, more: StartOptions = {}): Promise<{ coop: Coop; workspace: string }> {
  const workspace = temporaryDirectory(test);
  const coop = await Coop.start({ workspace, ...more });
  test.after(() => coop.close());
  return { coop, workspace };
}

/** A program that says hello as coop does; `body` is what it does with each `message` after that. */
export function pretender(test: TestContext, body: string): string {
  const program = join(temporaryDirectory(test), "pretender.cjs");
  writeFileSync(
    program,
    `#!${process.execPath}
const write = (piece) => require("fs").writeSync(1, piece);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const answer = (id, result) => JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n";
const content = (text) => ({ content: [{ type: "text", text }], structuredContent: {}, isError: false });
require("readline").createInterface({ input: process.stdin }).on("line", async (line) => {
  const message = JSON.parse(line);
  if (message.method === "initialize") return write(answer(message.id, {}));
  if (message.id === undefined) return;
  ${body}
});
`,
  );
  chmodSync(program, 0o755);
  return program;
}
