// fetchPage: a page of the web as text that a model can read. Judged hop by hop, bounded in time and size.

import { type GuardedRequest, guardedFetch } from "../net/guarded.ts";
import type { Headers } from "../net/headers.ts";
import { redactedStart } from "../redact/shorten.ts";
import { collapsed } from "../text/one-line.ts";
import type { PageCache } from "./page-cache.ts";

export { GuardRefusal } from "../net/guarded.ts";
export { NetError } from "../net/net-error.ts";

/** `mode` and `rules` say where it may go; `permitted` names origins that somebody has agreed to. */
export type PageRequest = Omit<GuardedRequest, "headers"> & {
  /** What was fetched in this run is not fetched again. */
  cache?: PageCache;
};

export type Page = {
  /** As it was asked for. */
  url: string;
  /** Where it came from in the end. */
  finalUrl: string;
  title: string;
  markdown: string;
  /** There was more of it. */
  isTruncated: boolean;
};

/** The server answered, and not with a page that can be read. */
export class PageError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "PageError";
    this.status = status;
  }
}

const mostCharacters = 1_000_000;
/** Of HTML: its text is a part of it, and turning it around takes a second for so much. */
const mostMarkup = 3_000_000;

const headers = {
  accept: "text/markdown,text/html;q=0.9,application/xhtml+xml;q=0.9,application/json;q=0.8,text/plain;q=0.8,*/*;q=0.5",
  "user-agent": "Mozilla/5.0 (compatible; courser-agent)",
};

/** Throws GuardRefusal where it may not go, NetError where nobody answers, PageError where the answer is not a page. */
export async function fetchPage(url: string, { cache, ...request }: PageRequest): Promise<Page> {
  const known = cache?.get(url);
  if (known) return known;
  const response = await guardedFetch(url, { ...request, headers });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const kind = kindOf(response.headers, bytes, response.url);
  if (response.status < 200 || response.status > 299)
    throw refusedPage(response.status, response.statusText, kind, bytes);
  const read = await readerOf(kind)(bytes, {
    ...kind,
    url: response.url,
    wasCut: response.isTruncated,
    signal: request.signal,
  });
  const isLong = read.markdown.length > mostCharacters;
  const page = {
    url,
    finalUrl: response.url,
    title: read.title ?? "",
    markdown: isLong ? wholeCharacters(read.markdown, mostCharacters) : read.markdown,
    isTruncated: response.isTruncated || read.isCut === true || isLong,
  };
  cache?.set(url, page);
  return page;
}

type ContentKind = { type: string; charset: string | undefined };

type PageContent = ContentKind & { url: string; wasCut: boolean; signal?: AbortSignal | undefined };

type Reader = (bytes: Buffer, reading: PageContent) => Promise<{ markdown: string; title?: string; isCut?: boolean }>;

const readText: Reader = async (bytes, { charset }) => ({
  markdown: decodeText(bytes, { label: charset, isHtml: false }),
});

const readHtml: Reader = async (bytes, { charset, url }) => {
  const html = decodeText(bytes, { label: charset, isHtml: true });
  const { htmlToMarkdown } = await import("./html/index.ts");
  return { ...htmlToMarkdown(html.slice(0, mostMarkup), url), isCut: html.length > mostMarkup };
};

const readPdf: Reader = async (bytes, { wasCut, signal }) => {
  if (wasCut) throw new PageError(200, "The PDF is larger than 10 MiB, and a part of it cannot be read.");
  const { pdfToText } = await import("./pdf.ts");
  try {
    const { text, isCut } = await pdfToText(bytes, { signal, mostCharacters });
    return { markdown: text, isCut };
  } catch (error) {
    signal?.throwIfAborted();
    throw new PageError(200, `The PDF cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
};

const readNothing: Reader = async (bytes, { type }) => {
  throw new PageError(
    200,
    `It is ${type} of ${bytes.length} bytes, which has no text. Text, HTML, JSON and PDF can be read.`,
  );
};

/** By content type; the first that fits. What says nothing of itself is text, unless its bytes say otherwise. */
const readers: readonly [RegExp, Reader][] = [
  [/^(?:text\/html|application\/xhtml\+xml)$/, readHtml],
  [/^application\/pdf$/, readPdf],
  [/^text\/|[/+](?:json|xml|yaml|toml|javascript|ecmascript|x-ndjson|sql|graphql|rtf|x-sh)$|^$/, readText],
];

function readerOf({ type }: ContentKind): Reader {
  return readers.find(([pattern]) => pattern.test(type))?.[1] ?? readNothing;
}

/** As the server says; where it says nothing of use, as the first bytes look. */
function kindOf(headers: Headers, bytes: Buffer, url: string): ContentKind {
  const [named = "", ...parameters] = (headers.get("content-type") ?? "").toLowerCase().split(";");
  const charset = /^\s*charset\s*=\s*"?([^\s"]+)/.exec(parameters.find((each) => each.includes("charset")) ?? "")?.[1];
  const type = named.trim();
  const isVague =
    type === "" || /^(?:application\/octet-stream|binary\/octet-stream|application\/x-download)$/.test(type);
  const start = bytes.subarray(0, 1024);
  if (start.subarray(0, 5).toString("latin1") === "%PDF-" && (isVague || type.endsWith("/pdf")))
    return { type: "application/pdf", charset };
  if (type === "application/pdf" || !isVague) return { type, charset };
  if (start.includes(0) && markless(start)) return { type: type || "binary data", charset };
  const looksHtml = /^\s*(?:<!doctype html|<html|<head|<body)/i.test(start.toString("latin1"));
  return { type: looksHtml || /\.x?html?$/i.test(new URL(url).pathname) ? "text/html" : "", charset };
}

/** UTF-16 has zeros, and says so in its first two bytes. */
function markless([first, second]: Buffer): boolean {
  return !((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff));
}

/** What a failing server says about it is often the most useful part: a line of it goes along. */
function refusedPage(status: number, statusText: string, { type, charset }: ContentKind, bytes: Buffer): PageError {
  const said =
    readerOf({ type, charset }) === readText
      ? decodeText(bytes.subarray(0, 2000), { label: charset, isHtml: false })
      : "";
  const line = redactedStart(collapsed(said), 300);
  return new PageError(
    status,
    `The server answered ${`${status} ${statusText}`.trim()}${line === "" ? "." : `: ${line}`}`,
  );
}

function wholeCharacters(text: string, most: number): string {
  const code = text.charCodeAt(most - 1);
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? most - 1 : most);
}

/** `label`: the charset of the Content-Type, where there is one. `isHtml`: it may name its charset inside. */
function decodeText(bytes: Uint8Array, { label, isHtml }: { label: string | undefined; isHtml: boolean }): string {
  const marked = markOf(bytes);
  if (marked) return new TextDecoder(marked).decode(bytes);
  const named = decoderFor(label) ?? (isHtml ? decoderFor(metaCharset(bytes)) : undefined);
  if (named) return decodeWith(named, bytes);
  try {
    // The end may be cut within a character, which is not a fault of the rest.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return decodeWith(new TextDecoder("windows-1252"), bytes);
  }
}

/** Quotes, dashes and the like where Latin-1 has control characters. Some versions of Node leave those as they are. */
const windowsCharacters = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

function decodeWith(decoder: InstanceType<typeof TextDecoder>, bytes: Uint8Array): string {
  const text = decoder.decode(bytes);
  if (decoder.encoding !== "windows-1252") return text;
  return text.replace(/[\u0080-\u009f]/g, (character) => windowsCharacters[character.charCodeAt(0) - 0x80]!);
}

function markOf([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

function decoderFor(label: string | undefined) {
  if (!label) return undefined;
  try {
    return new TextDecoder(label);
  } catch {
    return undefined; // a name that nobody knows says nothing
  }
}

/** From `<meta charset>` or its longer form, as browsers do: within the first bytes. */
function metaCharset(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 4096)).toString("latin1");
  const named = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,40})/i.exec(head)?.[1];
  // Whoever could read this tag reads bytes: it is not UTF-16, whatever it says.
  return named !== undefined && /^utf-?16/i.test(named) ? "utf-8" : named;
}
