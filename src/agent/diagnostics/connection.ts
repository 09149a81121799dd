// JSON-RPC as in the language server protocol: a header with the length of a message, then the message.
import { isObject, type JsonObject, tryParse } from "../../json/object.ts";

export interface ConnectionHandlers {
  write(text: string): Promise<void>;
  answer(method: string, params: JsonObject): unknown;
  notified(method: string, params: JsonObject): void;
  /** Called when the server's output cannot be parsed; nothing more is read from it. */
  broken(problem: string): void;
}

type PendingRequest = { resolve(result: unknown): void; reject(error: Error): void };

const longestHeader = 4096;
const longestMessage = 16 * 2 ** 20;
/** A server that sends this much without a new message to it is out of control. */
const maxUnasked = 32 * 2 ** 20;

export class Connection {
  readonly #handlers: ConnectionHandlers;
  readonly #pending = new Map<number, PendingRequest>();
  #chunks: Buffer[] = [];
  #length = 0;
  /** The offset at which the current message ends, once its header was read. */
  #expected: number | undefined;
  #received = 0;
  #lastId = 0;
  #ended: Error | undefined;

  constructor(handlers: ConnectionHandlers) {
    this.#handlers = handlers;
  }

  /** Rejects if the server returns an error, or is gone. */
  request(method: string, params: object | null): Promise<unknown> {
    if (this.#ended) return Promise.reject(this.#ended);
    const id = ++this.#lastId;
    const answer = new Promise<unknown>((resolve, reject) => this.#pending.set(id, { resolve, reject }));
    this.#received = 0;
    this.#send({ id, method, params });
    return answer;
  }

  notify(method: string, params: object | null): void {
    this.#received = 0;
    if (!this.#ended) this.#send({ method, params });
  }

  receive(chunk: Buffer): void {
    if (this.#ended) return;
    this.#received += chunk.length;
    if (this.#received > maxUnasked) {
      this.#break("its output does not end");
      return;
    }
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    // Do not join the received chunks before the whole message has arrived.
    if (this.#expected !== undefined && this.#length < this.#expected) return;
    let rest = Buffer.concat(this.#chunks);
    while (!this.#ended) {
      this.#expected ??= this.#headerOf(rest);
      if (this.#expected === undefined || rest.length < this.#expected) break;
      const start = rest.indexOf("\r\n\r\n") + 4;
      const message = rest.toString("utf8", start, this.#expected);
      rest = rest.subarray(this.#expected);
      this.#expected = undefined;
      this.#receive(message);
    }
    this.#chunks = this.#ended ? [] : [rest];
    this.#length = rest.length;
  }

  end(why: Error): void {
    this.#ended ??= why;
    for (const { reject } of this.#pending.values()) reject(this.#ended);
    this.#pending.clear();
  }

  /** Returns where the message with this header ends; undefined while the header is incomplete. */
  #headerOf(bytes: Buffer): number | undefined {
    const end = bytes.indexOf("\r\n\r\n");
    if (end === -1 || end > longestHeader) {
      if (bytes.length > longestHeader) this.#break("its output is not the language server protocol");
      return undefined;
    }
    const length = /^content-length: *(\d+)\r?$/im.exec(bytes.toString("latin1", 0, end))?.[1];
    if (length === undefined) this.#break("its output is not the language server protocol");
    else if (Number(length) > longestMessage) this.#break(`it sent a message of ${length} bytes`);
    else return end + 4 + Number(length);
    return undefined;
  }

  #receive(text: string): void {
    const message = tryParse(text);
    if (!isObject(message)) {
      this.#break("it sent a message that is not JSON");
      return;
    }
    const { id, method, params, result, error } = message;
    const paramsObject = isObject(params) ? params : {};
    if (typeof method === "string") {
      if (id === undefined) this.#handlers.notified(method, paramsObject);
      else this.#send({ id, result: this.#handlers.answer(method, paramsObject) ?? null });
      return;
    }
    const pending = this.#pending.get(id as number);
    this.#pending.delete(id as number);
    if (isObject(error)) pending?.reject(new Error(String(error["message"])));
    else pending?.resolve(result);
  }

  #break(problem: string): void {
    this.end(new Error(problem));
    this.#handlers.broken(problem);
  }

  #send(message: object): void {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    // A server that no longer reads is about to end, which is reported elsewhere.
    this.#handlers.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`).catch(() => {});
  }
}
