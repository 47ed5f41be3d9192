export { Coop, type CallOptions, type StartOptions } from "./coop.js";
export { CoopError, CoopExitError } from "./errors.js";
export { type PolicyOptions } from "./policy.js";
export { run, SandboxProcess, type Ended, type RunOptions } from "./process.js";
export type * from "./tools.js";
