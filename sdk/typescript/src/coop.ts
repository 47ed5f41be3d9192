import { Connection, type CallOptions } from "./connection.js";
import { CoopError } from "./errors.js";
import { policyFlags, type PolicyOptions } from "./policy.js";
import type * as tools from "./tools.js";

export type { CallOptions };

const PROTOCOL_VERSION = "2025-06-18";
const CLIENT = { name: "@coop-sandbox/client", version: "0.1.0" };

export interface StartOptions {
  /** The directory that is writable; the current one unless told. */
  workspace?: string;
  /** A coop.toml with users, for `user` and `channel`. */
  config?: string;
  agent?: string;
  /** The tools of this person. Without user and channel: of the agent itself, always in the sandbox. */
  user?: string;
  /** The tools of the person that this sender is, like "signal:+15555550101". */
  channel?: string;
  /** In a group conversation. */
  group?: boolean;
  /** What happens with a secret in a result; "redact" unless told. */
  onLeak?: "redact" | "block" | "terminate";
  /** What the sandbox may see and do. */
  policy?: PolicyOptions;
  /** coop's program; the environment variable COOP_PROGRAM, or "coop" on the PATH, unless told. */
  program?: string;
}

/** Text; or the bytes of a file, as base64. */
interface Content {
  type: string;
  text?: string;
  data?: string;
  resource?: { blob?: string };
}

function flags(options: StartOptions): string[] {
  const values: [string, string | undefined][] = [
    ["--workspace", options.workspace],
    ["--config", options.config],
    ["--agent", options.agent],
    ["--as", options.user],
    ["--channel", options.channel],
    ["--on-leak", options.onLeak],
  ];
  const words = ["mcp"];
  for (const [name, value] of values) if (value !== undefined) words.push(`${name}=${value}`);
  if (options.group === true) words.push("--group");
  return [...words, ...policyFlags(options.policy ?? {})];
}

/** One principal's tools, served by a `coop mcp` of its own. Close it, or the program that uses it does not end. */
export class Coop {
  private constructor(private readonly connection: Connection) {}

  static async start(options: StartOptions = {}): Promise<Coop> {
    const program = options.program ?? (process.env["COOP_PROGRAM"] || "coop");
    const connection = new Connection(program, flags(options));
    try {
      const hello = { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo: CLIENT };
      await connection.request("initialize", hello);
    } catch (error) {
      await connection.close();
      throw error;
    }
    connection.notify("notifications/initialized");
    return new Coop(connection);
  }

  /** What may be called here. */
  async tools(): Promise<tools.Tool[]> {
    const result = (await this.connection.request("tools/list", {})) as { tools: tools.Tool[] };
    return result.tools;
  }

  /** Calls one tool. A call that was refused is an answer too, with `failed`. */
  async call<Structured = tools.Answer>(
    name: string,
    toolArguments: object = {},
    options: CallOptions = {},
  ): Promise<tools.ToolResult<Structured>> {
    // A program gets all that coop kept; what is cut for a model is its own decision.
    const params = { name, arguments: toolArguments, _meta: { "coop/whole": true } };
    const result = (await this.connection.request("tools/call", params, options)) as {
      content: Content[];
      structuredContent: Structured;
      isError: boolean;
    };
    if (!Array.isArray(result?.content)) throw new CoopError(`call ${name}: the answer has no content`);
    const text = result.content.map((part) => part.text ?? "").join("");
    const data = result.content.map((part) => part.data ?? part.resource?.blob).find((found) => found !== undefined);
    const structured = data === undefined ? result.structuredContent : { ...result.structuredContent, data };
    return { text, structured, failed: result.isError };
  }

  bash(args: tools.BashArguments, options?: CallOptions): Promise<tools.ToolResult<tools.CommandAnswer>> {
    return this.call("bash", args, options);
  }

  exec(args: tools.ExecArguments, options?: CallOptions): Promise<tools.ToolResult<tools.CommandAnswer>> {
    return this.call("exec", args, options);
  }

  readFile(args: tools.ReadFileArguments, options?: CallOptions): Promise<tools.ToolResult<tools.FileAnswer>> {
    return this.call("read_file", args, options);
  }

  writeFile(args: tools.WriteFileArguments, options?: CallOptions): Promise<tools.ToolResult<tools.FileAnswer>> {
    return this.call("write_file", args, options);
  }

  editFile(args: tools.EditFileArguments, options?: CallOptions): Promise<tools.ToolResult<tools.FileAnswer>> {
    return this.call("edit_file", args, options);
  }

  listFiles(args: tools.ListFilesArguments = {}, options?: CallOptions): Promise<tools.ToolResult<tools.ListAnswer>> {
    return this.call("list_files", args, options);
  }

  searchFiles(args: tools.SearchFilesArguments, options?: CallOptions): Promise<tools.ToolResult<tools.SearchAnswer>> {
    return this.call("search_files", args, options);
  }

  sendFile(args: tools.SendFileArguments, options?: CallOptions): Promise<tools.ToolResult<tools.SentFile>> {
    return this.call("send_file", args, options);
  }

  fetchUrl(args: tools.FetchUrlArguments, options?: CallOptions): Promise<tools.ToolResult> {
    return this.call("fetch_url", args, options);
  }

  /** Kills what runs inside, ends the program and waits for that. Calls that are open reject. */
  close(): Promise<void> {
    return this.connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
