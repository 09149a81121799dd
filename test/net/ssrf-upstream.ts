// The fake servers of the cases of the group `ssrf`: they answer as the case says, one answer after the other.
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { createBrotliCompress, createDeflate, createGzip } from "node:zlib";

export type Answer = {
  status?: number;
  location?: string;
  headers?: Record<string, string>;
  body?: string;
  body_gen?: { prefix?: string; byte?: string; count: number; suffix?: string };
  encoding?: string;
  drip_bytes_per_s?: number;
  delay_ms?: number;
  repeat?: number;
};

/** The answers of a case in order; after the last one all is well. */
export function answersOf(input: Record<string, unknown>): (number: number) => Answer {
  const given = (input["responses"] ?? []) as Answer[];
  const queue = given.flatMap((answer) => Array.from({ length: Math.min(answer.repeat ?? 1, 1000) }, () => answer));
  return (number) => queue[number] ?? { status: 200, body: "ok" };
}

export async function answerWith(response: ServerResponse, answer: Answer): Promise<void> {
  const headers = { ...answer.headers, ...(answer.location !== undefined && { location: answer.location }) };
  const encoding = answer.encoding ?? answer.headers?.["content-encoding"];
  if (answer.delay_ms) await new Promise((resolve) => setTimeout(resolve, answer.delay_ms));
  response.writeHead(answer.status ?? 200, { ...headers, ...(encoding && { "content-encoding": encoding }) });
  if (answer.drip_bytes_per_s !== undefined) return drip(response, answer.drip_bytes_per_s);
  const packers: Record<string, () => NodeJS.ReadWriteStream> = {
    gzip: createGzip,
    deflate: createDeflate,
    br: createBrotliCompress,
  };
  const body = Readable.from(bytesOf(answer));
  const pack = encoding ? packers[encoding]?.() : undefined;
  (pack ? body.pipe(pack) : body).pipe(response);
  response.on("close", () => body.destroy());
}

function* bytesOf({ body = "", body_gen }: Answer): Generator<Buffer> {
  if (!body_gen) return yield Buffer.from(body);
  const { prefix = "", byte = "a", count, suffix = "" } = body_gen;
  yield Buffer.from(prefix);
  const block = Buffer.alloc(65_536, byte);
  for (let left = count; left > 0; left -= block.length) yield block.subarray(0, Math.min(left, block.length));
  yield Buffer.from(suffix);
}

function drip(response: ServerResponse, bytesPerSecond: number): void {
  const timer = setInterval(() => response.write("a"), 1000 / bytesPerSecond);
  response.on("close", () => clearInterval(timer));
}

/** `dns_sequence` gives another answer to each look-up. Undefined: there is no such name. */
export function namesOf(input: Record<string, unknown>): (host: string, count: number) => string[] | undefined {
  const sequences = (input["dns_sequence"] ?? {}) as Record<string, string[][]>;
  const fixed = (input["dns"] ?? {}) as Record<string, string[]>;
  return (host, count) => {
    const sequence = sequences[host];
    return sequence ? (sequence[count] ?? sequence.at(-1)) : fixed[host];
  };
}
