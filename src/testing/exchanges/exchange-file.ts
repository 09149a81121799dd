// The recording of another vendor's CLI: its requests to the vendor, the replies, and their times. docs/recording.md has the format.
import { closeSync, openSync, writeSync } from "node:fs";
import { isObject, type JsonObject, tryParse } from "../../json/object.ts";
import { UserError } from "../../protocol/error-codes.ts";
import type { UnifiedTool } from "../../sdk/unified.ts";
import { systemErrorText } from "../../text/system-error.ts";
import type { Places } from "../normalise.ts";
import { readText } from "../recording.ts";

export const exchangesVersion = 1;

/** The first line of a file of recorded exchanges. */
export type ExchangesHeader = {
  exchanges: typeof exchangesVersion;
  /** The version of our program that made the recording. */
  version: string;
  recordedAt: string;
  agent: UnifiedTool;
  agentVersion?: string;
  command: readonly string[];
  places: Places;
};

/** `at` is in milliseconds since the start, `vendor` the base address that the CLI would use; `path` is relative to it, without keys. */
export type ExchangeRequest = {
  request: number;
  at: number;
  method: string;
  vendor?: string;
  path: string;
  body?: unknown;
};

/** `chunks` are the pieces of the body, each with the milliseconds since the reply's head. `cut` means that it broke off there. */
export type ExchangeReply = {
  reply: number;
  at: number;
  status: number;
  headers: Record<string, string>;
  chunks: readonly (readonly [afterMs: number, text: string])[];
  cut?: true;
};

export type Exchange = { request: ExchangeRequest; reply: ExchangeReply | undefined };

/**
 * Every request sends the whole conversation, so a body is written as the changes since an earlier one. `kept` says how many
 * entries of each list, by name, are unchanged.
 */
type ShortRequest = ExchangeRequest & { since?: number; kept?: Record<string, number>; gone?: string[] };

/** Writes the lines as they come, leaving out what earlier lines already say. */
export class ExchangeWriter {
  readonly #file: number;
  readonly #last = new Map<string, ExchangeRequest>();

  constructor(path: string, header: ExchangesHeader) {
    try {
      this.#file = openSync(path, "w", 0o600);
    } catch (error) {
      throw new UserError(
        "FILE_UNREADABLE",
        `The recording ${path} cannot be written: ${systemErrorText(error)}. Give another file with --output.`,
      );
    }
    this.#write(header);
  }

  request(request: ExchangeRequest): void {
    const key = `${request.method} ${request.path}`;
    const before = this.#last.get(key);
    this.#last.set(key, request);
    this.#write(before && isObject(before.body) && isObject(request.body) ? shortenRequest(request, before) : request);
  }

  reply(reply: ExchangeReply): void {
    this.#write(reply);
  }

  close(): void {
    closeSync(this.#file);
  }

  #write(line: object): void {
    writeSync(this.#file, `${JSON.stringify(line)}\n`);
  }
}

function shortenRequest(request: ExchangeRequest, before: ExchangeRequest): ShortRequest {
  const [now, then] = [request.body as JsonObject, before.body as JsonObject];
  const kept: Record<string, number> = {};
  const body: JsonObject = {};
  for (const [name, value] of Object.entries(now)) {
    const old = then[name];
    if (isSame(old, value)) continue;
    body[name] = value;
    if (!Array.isArray(value) || !Array.isArray(old)) continue;
    const differs = value.findIndex((each, index) => !isSame(each, old[index]));
    kept[name] = differs < 0 ? value.length : differs;
    body[name] = value.slice(kept[name]);
  }
  const gone = Object.keys(then).filter((name) => !(name in now));
  return { ...request, since: before.request, kept, ...(gone.length > 0 && { gone }), body };
}

function restoreRequest(
  { since, kept = {}, gone = [], ...request }: ShortRequest,
  before: ExchangeRequest,
): ExchangeRequest {
  const then = before.body as JsonObject;
  const body = { ...then, ...(request.body as JsonObject) };
  for (const [name, count] of Object.entries(kept))
    body[name] = [...(then[name] as unknown[]).slice(0, count), ...(body[name] as unknown[])];
  for (const name of gone) delete body[name];
  return { ...request, body };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

export type Exchanges = { file: string; header: ExchangesHeader; list: readonly Exchange[] };

/** Reads a recording of another CLI's model requests; undefined for other files, such as a recording of one of this program's runs. */
export function readExchanges(file: string): Exchanges | undefined {
  const text = readText(file, `The recording ${file}`, "Make one with: record -o FILE -- claude …");
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const values = lines.map((line) => tryParse(line));
  const [header] = values;
  if (!isObject(header) || !("exchanges" in header)) return undefined;
  const refuse = (line: number, why: string): never => {
    throw new UserError(
      "RECORDING_INVALID",
      `The recording ${file} is damaged, line ${line}: ${why}. Record the run again.`,
    );
  };
  if (header.exchanges !== exchangesVersion)
    refuse(1, `its format is version ${String(header.exchanges)}, this program reads version ${exchangesVersion}`);
  const requests = new Map<number, ExchangeRequest>();
  const replies = new Map<number, ExchangeReply>();
  for (const [index, value] of values.entries()) {
    if (index === 0) continue;
    if (isObject(value) && typeof value.request === "number" && typeof value.path === "string") {
      const line = value as ShortRequest;
      const before = line.since === undefined ? undefined : requests.get(line.since);
      if (line.since !== undefined && !before) refuse(index + 1, `there is no request ${line.since} before it`);
      requests.set(line.request, before ? restoreRequest(line, before) : line);
    } else if (isObject(value) && typeof value.reply === "number" && Array.isArray(value.chunks)) {
      if (!requests.has(value.reply)) refuse(index + 1, `there is no request ${value.reply}`);
      replies.set(value.reply, value as ExchangeReply);
    } else refuse(index + 1, "it is neither a request nor a reply");
  }
  const list = [...requests.values()].map((request) => ({ request, reply: replies.get(request.request) }));
  return { file, header: header as ExchangesHeader, list };
}
