// Finds mentions in a text: `@path`, `@"path with spaces"`, `@path:10-20`. They are candidates until looked up on disk.

export type Mention = {
  /** The offset of the `@` in the prompt's text. */
  start: number;
  /** Possible targets, the longest first. `end` is where that reading ends in the text. */
  readings: { target: string; end: number }[];
};

export type LineRange = { first: number; last: number };

// Matches any letter. Avoids \p{…}, whose first use is slow.
const hasLetter = /[A-Za-z0-9\u0080-\uffff]/;
const punctuation = /[^\w.\-/\\@+#$~: \u0080-\uffff]|[\u2000-\u206f\u3000-\u303f\uff00-\uff0f\uff1a-\uff20]/;
const longestTarget = 1024;
const maxMentions = 1000;

/** Finds all mentions. An @ inside a word is an e-mail address, not a mention. */
export function findMentions(text: string): Mention[] {
  const mentions: Mention[] = [];
  for (let at = text.indexOf("@"); at !== -1 && mentions.length < maxMentions; at = text.indexOf("@", at + 1)) {
    if (at > 0 && !/[\s([{<>"'`,;:=|*_]/.test(text[at - 1]!)) continue;
    const readings = text[at + 1] === '"' ? quotedReadings(text, at) : plainReadings(text, at);
    if (readings.length > 0) mentions.push({ start: at, readings });
  }
  return mentions;
}

/** Splits `src/a.ts:10-20` into path and lines; also accepts `#L10-L20`, as code hosts write it. */
export function splitLines(target: string): { path: string; lines: LineRange } | undefined {
  const match = /^(.+?)(?::(\d{1,9})(?:-(\d{1,9}))?|#L(\d{1,9})(?:-L?(\d{1,9}))?)$/.exec(target);
  if (!match) return undefined;
  const first = Math.max(1, Number(match[2] ?? match[4]));
  const last = Number(match[3] ?? match[5] ?? first);
  return { path: match[1]!, lines: { first, last: Math.max(first, last) } };
}

function quotedReadings(text: string, at: number): Mention["readings"] {
  const close = text.indexOf('"', at + 2);
  const path = close === -1 ? "" : text.slice(at + 2, close);
  if (path === "" || path.length > longestTarget || path.includes("\n")) return [];
  const range =
    /^(?::\d{1,9}(?:-\d{1,9})?|#L\d{1,9}(?:-L?\d{1,9})?)/.exec(text.slice(close + 1, close + 30))?.[0] ?? "";
  return [{ target: path + range, end: close + 1 + range.length }];
}

function plainReadings(text: string, at: number): Mention["readings"] {
  const run = /^(?:\\ |[^\s"`<>])+/.exec(text.slice(at + 1, at + 1 + longestTarget))?.[0] ?? "";
  const readings: Mention["readings"] = [];
  const add = (raw: string): void => {
    const target = raw.replaceAll("\\ ", " ");
    if (hasLetter.test(target) && !readings.some((other) => other.target === target)) {
      readings.push({ target, end: at + 1 + raw.length });
    }
  };
  // Trailing punctuation usually belongs to the sentence, inner punctuation to a list or a possessive.
  const trimmed = (raw: string): void => {
    add(raw);
    let shorter = raw;
    for (let count = 0; count < 8 && /[.,;:!?)\]}'*_|…]$/.test(shorter); count++) add((shorter = shorter.slice(0, -1)));
  };
  trimmed(run);
  trimmed(run.split(/[,;'|!?)\]}]/, 1)[0]!);
  trimmed(run.split(punctuation, 1)[0]!);
  trimmed(run.split(/[^\x20-\x7e]/, 1)[0]!);
  return readings;
}
