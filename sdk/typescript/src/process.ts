import { spawn, type ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";

import { CoopError } from "./errors.js";
import { policyFlags, type PolicyOptions } from "./policy.js";

export interface RunOptions {
  /** The directory that is writable; the current one unless told. */
  workspace?: string;
  policy?: PolicyOptions;
  /** Where to start, a path inside. */
  directory?: string;
  /** Kills everything inside; `wait()` rejects with the signal's reason. */
  signal?: AbortSignal;
  /** coop's program; the environment variable COOP_PROGRAM, or "coop" on the PATH, unless told. */
  program?: string;
}

export interface Ended {
  /** Its own; 128 + signal; 124 after the timeout; 125 when coop itself failed; 126 and 127 when it could not be run. */
  exitCode: number;
}

/** A command that runs in a sandbox. Its streams are the command's own. */
export class SandboxProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  private readonly ended: Promise<Ended>;

  /** @internal */
  constructor(
    private readonly child: ChildProcess,
    signal: AbortSignal | undefined,
    name: string,
  ) {
    if (child.stdin === null || child.stdout === null || child.stderr === null) throw new CoopError("no pipes");
    this.stdin = child.stdin;
    this.stdout = child.stdout;
    this.stderr = child.stderr;
    this.stdin.on("error", () => undefined); // a command need not read its input
    const abort = (): void => void this.kill();
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
    this.ended = new Promise((resolve, reject) => {
      child.on("error", (error) => reject(new CoopError(`start "${name}": ${error.message}`)));
      // "exit": the streams may be read later, or never.
      child.on("exit", (code, how) => {
        signal?.removeEventListener("abort", abort);
        if (signal?.aborted) reject(signal.reason);
        else resolve({ exitCode: code ?? 128 + (how === "SIGKILL" ? 9 : 15) });
      });
    });
    this.ended.catch(() => undefined); // it is the caller's to hear of it, by wait()
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  wait(): Promise<Ended> {
    return this.ended;
  }

  /** Sends a signal to the command; SIGKILL, the default, ends everything inside. */
  kill(signal: NodeJS.Signals = "SIGKILL"): boolean {
    return this.child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill();
    await this.ended.catch(() => undefined);
  }
}

/** Starts one command in a sandbox: a text goes to the shell, a list is a program and its arguments. */
export function run(command: string | readonly string[], options: RunOptions = {}): SandboxProcess {
  const program = options.program ?? (process.env["COOP_PROGRAM"] || "coop");
  const flags = ["run", "--no-tty", "--quiet", ...policyFlags(options.policy ?? {})];
  if (options.workspace !== undefined) flags.push(`--workspace=${options.workspace}`);
  if (options.directory !== undefined) flags.push(`--chdir=${options.directory}`);
  const inside = typeof command === "string" ? ["/bin/sh", "-c", command] : command;
  if (inside.length === 0) throw new CoopError("the command is empty");
  const child = spawn(program, [...flags, "--", ...inside], { stdio: "pipe", env: process.env });
  return new SandboxProcess(child, options.signal, program);
}
