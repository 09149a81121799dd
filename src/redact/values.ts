// Exact values that must not be seen: the keys of this run, in every form they are likely to be written in.
import type { Span } from "./span.ts";

/** Shorter ones are words that any text may hold. */
const shortest = 6;

export type ValueFinder = (text: string) => Span[];

export function valueFinder(values: readonly string[]): ValueFinder {
  const forms = [...new Set(values.flatMap(linesOf).flatMap(formsOf))].sort((one, other) => other.length - one.length);
  return (text) => {
    const spans: Span[] = [];
    for (const form of forms) {
      for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + form.length))
        spans.push({ start: at, end: at + form.length });
    }
    return spans;
  };
}

/** A value of several lines is sought line by line: that is how logs print it. */
function linesOf(value: string): string[] {
  const whole = value.trim();
  if (whole.length < shortest) return [];
  const lines = whole.split(/\r?\n/);
  return lines.length === 1
    ? [whole]
    : [whole, ...lines.filter((line) => line.trim().length >= 16).map((line) => line.trim())];
}

/** As it is, as JSON and URLs spell it, in base64 wherever it begins, in hexadecimal. Percent signs are undone by the view. */
function formsOf(value: string): string[] {
  const bytes = new TextEncoder().encode(value);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const json = JSON.stringify(value).slice(1, -1);
  const url = encodeURIComponent(value);
  const forms = [value, json, inAscii(json), url, url.replace(/%20/g, "+"), value.replaceAll(" ", "+")];
  if (bytes.length < 8 || bytes.length > 8192) return forms;
  return [...forms, hex, hex.toUpperCase(), ...base64Forms(bytes)];
}

/** As programs write JSON that must survive any encoding. */
function inAscii(json: string): string {
  return json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The part that stays the same whatever stands before and after, at each of the three places a byte can have. */
function base64Forms(bytes: Uint8Array): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const padded = new Uint8Array(offset + bytes.length);
    padded.set(bytes, offset);
    const encoded = btoa(String.fromCharCode(...padded)).replace(/=+$/, "");
    const start = offset === 0 ? 0 : offset + 1;
    const end = Math.floor((padded.length * 8) / 6);
    const fixed = encoded.slice(start, end);
    return [fixed, fixed.replace(/\+/g, "-").replace(/\//g, "_")];
  });
}
