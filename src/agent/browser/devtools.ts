// Speaks the DevTools protocol over a browser's debugging pipe: JSON objects separated by NUL.
import { isObject, type JsonObject, tryParse } from "../../json/object.ts";

export type DevtoolsEvent = { method: string; params: JsonObject; sessionId: string | undefined };

/** Thrown when the browser rejects a DevTools command. */
export class DevtoolsError extends Error {}

const answerMs = 30_000;
/** The maximum size of one message from the browser: a screenshot of a long page takes several megabytes. */
const longestMessage = 64 * 2 ** 20;

type PendingRequest = { resolve(result: JsonObject): void; reject(error: Error): void; timer: NodeJS.Timeout };

export class Devtools {
  readonly #write: (text: string) => Promise<void>;
  readonly #onBroken: () => void;
  readonly #waiting = new Map<number, PendingRequest>();
  readonly #listeners = new Set<(event: DevtoolsEvent) => void>();
  #rest: Buffer[] = [];
  #restLength = 0;
  #next = 1;
  #ended: Error | undefined;

  /** `onBroken` is called when the browser's output can no longer be parsed. */
  constructor(write: (text: string) => Promise<void>, onBroken: () => void = () => {}) {
    this.#write = write;
    this.#onBroken = onBroken;
  }

  /** Sends a DevTools command and resolves to its result. Undefined fields of `params` are omitted. */
  send(method: string, params: JsonObject = {}, sessionId?: string): Promise<JsonObject> {
    if (this.#ended) return Promise.reject(this.#ended);
    const id = this.#next++;
    const answer = new Promise<JsonObject>((resolve, reject) => {
      const late = () =>
        this.#takePending(id)?.reject(new DevtoolsError(`the browser did not answer ${method} in time`));
      this.#waiting.set(id, { resolve, reject, timer: setTimeout(late, answerMs) });
    });
    this.#write(`${JSON.stringify({ id, method, params, sessionId })}\0`).catch((error: Error) =>
      this.#takePending(id)?.reject(new DevtoolsError(`the browser cannot be reached: ${error.message}`)),
    );
    return answer;
  }

  /** Adds a listener for DevTools events, and returns a function that removes it. */
  listen(listener: (event: DevtoolsEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  receive(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(0); end !== -1; end = chunk.indexOf(0, start)) {
      const message = Buffer.concat([...this.#rest, chunk.subarray(start, end)]).toString("utf8");
      this.#rest = [];
      this.#restLength = 0;
      start = end + 1;
      this.#receive(message);
    }
    if (start < chunk.length) this.#rest.push(chunk.subarray(start));
    this.#restLength += chunk.length - start;
    if (this.#restLength > longestMessage) this.#break("the browser sent an endless message");
  }

  /** Rejects all pending and later requests with the given error. */
  end(why: Error): void {
    this.#ended ??= why;
    for (const id of [...this.#waiting.keys()]) this.#takePending(id)?.reject(this.#ended);
    this.#listeners.clear();
  }

  #receive(text: string): void {
    const message = tryParse(text);
    if (message === undefined) this.#break("the browser sent something that is not JSON");
    if (!isObject(message)) return;
    const { id, method, params, result, error, sessionId } = message;
    if (typeof id === "number") {
      const waiting = this.#takePending(id);
      if (isObject(error)) waiting?.reject(new DevtoolsError(String(error["message"])));
      else waiting?.resolve(isObject(result) ? result : {});
      return;
    }
    if (typeof method !== "string") return;
    const event = {
      method,
      params: isObject(params) ? params : {},
      sessionId: typeof sessionId === "string" ? sessionId : undefined,
    };
    for (const listener of this.#listeners) listener(event);
  }

  #break(why: string): void {
    this.#rest = [];
    this.#restLength = 0;
    this.end(new DevtoolsError(why));
    this.#onBroken();
  }

  #takePending(id: number): PendingRequest | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    clearTimeout(waiting?.timer);
    return waiting;
  }
}
