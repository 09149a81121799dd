// searchWeb: queries the search engine that the user has configured. The user chose its address, so it may be on this machine.
// Redirects are not followed, so the key is sent nowhere else.

import { isObject, tryParse } from "../json/object.ts";
import { createFetch } from "../net/fetch.ts";
import { abortAfter } from "../protocol/abort-after.ts";
import { redactedStart } from "../redact/shorten.ts";
import { collapsed } from "../text/one-line.ts";
import type { EngineKind, SearchEngine, SearchHit } from "./search-engines.ts";

export type SearchRequest = {
  engine: SearchEngine;
  signal?: AbortSignal;
  /** The environment to read proxy variables from; default process.env. */
  env?: NodeJS.ProcessEnv;
  /** The maximum number of results; 8 by default. */
  count?: number;
  totalMs?: number;
};

/** Thrown if no search engine is configured, or if it refuses or sends no list of results. */
export class SearchError extends Error {
  override readonly name = "SearchError";
}

const maxBytes = 4 * 2 ** 20;
const longestSnippet = 1_000;

export async function searchWeb(query: string, request: SearchRequest): Promise<SearchHit[]> {
  const { engine, signal, env, count = 8, totalMs = 30_000 } = request;
  const { kind, url, key } = engine;
  if (kind.needsKey && key === "")
    throw new SearchError(
      `${kind.name} needs a key: set ${kind.variables[0]}, or name the variable as "search.keyEnv" in courser.json.`,
    );
  const { url: address, headers, body } = kind.request(query, { url, key, count });
  const limit = abortAfter(totalMs);
  const light = createFetch({ ...(env && { env }) });
  const answer = await light(address, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      accept: "application/json",
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body }),
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  });
  const text = await boundedText(answer, kind.name);
  if (answer.status < 200 || answer.status > 299) throw engineRefusal(engine, answer.status, text);
  const value = tryParse(text);
  const results = isObject(value) ? kind.results(value) : undefined;
  if (!Array.isArray(results))
    throw new SearchError(
      `${kind.name} at ${new URL(url).host} returned no list of results${kind.needsKey ? "." : ": is the format json enabled there?"}`,
    );
  return results
    .filter(isObject)
    .flatMap((result) => hitOf(kind, result))
    .slice(0, count);
}

async function boundedText(answer: Response, name: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > maxBytes) throw new SearchError(`${name} answered with more than ${maxBytes / 2 ** 20} MiB.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

const advice: Record<number, string> = {
  401: "Its key is wrong or has expired",
  403: "It denies access",
  422: "It refused the key or the question",
  429: "Rate limit reached; wait, or use another engine",
};

function engineRefusal({ kind, url, key }: SearchEngine, status: number, text: string): SearchError {
  const isRedirect = status >= 300 && status <= 399;
  const why = isRedirect
    ? "It redirects, which is not followed; configure the address that it points to"
    : advice[status];
  const errorText = redactedStart(collapsed(text), 200);
  // Remove the key, which the engine may repeat in its answer.
  const withoutKey = key === "" ? errorText : errorText.replaceAll(key, "…");
  return new SearchError(
    `${kind.name} at ${new URL(url).host} answered ${status}. ${why ?? (withoutKey || "It said nothing else")}.`,
  );
}

function hitOf(kind: EngineKind, result: Record<string, unknown>): SearchHit[] {
  const { title, url, snippet } = kind.hit(result);
  if (typeof url !== "string" || !/^https?:\/\//i.test(url)) return [];
  return [{ title: withoutTags(title) || url, url, snippet: withoutTags(snippet).slice(0, longestSnippet) }];
}

/** Removes the tags with which engines mark matches. */
function withoutTags(value: unknown): string {
  if (typeof value !== "string") return "";
  return value
    .slice(0, 20_000)
    .replace(/<\/?[a-z][^<>]{0,100}>/gi, "")
    .replace(/&(amp|lt|gt|quot|#x27|#39);/g, (entity) => entities[entity] ?? entity)
    .replace(/\s+/g, " ")
    .trim();
}

const entities: Record<string, string> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
  "&#39;": "'",
};
