// Redacts text before every sink: removes secrets and keeps everything else unchanged, byte for byte.
import { findNamed } from "./named.ts";
import {
  findInUrls,
  findPasswordOptions,
  findPrivateKeys,
  findSchemes,
  findWrapped,
  type KeyState,
} from "./secrets-by-position.ts";
import { findShapes } from "./shapes.ts";
import { cutOut, type Span } from "./span.ts";
import { RedactedStream } from "./stream.ts";
import { decodedText, joinedLines } from "./view.ts";

export { marker } from "./span.ts";
export type { RedactedStream } from "./stream.ts";

export interface Redactor {
  /** Replaces the secrets in a text. */
  redact(text: string): string;
  /** Creates a redactor for text in chunks, which also finds a secret split between two of them. */
  stream(): RedactedStream;
}

export type RedactorOptions = {
  /** Secrets in use, such as keys, tokens and passwords, which are found whatever they look like. */
  values?: readonly string[];
};

export function createRedactor({ values = [] }: RedactorOptions = {}): Redactor {
  const findValues = valueFinder(values);
  const find = (text: string, state: KeyState): Span[] => spansIn(text, state, findValues);
  return {
    redact: (text) => cutOut(text, find(text, { left: 0 })),
    stream: () => new RedactedStream(find),
  };
}

/** Finds secrets by shape, name or position. Values in use need a redactor of their own. */
export const { redact } = createRedactor();

const noSeam = (): boolean => false;

function spansIn(text: string, state: KeyState, findValues: ValueFinder): Span[] {
  const spans = [...plainSpans(text, noSeam), ...findValues(text), ...findPrivateKeys(text, state)];
  const view = decodedText(text);
  const joined = joinedLines(text);
  if (joined) {
    const inLines = [...findWrapped(joined.text, holdsSecret), ...findValues(joined.text)];
    for (const span of inLines) spans.push(joined.original(span));
  }
  if (view) {
    const inView = [...plainSpans(view.text, (at) => view.isSeam(at)), ...findValues(view.text)];
    for (const span of inView) {
      // A JSON number whose name is escaped: how the quotes around the marker must be escaped is unknown.
      if (span.quote === undefined || /\D/.test(view.text.slice(span.start, span.end))) spans.push(view.original(span));
    }
  }
  return spans;
}

function plainSpans(text: string, isSeam: (at: number) => boolean): Span[] {
  return [
    ...findShapes(text, isSeam),
    ...findNamed(text),
    ...findInUrls(text),
    ...findSchemes(text),
    ...findPasswordOptions(text),
    ...findWrapped(text, (decoded) => holdsSecret(decoded)),
  ];
}

function holdsSecret(text: string): boolean {
  return findShapes(text, noSeam).length > 0 || findNamed(text).length > 0 || findInUrls(text).length > 0;
}

/** The minimum length of a secret in use; shorter values are words that any text may contain. */
const shortest = 6;

type ValueFinder = (text: string) => Span[];

function valueFinder(values: readonly string[]): ValueFinder {
  const forms = [...new Set(values.flatMap(secretLines).flatMap(formsOf))].sort(
    (one, other) => other.length - one.length,
  );
  return (text) => {
    const spans: Span[] = [];
    const cuts = cutPointsIn(text);
    for (const form of forms) {
      for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + form.length))
        spans.push({ start: at, end: at + form.length });
      spans.push(...cutValues(text, form, cuts));
    }
    return spans;
  };
}

/** The length up to which a part of a secret may be shown on purpose. */
const longestHint = 8;
/** The maximum number of positions per text that are checked for a truncated secret. */
const maxCuts = 200;

/** Where a text may have been cut: a secret that ends at `ends` or begins at `starts` may be incomplete. */
type CutPoints = { ends: number[]; starts: number[] };

function cutPointsIn(text: string): CutPoints {
  const last = text.length - /["'`.)]{0,2}\s?$/.exec(text.slice(-3))![0].length;
  const cuts: CutPoints = { ends: [last, text.length], starts: [0] };
  for (const { index, 0: mark } of text.matchAll(/ ?(?:…|\.\.\.)/g)) {
    cuts.ends.push(index);
    cuts.starts.push(index + mark.length);
    if (cuts.ends.length > maxCuts) break;
  }
  return cuts;
}

/** Finds parts of a value in a text that was truncated elsewhere. */
function cutValues(text: string, form: string, { ends, starts }: CutPoints): Span[] {
  if (form.length <= 2 * longestHint) return [];
  const head = form.slice(0, longestHint + 1);
  const tail = form.slice(-longestHint - 1);
  const spans: Span[] = [];
  for (const end of ends) {
    const start = text.indexOf(head, Math.max(0, end - form.length + 1));
    if (start !== -1 && start + head.length <= end && form.startsWith(text.slice(start, end)))
      spans.push({ start, end });
  }
  for (const start of starts) {
    const end = text.lastIndexOf(tail, start + form.length - 1 - tail.length) + tail.length;
    if (end - tail.length >= start && form.endsWith(text.slice(start, end))) spans.push({ start, end });
  }
  return spans;
}

/** Splits a value of several lines, because logs print it line by line. */
function secretLines(value: string): string[] {
  const whole = value.trim();
  if (whole.length < shortest) return [];
  const lines = whole.split(/\r?\n/);
  return lines.length === 1
    ? [whole]
    : [whole, ...lines.filter((line) => line.trim().length >= 16).map((line) => line.trim())];
}

/** Returns a value as it is, escaped for JSON and URLs, in base64 at any offset, and in hexadecimal. The view decodes percent signs. */
function formsOf(value: string): string[] {
  const bytes = new TextEncoder().encode(value);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const json = JSON.stringify(value).slice(1, -1);
  const url = encodeURIComponent(value);
  const forms = [value, json, inAscii(json), url, url.replace(/%20/g, "+"), value.replaceAll(" ", "+")];
  if (bytes.length < 8) return forms;
  return [...forms, hex, hex.toUpperCase(), ...base64Forms(bytes)];
}

/** Escapes JSON to ASCII, as programs do to survive any encoding. */
function inAscii(json: string): string {
  return json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Returns the base64 part that does not depend on the surrounding bytes, for each of the three alignments. */
function base64Forms(bytes: Uint8Array): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const padded = new Uint8Array(offset + bytes.length);
    padded.set(bytes, offset);
    const encoded = btoa(Array.from(padded, (byte) => String.fromCharCode(byte)).join("")).replace(/=+$/, "");
    const start = offset === 0 ? 0 : offset + 1;
    const end = Math.floor((padded.length * 8) / 6);
    const fixed = encoded.slice(start, end);
    return [fixed, fixed.replace(/\+/g, "-").replace(/\//g, "_")];
  });
}
