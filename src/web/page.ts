// fetchPage: fetches a web page as text that a model can read. Every redirect is checked; time and size are limited.

import { type GuardedRequest, guardedFetch } from "../net/guarded.ts";
import type { Headers } from "../net/headers.ts";
import { redactedStart } from "../redact/shorten.ts";
import { collapsed } from "../text/one-line.ts";
import { tryOr } from "../text/try-or.ts";
import type { PageCache } from "./page-cache.ts";

export { GuardRefusal } from "../net/guarded.ts";
export { NetError } from "../net/net-error.ts";

/** `mode` and `rules` decide which hosts are allowed; `permitted` names origins that the user has approved. */
export type PageRequest = Omit<GuardedRequest, "headers"> & {
  /** The pages that were already fetched in this run. */
  cache?: PageCache;
};

export type Page = {
  /** The address that was requested. */
  url: string;
  /** The address after all redirects. */
  finalUrl: string;
  markdown: string;
  /** Whether the page was longer than the limit. */
  isTruncated: boolean;
};

/** Thrown if the server's answer is not a readable page. */
export class PageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "PageError";
  }
}

const maxCharacters = 1_000_000;
/** Limit for HTML, of which text is only a part: converting this much takes a second. */
const maxMarkup = 3_000_000;

const headers = {
  accept: "text/markdown,text/html;q=0.9,application/xhtml+xml;q=0.9,application/json;q=0.8,text/plain;q=0.8,*/*;q=0.5",
  "user-agent": "Mozilla/5.0 (compatible; courser-agent)",
};

/** Fetches a page. Throws GuardRefusal if that is not permitted, NetError if there is no answer, PageError if that is not a page. */
export async function fetchPage(url: string, { cache, ...request }: PageRequest): Promise<Page> {
  const existing = cache?.get(url);
  if (existing) return existing;
  const response = await guardedFetch(url, { ...request, headers });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const kind = contentKind(response.headers, bytes, response.url);
  if (response.status < 200 || response.status > 299)
    throw refusedPage(response.status, response.statusText, kind, bytes);
  const read = await readerOf(kind)(bytes, {
    ...kind,
    url: response.url,
    wasCut: response.isTruncated,
    signal: request.signal,
  });
  const isLong = read.markdown.length > maxCharacters;
  const page = {
    url,
    finalUrl: response.url,
    markdown: isLong ? wholeCharacters(read.markdown, maxCharacters) : read.markdown,
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
  return { ...htmlToMarkdown(html.slice(0, maxMarkup), url), isCut: html.length > maxMarkup };
};

const readPdf: Reader = async (bytes, { wasCut, signal }) => {
  if (wasCut) throw new PageError("The PDF is larger than 10 MiB, and a part of it cannot be read.");
  const { pdfToText } = await import("./pdf.ts");
  try {
    const { text, isCut } = await pdfToText(bytes, { signal, maxCharacters });
    return { markdown: text, isCut };
  } catch (error) {
    signal?.throwIfAborted();
    throw new PageError(`The PDF cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
};

const readNothing: Reader = async (bytes, { type }) => {
  throw new PageError(
    `It is ${type} of ${bytes.length} bytes, which has no text. Text, HTML, JSON and PDF can be read.`,
  );
};

/** Readers by content type; the first match is used. Content without a type is text, unless its bytes say otherwise. */
const readers: readonly [RegExp, Reader][] = [
  [/^(?:text\/html|application\/xhtml\+xml)$/, readHtml],
  [/^application\/pdf$/, readPdf],
  [/^text\/|[/+](?:json|xml|yaml|toml|javascript|ecmascript|x-ndjson|sql|graphql|rtf|x-sh)$|^$/, readText],
];

function readerOf({ type }: ContentKind): Reader {
  return readers.find(([pattern]) => pattern.test(type))?.[1] ?? readNothing;
}

/** Determines the content type from the header, or from the first bytes if the header is of no use. */
function contentKind(headers: Headers, bytes: Buffer, url: string): ContentKind {
  const [named = "", ...parameters] = (headers.get("content-type") ?? "").toLowerCase().split(";");
  const charset = /^\s*charset\s*=\s*"?([^\s"]+)/.exec(parameters.find((each) => each.includes("charset")) ?? "")?.[1];
  const type = named.trim();
  const isVague =
    type === "" || /^(?:application\/octet-stream|binary\/octet-stream|application\/x-download)$/.test(type);
  const start = bytes.subarray(0, 1024);
  if (start.subarray(0, 5).toString("latin1") === "%PDF-" && (isVague || type.endsWith("/pdf")))
    return { type: "application/pdf", charset };
  if (type === "application/pdf" || !isVague) return { type, charset };
  if (start.includes(0) && isUtf16WithoutMark(start)) return { type: type || "binary data", charset };
  const looksHtml = /^\s*(?:<!doctype html|<html|<head|<body)/i.test(start.toString("latin1"));
  return { type: looksHtml || /\.x?html?$/i.test(new URL(url).pathname) ? "text/html" : "", charset };
}

/** Returns whether bytes look like UTF-16 without a byte order mark, by their zeros. */
function isUtf16WithoutMark([first, second]: Buffer): boolean {
  return !((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff));
}

/** Includes a line of the server's error message, often its most useful part. */
function refusedPage(status: number, statusText: string, { type, charset }: ContentKind, bytes: Buffer): PageError {
  const answerText =
    readerOf({ type, charset }) === readText
      ? decodeText(bytes.subarray(0, 2000), { label: charset, isHtml: false })
      : "";
  const line = redactedStart(collapsed(answerText), 300);
  return new PageError(`The server answered ${`${status} ${statusText}`.trim()}${line === "" ? "." : `: ${line}`}`);
}

function wholeCharacters(text: string, most: number): string {
  const code = text.charCodeAt(most - 1);
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? most - 1 : most);
}

/** Decodes a page. `label` is the charset of its Content-Type, if any; with `isHtml`, the content may declare its charset. */
function decodeText(bytes: Uint8Array, { label, isHtml }: { label: string | undefined; isHtml: boolean }): string {
  const marked = markOf(bytes);
  if (marked) return new TextDecoder(marked).decode(bytes);
  const named = decoderFor(label) ?? (isHtml ? decoderFor(metaCharset(bytes)) : undefined);
  if (named) return decodeWith(named, bytes);
  try {
    // Ignore an incomplete character at the end, which may have been cut off.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return decodeWith(new TextDecoder("windows-1252"), bytes);
  }
}

/** Quotes, dashes and the like where Latin-1 has control characters. Some versions of Node do not convert them. */
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
  return tryOr(() => new TextDecoder(label), undefined); // an unknown encoding is ignored
}

/** Reads the charset from `<meta charset>` or its longer form in the first bytes, as browsers do. */
function metaCharset(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 4096)).toString("latin1");
  const named = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,40})/i.exec(head)?.[1];
  // If the tag can be read as single bytes, the page is not UTF-16, even if the tag says so.
  return named !== undefined && /^utf-?16/i.test(named) ? "utf-8" : named;
}
