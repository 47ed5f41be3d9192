/** coop could not do what was asked. A tool that fails or is refused is an answer, not this. */
export class CoopError extends Error {
  override readonly name: string = "CoopError";
}

/** The program ended, or never started, while something was still asked of it. */
export class CoopExitError extends CoopError {
  override readonly name: string = "CoopExitError";

  constructor(
    message: string,
    /** Of the program; null when a signal ended it. */
    readonly exitCode: number | null,
    readonly signal: NodeJS.Signals | null,
    /** The last lines that it wrote there. */
    readonly stderr: string,
  ) {
    super(stderr === "" ? message : `${message}: ${stderr}`);
  }
}
