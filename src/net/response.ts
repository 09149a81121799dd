// Implements the part of the web's Response that provider packages use, over a node:http message.
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { Headers } from "./headers.ts";
import { ReadableStream } from "./streams.ts";

export type BodyLimits = {
  /** Longest silence between two chunks of the body; 0 = no limit. */
  idleMs: number;
  /** The longest silence before the first chunk, in milliseconds. */
  firstMs: number;
  /** Returns the error for a response that stalls. `begun`: a chunk has arrived. */
  onIdle(begun: boolean): Error;
  translate(error: unknown): unknown;
  /** Called once when the body ends, for whatever reason. */
  onEnd(): void;
};

/** Creates a Response. `decoded` is the body of the message after decompression. */
export function responseOf(message: IncomingMessage, decoded: Readable, url: string, limits: BodyLimits): Response {
  const headers = new Headers();
  const raw = message.rawHeaders;
  for (let index = 0; index + 1 < raw.length; index += 2) headers.append(raw[index]!, raw[index + 1]!);
  if (decoded !== message) {
    // Remove these headers, which describe the compressed bytes.
    headers.delete("content-encoding");
    headers.delete("content-length");
  }
  const status = message.statusCode ?? 0;
  const response = {
    status,
    statusText: message.statusMessage ?? "",
    ok: status >= 200 && status <= 299,
    redirected: false,
    type: "basic",
    url,
    headers,
    ...withReaders(readableBody(message, decoded, limits)),
  };
  return response as unknown as Response;
}

const maxAtOnce = 16 * 2 ** 20;

/** Adds the methods that read a whole body. */
export function withReaders(body: ReadableStream<Uint8Array>) {
  const bytes = async (): Promise<Buffer> => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxAtOnce) throw new Error(`The answer has more than ${maxAtOnce / 2 ** 20} MiB`);
    }
    return Buffer.concat(chunks);
  };
  return {
    body,
    text: async () => (await bytes()).toString("utf8"),
    json: async () => JSON.parse((await bytes()).toString("utf8")) as unknown,
    arrayBuffer: async () => {
      const all = await bytes();
      return all.buffer.slice(all.byteOffset, all.byteOffset + all.byteLength);
    },
  };
}

function readableBody(message: IncomingMessage, decoded: Readable, limits: BodyLimits): ReadableStream<Uint8Array> {
  let timer: NodeJS.Timeout | undefined;
  let over = false;
  let begun = false;
  const disarm = (): void => clearTimeout(timer);
  const arm = (): void => {
    disarm();
    // The timer runs only while a reader waits for bytes: a slow reader is not a silent server.
    const longestMs = begun ? limits.idleMs : limits.firstMs;
    if (longestMs > 0 && !over) timer = setTimeout(() => message.destroy(limits.onIdle(begun)), longestMs);
  };
  const finish = (): void => {
    if (over) return;
    over = true;
    disarm();
    limits.onEnd();
  };
  return new ReadableStream<Uint8Array>({
    start(controller) {
      decoded.on("data", (chunk: Buffer) => {
        begun = true;
        if (over) return; // after a cancellation, data may still arrive
        controller.enqueue(chunk);
        if ((controller.desiredSize ?? 0) > 0) return arm();
        decoded.pause();
        disarm();
      });
      decoded.on("end", () => {
        if (over) return;
        finish();
        controller.close();
      });
      const fail = (error: unknown): void => {
        if (over) return;
        finish();
        controller.error(limits.translate(error));
        message.destroy(); // close the connection, since bytes that cannot be decompressed would stay in it
      };
      decoded.on("error", fail);
      decoded.on("close", () => fail(Object.assign(new Error("aborted"), { code: "ECONNRESET" })));
      decoded.pause();
    },
    pull() {
      arm();
      decoded.resume();
    },
    cancel() {
      finish();
      message.destroy();
    },
  });
}
