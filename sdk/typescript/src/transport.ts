import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";

import { CoopError, CoopExitError } from "./errors.js";
import { Lines } from "./lines.js";

const STDERR_CHARACTERS = 4096;
const STDERR_LINES = 20;
const LAST_WORDS_MS = 1000; // how long output of a program that has ended is waited for
const PATIENCE_MS = 5000; // how long a program that should end may take

// Half of a UTF-16 pair is no character: as JSON it would reach coop as something it cannot read, and answer.
function refuseHalves(key: string, value: unknown): unknown {
  for (const text of [key, value])
    if (typeof text === "string" && /\p{Surrogate}/u.test(text))
      throw new CoopError(`a text is not Unicode: ${JSON.stringify(text.slice(0, 200))}`);
  return value;
}

export interface Receiver {
  message(message: unknown): void;
  /** Called once; nothing comes afterwards. */
  ended(reason: CoopError): void;
}

/** The program, and JSON messages to it and from it, one a line. */
export class Transport {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly gone: Promise<void>;
  private stderr = "";
  private over = false;

  constructor(
    private readonly program: string,
    flags: readonly string[],
    private readonly receiver: Receiver,
  ) {
    // The whole environment: what of it comes into the sandbox is coop's decision, and its policy's.
    this.child = spawn(program, [...flags], { stdio: "pipe", env: process.env });
    const lines = new Lines((line) => this.receive(line));
    // The decoder holds back a character whose bytes have not all come.
    this.child.stdout.setEncoding("utf8").on("data", (piece: string) => lines.add(piece));
    this.child.stderr.setEncoding("utf8").on("data", (piece: string) => {
      this.stderr = (this.stderr + piece).slice(-STDERR_CHARACTERS);
    });
    // Writing to a program that has ended fails. Its end is reported, with its exit code; this is not.
    this.child.stdin.on("error", () => undefined);
    this.gone = new Promise((resolve) => {
      const finish = (reason: CoopError): void => {
        this.end(reason);
        resolve();
      };
      this.child.on("error", (error: NodeJS.ErrnoException) => {
        if (this.child.pid === undefined) finish(this.startFailure(error));
      });
      // "close" comes when all output has been read; "exit" alone when something else still holds the pipes.
      this.child.on("close", (code, signal) => finish(this.exitFailure(code, signal)));
      this.child.on("exit", (code, signal) => {
        setTimeout(() => finish(this.exitFailure(code, signal)), LAST_WORDS_MS).unref();
      });
    });
  }

  send(message: object): void {
    const line = JSON.stringify(message, refuseHalves) + "\n";
    if (!this.over) this.child.stdin.write(line);
  }

  /** Ends the program and waits for that. */
  async close(): Promise<void> {
    this.end(new CoopError("coop was closed"));
    this.child.stdin.end(); // it kills what runs inside, and ends
    const impatience = setTimeout(() => this.child.kill("SIGKILL"), PATIENCE_MS);
    await this.gone;
    clearTimeout(impatience);
  }

  /** For a program that does not keep to the protocol: no answer of it can be trusted to come. */
  abandon(why: string): void {
    this.end(new CoopError(`"${this.program} mcp" ${why}`));
    this.child.kill("SIGKILL");
  }

  private receive(line: string): void {
    if (this.over || line.trim() === "") return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return this.abandon(`wrote a line that is not JSON: ${line.slice(0, 200)}`);
    }
    this.receiver.message(message);
  }

  private end(reason: CoopError): void {
    if (this.over) return;
    this.over = true;
    this.receiver.ended(reason);
  }

  private startFailure(error: NodeJS.ErrnoException): CoopExitError {
    const why = error.code === "ENOENT" ? "there is no such program" : error.message;
    const hint = 'name coop\'s program with the option "program" or the environment variable COOP_PROGRAM';
    return new CoopExitError(`start "${this.program}": ${why}; ${hint}`, null, null, "");
  }

  private exitFailure(code: number | null, signal: NodeJS.Signals | null): CoopExitError {
    const how = signal === null ? `ended with exit code ${code}` : `was killed by ${signal}`;
    const last = this.stderr.trimEnd().split("\n").slice(-STDERR_LINES).join("\n");
    return new CoopExitError(`"${this.program} mcp" ${how}`, code, signal, last);
  }
}
