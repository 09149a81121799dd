// JSON-RPC 2.0 in both directions: pending requests, cancellation, and a reply to every request.
import { fieldsOf, isObject, type JsonObject, tryParse } from "../json/object.ts";
import { guardDepth } from "../json/values.ts";
import { deferred } from "../protocol/deferred.ts";
import { type ErrorCode, explainError, UserError } from "../protocol/error-codes.ts";
import { collapsed, shortened } from "../text/one-line.ts";
import type { LineFault } from "./lines.ts";

export type RpcId = string | number | null;

export type RpcFailure = { code: number; message: string; data?: unknown };

/** The other side's reply to a request. */
export type RpcReply = { result: unknown } | { error: RpcFailure };

/** An incoming request that is being answered. */
export type RpcCall = {
  /** Aborted when the requester cancels the request. */
  signal: AbortSignal;
  /** Resolves when the reply has been written. */
  answered: Promise<void>;
};

export interface RpcHandlers {
  /** Rejects with a UserError if the request fails. */
  request(method: string, params: JsonObject, call: RpcCall): Promise<object>;
  notification(method: string, params: JsonObject): void;
}

export const rpcCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  cancelled: -32800,
  authRequired: -32000,
  notFound: -32002,
} as const;

const codesByError: Partial<Record<ErrorCode, number>> = {
  FRAME_MALFORMED: rpcCodes.parse,
  FRAME_SCHEMA: rpcCodes.invalidRequest,
  NOT_SUPPORTED: rpcCodes.methodNotFound,
  USAGE: rpcCodes.invalidParams,
  CWD_MISSING: rpcCodes.invalidParams,
  MODEL_UNKNOWN: rpcCodes.invalidParams,
  SESSION_NOT_FOUND: rpcCodes.notFound,
  NOT_AUTHENTICATED: rpcCodes.authRequired,
  MODEL_AUTH_ERROR: rpcCodes.authRequired,
  INTERRUPTED: rpcCodes.cancelled,
  TERMINATED: rpcCodes.cancelled,
};

/** How many milliseconds to wait for a reply after an abort before cancelling: clients usually reply on their own. */
const cancelNoticeMs = 100;

export class RpcPeer {
  readonly #write: (line: string) => void;
  readonly #handlers: RpcHandlers;
  readonly #redact: (text: string) => string;
  /** Incoming requests by id, encoded as JSON so that `1` and `"1"` differ. */
  readonly #answering = new Map<string, AbortController>();
  /** Requests that wait for a reply, by id. */
  readonly #asked = new Map<number, (reply: RpcReply) => void>();
  #lastId = 0;
  #isOver = false;

  constructor(write: (line: string) => void, handlers: RpcHandlers, redact: (text: string) => string) {
    this.#write = write;
    this.#handlers = handlers;
    this.#redact = redact;
  }

  receive(line: string | LineFault): void {
    const message = readMessage(line);
    switch (message.type) {
      case "request":
        void this.#answer(message);
        break;
      case "notification":
        this.#notice(message);
        break;
      case "reply":
        this.#handleReply(message);
        break;
      case "fault":
        this.#refuse(message.id, message.error);
        break;
    }
  }

  notify(method: string, params: object): void {
    this.#send({ method, params });
  }

  /** Sends a request. An abort ends the wait, and cancels the request if no reply arrives soon. Never rejects. */
  request(method: string, params: object, signal?: AbortSignal): Promise<RpcReply> {
    const over = (message: string): RpcReply => ({ error: { code: rpcCodes.cancelled, message } });
    if (this.#isOver) return Promise.resolve(over("The client is gone."));
    if (signal?.aborted) return Promise.resolve(over("The request was cancelled."));
    const id = ++this.#lastId;
    this.#send({ id, method, params });
    return new Promise((resolve) => {
      const stop = () => {
        resolve(over("The request was cancelled."));
        setTimeout(() => {
          if (this.#asked.delete(id)) this.notify("$/cancel_request", { requestId: id });
        }, cancelNoticeMs).unref();
      };
      signal?.addEventListener("abort", stop, { once: true });
      this.#asked.set(id, (reply) => {
        signal?.removeEventListener("abort", stop);
        resolve(reply);
      });
    });
  }

  /** Called when the other side is gone: fails outgoing requests and aborts incoming ones. */
  end(): void {
    this.#isOver = true;
    for (const answer of this.#asked.values())
      answer({ error: { code: rpcCodes.cancelled, message: "The client is gone." } });
    this.#asked.clear();
    for (const abort of this.#answering.values()) abort.abort();
  }

  async #answer({ id, method, params }: Request): Promise<void> {
    const key = JSON.stringify(id);
    if (this.#answering.has(key)) {
      this.#refuse(id, new UserError("FRAME_SCHEMA", "A request with this id is still being answered."));
      return;
    }
    const abort = new AbortController();
    this.#answering.set(key, abort);
    const answered = deferred();
    try {
      const result = await this.#handlers.request(method, params, { signal: abort.signal, answered: answered.promise });
      this.#send({ id, result });
    } catch (error) {
      this.#refuse(id, error);
    } finally {
      this.#answering.delete(key);
      answered.resolve();
    }
  }

  #notice({ method, params }: Notification): void {
    if (method !== "$/cancel_request") this.#handlers.notification(method, params);
    else this.#answering.get(JSON.stringify(params["requestId"]) ?? "")?.abort();
  }

  #handleReply({ id, reply }: Reply): void {
    const answer = typeof id === "number" ? this.#asked.get(id) : undefined;
    if (!answer) return; // the reply is late, or belongs to an unknown request
    this.#asked.delete(id as number);
    answer(reply);
  }

  #refuse(id: RpcId, error: unknown): void {
    this.#send({ id, error: this.#failureOf(error) });
  }

  /** Puts one sentence into `message`; the full text and the error code go into `data`. */
  #failureOf(error: unknown): RpcFailure {
    const { code, message } = explainError(error);
    const text = this.#redact(message);
    const [first = ""] = text.split("\n", 1);
    const isWhole = first === text;
    return {
      code: codesByError[code] ?? rpcCodes.internal,
      message: shortened(collapsed(isWhole ? text : first), 2000) || code,
      data: { code, ...(!isWhole && { details: text }) },
    };
  }

  #send(message: object): void {
    this.#write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }
}

type Notification = { type: "notification"; method: string; params: JsonObject };
type Request = { type: "request"; id: RpcId; method: string; params: JsonObject };
type Reply = { type: "reply"; id: unknown; reply: RpcReply };
type Fault = { type: "fault"; id: RpcId; error: UserError };

function readMessage(line: string | LineFault): Request | Notification | Reply | Fault {
  const fault = (code: ErrorCode, why: string, id: RpcId = null): Fault => ({
    type: "fault",
    id,
    error: new UserError(code, why),
  });
  if (typeof line !== "string") return fault("FRAME_SCHEMA", line.fault);
  const message = tryParse(line);
  if (message === undefined) return fault("FRAME_MALFORMED", "A line is not JSON: each message is one line.");
  if (Array.isArray(message)) return fault("FRAME_SCHEMA", "Batches are not supported: send one message a line.");
  if (!isObject(message)) return fault("FRAME_SCHEMA", "A message must be an object.");
  const { jsonrpc = "2.0", id, method, params = null, result, error } = message;
  const requestId = isId(id) ? id : null;
  try {
    guardDepth(message, line.length);
  } catch (tooDeep) {
    return fault("FRAME_SCHEMA", (tooDeep as Error).message, requestId);
  }
  if (id !== undefined && !isId(id)) return fault("FRAME_SCHEMA", '"id" must be a string, a whole number or null.');
  if (jsonrpc !== "2.0") return fault("FRAME_SCHEMA", '"jsonrpc" must be "2.0".', requestId);
  if (method === undefined && ("result" in message || "error" in message))
    return { type: "reply", id, reply: error ? { error: failureIn(error) } : { result } };
  if (typeof method !== "string")
    return fault("FRAME_SCHEMA", "A message needs a method, or the result of one.", requestId);
  if (params !== null && !isObject(params) && id !== undefined)
    return fault("USAGE", '"params" must be an object.', requestId);
  const paramsObject = fieldsOf(params);
  return id === undefined
    ? { type: "notification", method, params: paramsObject }
    : { type: "request", id: requestId, method, params: paramsObject };
}

function isId(id: unknown): id is RpcId {
  return id === null || typeof id === "string" || Number.isSafeInteger(id);
}

function failureIn(error: unknown): RpcFailure {
  const { code, message, data } = fieldsOf(error);
  return {
    code: typeof code === "number" ? code : rpcCodes.internal,
    message: typeof message === "string" ? message : "The client failed.",
    ...(data !== undefined && { data }),
  };
}
