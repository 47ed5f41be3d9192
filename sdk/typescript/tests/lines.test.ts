import assert from "node:assert/strict";
import test from "node:test";

import { Lines } from "../src/lines.js";

function linesOf(pieces: string[]): string[] {
  const seen: string[] = [];
  const lines = new Lines((line) => seen.push(line));
  for (const piece of pieces) lines.add(piece);
  return seen;
}

test("lines come whole, wherever the text was cut", () => {
  const text = "one\n\ntwo \u2028 words\nthree\n";
  const expected = ["one", "", "two \u2028 words", "three"];
  assert.deepEqual(linesOf([text]), expected);
  assert.deepEqual(linesOf([...text]), expected);
  for (let cut = 0; cut <= text.length; cut++)
    assert.deepEqual(linesOf([text.slice(0, cut), text.slice(cut)]), expected);
});

test("a line without an end is held back", () => {
  assert.deepEqual(linesOf(["one\ntw", "o"]), ["one"]);
});
