import { CoopError } from "./errors.js";
import { Transport, type Receiver } from "./transport.js";

/** How one request may be watched and given up. */
export interface CallOptions {
  /** Ends the call: the command inside is killed, and the promise rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Gets a command's output while it runs. */
  onOutput?: (text: string) => void;
}

type Params = Record<string, unknown> & { _meta?: object };

interface Pending {
  resolve(result: unknown): void;
  reject(reason: unknown): void;
  onOutput: ((text: string) => void) | undefined;
}

interface Message {
  id?: unknown;
  method?: unknown;
  params?: { progressToken?: unknown; message?: unknown };
  result?: unknown;
  error?: { code?: unknown; message?: unknown };
}

/** JSON-RPC: which answer belongs to which request. A request's id is its progress token too. */
export class Connection implements Receiver {
  private readonly transport: Transport;
  private readonly pending = new Map<number, Pending>();
  private lastId = 0;
  private reason: CoopError | undefined;

  constructor(program: string, flags: readonly string[]) {
    this.transport = new Transport(program, flags, this);
  }

  async request(method: string, params: Params, options: CallOptions = {}): Promise<unknown> {
    const { signal, onOutput } = options;
    signal?.throwIfAborted();
    if (this.reason !== undefined) throw this.reason;
    const id = ++this.lastId;
    const abort = (): void => this.giveUp(id, signal?.reason);
    try {
      return await new Promise<unknown>((resolve, reject) => {
        this.pending.set(id, { resolve, reject, onOutput });
        signal?.addEventListener("abort", abort, { once: true });
        const meta = onOutput === undefined ? {} : { _meta: { ...params._meta, progressToken: id } };
        this.transport.send({ jsonrpc: "2.0", id, method, params: { ...params, ...meta } });
      });
    } finally {
      this.pending.delete(id);
      signal?.removeEventListener("abort", abort);
    }
  }

  notify(method: string, params: object = {}): void {
    this.transport.send({ jsonrpc: "2.0", method, params });
  }

  close(): Promise<void> {
    return this.transport.close();
  }

  message(given: unknown): void {
    if (typeof given !== "object" || given === null) return;
    const message = given as Message;
    if (message.method === "notifications/progress") return this.progress(message.params ?? {});
    if (message.id === null && message.error !== undefined)
      return this.transport.abandon(`did not understand a message: ${String(message.error.message)}`);
    // Ignore an answer to a call that was given up.
    const pending = typeof message.id === "number" ? this.pending.get(message.id) : undefined;
    if (pending === undefined) return;
    if (message.error === undefined) pending.resolve(message.result);
    else pending.reject(new CoopError(String(message.error.message)));
  }

  ended(reason: CoopError): void {
    this.reason = reason;
    for (const pending of this.pending.values()) pending.reject(reason);
  }

  private progress(params: NonNullable<Message["params"]>): void {
    const id = params.progressToken;
    if (typeof id !== "number" || typeof params.message !== "string") return;
    try {
      this.pending.get(id)?.onOutput?.(params.message);
    } catch (error) {
      this.giveUp(id, error); // the caller's own function threw: the caller hears of it
    }
  }

  private giveUp(id: number, reason: unknown): void {
    const pending = this.pending.get(id);
    if (pending === undefined) return;
    this.pending.delete(id);
    this.notify("notifications/cancelled", { requestId: id, reason: String(reason) });
    pending.reject(reason);
  }
}
