/** What a tool answered. */
export interface ToolResult<Structured = Answer> {
  /** For the model. */
  text: string;
  /** For the program. */
  structured: Structured;
  /** Refused, or the command did not end with 0. */
  failed: boolean;
}

/** A refused call has nothing but its outcome, and what refused it. */
export interface Answer {
  outcome: string;
  rule?: string;
  reason?: string;
  [more: string]: unknown;
}

export interface CapturedStream {
  text: string;
  total_bytes: number;
  truncated: boolean;
}

export interface CommandAnswer extends Answer {
  /** Its own; 128 + signal; 124 after the timeout; 126 and 127 when it could not be run. */
  exit_code?: number;
  stdout?: CapturedStream;
  stderr?: CapturedStream;
  wall_ms?: number;
  denials?: { what: string; rule: string; grant: string }[];
  quarantined?: { path: string; moved_to: string; rule: string; problem?: string }[];
  notes?: string[];
}

export interface FileAnswer extends Answer {
  path?: string;
  size?: number;
  truncated?: boolean;
  /** The line to go on with. */
  next_offset?: number;
  /** Not text; of an image `data` has the bytes as base64. */
  binary?: boolean;
  mime_type?: string;
  data?: string;
  created?: boolean;
  replaced?: number;
}

export interface ListAnswer extends Answer {
  path?: string;
  count?: number;
  truncated?: boolean;
}

export interface SearchAnswer extends Answer {
  matches?: number;
  files?: number;
  truncated?: boolean;
}

export interface SentFile extends Answer {
  name?: string;
  size?: number;
  mime_type?: string;
  /** Base64. */
  data?: string;
}

/** A tool as it is described to a model. */
export interface Tool {
  name: string;
  description: string;
  inputSchema: { type: "object"; [more: string]: unknown };
}

interface Command {
  /** Seconds; 120 unless told. */
  timeout?: number;
  /** Where to start, in the workspace. */
  directory?: string;
}

export interface BashArguments extends Command {
  /** What /bin/sh runs. */
  command: string;
}

export interface ExecArguments extends Command {
  /** A name on the PATH, or a path inside. */
  program: string;
  arguments?: string[];
  environment?: Record<string, string>;
}

export interface ReadFileArguments {
  path: string;
  /** The first line; 1 unless told. */
  offset?: number;
  /** How many lines. */
  limit?: number;
}

export interface WriteFileArguments {
  path: string;
  content: string;
}

export interface EditFileArguments {
  path: string;
  /** Must be there exactly once, unless `all`. */
  old: string;
  new: string;
  all?: boolean;
}

export interface ListFilesArguments {
  path?: string;
  /** Levels; 1 unless told. */
  depth?: number;
  /** Also names that begin with a dot. */
  hidden?: boolean;
}

export interface SearchFilesArguments {
  pattern: string;
  path?: string;
  /** Only files whose name matches, like *.cc. */
  glob?: string;
  /** The pattern is a regular expression. */
  regex?: boolean;
  ignore_case?: boolean;
}

export interface SendFileArguments {
  path: string;
}

export interface FetchUrlArguments {
  url: string;
  max_bytes?: number;
}
