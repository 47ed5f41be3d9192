export { Coop, type CallOptions, type StartOptions } from "./coop.js";
export { CoopError, CoopExitError } from "./errors.js";
export type * from "./tools.js";
