// Finds secrets by position: in URLs, after a scheme, inside a private key, encoded in base64.
import { hasRandomStretch, looksRandom, runEnd, runStart, setOf } from "./characters.ts";
import { isPlaceholder } from "./false-positives.ts";
import type { Span } from "./span.ts";

/** Longer logins and paths are not checked. */
const longestLogin = 512;
const longestPath = 512;

/** Finds passwords and tokens before the `@` of a URL, and the paths of webhooks. */
export function findInUrls(text: string): Span[] {
  const spans: Span[] = [];
  const nextSign = forwardFinder(text, /@/g);
  const nextHook = forwardFinder(text, /hook/gi);
  let hookEnd = 0;
  for (let at = text.indexOf("://"); at !== -1; at = text.indexOf("://", at + 3)) {
    const from = at + 3;
    const hasLogin = nextSign(from) - from < longestLogin;
    const hasHook = nextHook(from) - from < longestPath;
    if ((!hasLogin && !hasHook) || text[from] === "/") continue;
    const isWeb = /https?$/i.test(text.slice(Math.max(0, at - 5), at));
    const login = hasLogin ? loginIn(text, from, authorityEnd(text, from, isWeb)) : undefined;
    if (login) spans.push(login);
    if (!isWeb || !hasHook || from < hookEnd) continue;
    hookEnd = from + /^[^\s"'`<>\\?#]*/.exec(text.slice(from, from + longestPath))![0].length;
    for (const part of hookParts(text, from, hookEnd)) spans.push(part);
  }
  return spans;
}

/** Returns the next match at or after a position that only moves forward, or infinity. */
function forwardFinder(text: string, pattern: RegExp): (from: number) => number {
  let found = -1;
  return (from) => {
    if (found >= from) return found;
    pattern.lastIndex = from;
    found = pattern.exec(text)?.index ?? Number.POSITIVE_INFINITY;
    return found;
  };
}

/** Database URLs contain passwords with slashes, contrary to the standard. */
function authorityEnd(text: string, from: number, isWeb: boolean): number {
  const slice = text.slice(from, from + longestLogin);
  const strict = slice.search(/[\s/?#"'`<>\\]/);
  const end = strict === -1 ? slice.length : strict;
  if (isWeb || slice.slice(0, end).includes("@")) return from + end;
  const loose = slice.search(/[\s?#"'`<>\\]/);
  return from + (loose === -1 ? slice.length : loose);
}

function loginIn(text: string, from: number, end: number): Span | undefined {
  const authority = text.slice(from, end);
  const at = authority.lastIndexOf("@");
  if (at <= 0) return undefined;
  const colon = authority.indexOf(":");
  if (colon !== -1 && colon < at) {
    const password = authority.slice(colon + 1, at);
    return password === "" || isPlaceholder(password) ? undefined : { start: from + colon + 1, end: from + at };
  }
  return looksRandom(authority.slice(0, at), 16) ? { start: from, end: from + at } : undefined;
}

/** Finds all random parts after a part named `hook`, in the host or in the path. */
function hookParts(text: string, from: number, end: number): Span[] {
  const address = text.slice(from, end);
  const hook = /(?:^|[./-])(?:web)?hooks?(?:b2)?(?=[./-])/i.exec(address);
  if (!hook) return [];
  const spans: Span[] = [];
  for (const part of address.matchAll(/[^/]+/g)) {
    if (part.index > hook.index + 1 && hasRandomStretch(part[0].replace(/-/g, ""), 16))
      spans.push({ start: from + part.index, end: from + part.index + part[0].length });
  }
  return spans;
}

/** Finds `Bearer …` and `Basic …` anywhere, and the login of `curl -u`. */
export function findSchemes(text: string): Span[] {
  const spans: Span[] = [];
  for (const match of text.matchAll(
    /\b(?:bearer|basic)(?:[ \t]{1,16}|%20|\+)(?=[\w/+%-])|(?<=\s)(?:-u|--user|--proxy-user)(?: {1,16}|=)["']?(?=[^\s:"']{1,64}:)/gi,
  )) {
    const start = match.index + match[0].length;
    const word = match[0][1];
    const span =
      word === "e" || word === "E"
        ? bearerAt(text, start)
        : word === "a" || word === "A"
          ? basicAt(text, start)
          : loginAt(text, match.index, start);
    if (span) spans.push(span);
  }
  return spans;
}

function bearerAt(text: string, start: number): Span | undefined {
  const end = runEnd(text, start, setOf("bearer"));
  return looksRandom(text.slice(start, Math.min(end, start + 256)), 12) ? { start, end } : undefined;
}

function basicAt(text: string, start: number): Span | undefined {
  const end = runEnd(text, start, setOf("base64"));
  return decodeBase64(text.slice(start, Math.min(end, start + 1024)))?.includes(":") ? { start, end } : undefined;
}

/** Any login counts after `curl` on the same line; on a continuation line, only what looks like a password. */
function loginAt(text: string, at: number, start: number): Span | undefined {
  const login = /^[^\s:"']+:([^\s"'\\]+)/.exec(text.slice(start, start + 512));
  const password = login?.[1];
  if (!login || !password || isPlaceholder(password)) return undefined;
  const before = text.slice(Math.max(0, at - 300), at);
  const line = before.slice(before.lastIndexOf("\n") + 1);
  if (!/\bcurl\b/.test(line) && !(line.trim() === "" && looksRandom(password, 6))) return undefined;
  return { start: start + login[0].length - password.length, end: start + login[0].length };
}

/** Programs that take a password as an option: a hint that the text must contain, and a pattern up to the value. */
const passwordOptions: readonly [hint: string, pattern: RegExp][] = [
  ["sshpass", /\bsshpass\b[^\n;|&]{0,64}?\s-p[ =]?/g],
  [" login", /\b(?:docker|podman|nerdctl|buildah|skopeo|crane|oras|registry|acr) login\b[^\n;|&]{0,256}?\s-p[ =]?/g],
  ["mysql", /\bmysql(?:dump|admin|import|check|show|pump)?\b[^\n;|&]{0,256}?\s-p(?=\S)/g],
  ["mariadb", /\bmariadb(?:-\w+)?\b[^\n;|&]{0,256}?\s-p(?=\S)/g],
  ["mongo", /\bmongo(?:sh|dump|restore|export|import)?\b[^\n;|&]{0,256}?\s-p[ =]?/g],
  ["redis-cli", /\bredis-cli\b[^\n;|&]{0,256}?\s-a[ =]?/g],
  ["pass:", /\s-pass(?:in|out)? {1,4}["']?pass:/g],
  ["zip -", /\bzip\b[^\n;|&]{0,256}?\s-P[ =]?/g],
  ["7z", /\b7z[arz]?\b[^\n;|&]{0,256}?\s-p(?=\S)/g],
  ["ldap", /\bldap(?:search|modify|add|delete|passwd|whoami)\b[^\n;|&]{0,256}?\s-w[ =]?/g],
  ["smbclient", /\bsmbclient\b[^\n;|&]{0,256}?\s-U[ =]?["']?[^\s%]{1,64}%/g],
  ["secret set", /\b(?:gh|glab) secret set\b[^\n;|&]{0,256}?\s(?:-b|--body)[ =]/g],
  ["_auth", /\b(?:npm|pnpm|yarn) config set [^\s=]{0,256}:?_auth(?:Token)?[ =]/g],
  ["_password", /\b(?:npm|pnpm|yarn) config set [^\s=]{0,256}:?_password[ =]/g],
];

/** Finds `sshpass -p …`, `docker login -p …`, `mysql -p…`. Most texts contain no hint, and then no pattern is compiled. */
export function findPasswordOptions(text: string): Span[] {
  const spans: Span[] = [];
  for (const [hint, pattern] of passwordOptions) {
    if (!text.includes(hint)) continue;
    for (const match of text.matchAll(pattern)) {
      const from = match.index + match[0].length;
      const [, quote = "", value = ""] = /^(["']?)([^\s"'`\\;|&<>]{3,512})/.exec(text.slice(from, from + 514)) ?? [];
      if (value === "" || value.startsWith("-") || isPlaceholder(value)) continue;
      spans.push({ start: from + quote.length, end: from + quote.length + value.length });
    }
  }
  return spans;
}

/** How far a private key may still extend, kept between chunks of a stream. */
export type KeyState = { left: number };

/** Limits a key without an end; the largest have some ten thousand characters. */
const longestKey = 32_768;

/** The header of PEM and PuTTY keys. */
const keyHead = /^(?:-----BEGIN[A-Z0-9 ]{0,60}PRIVATE KEY(?: BLOCK)?-----|Private-Lines: ?\d{1,4})/;

/** Returns the position of the first of these marks, or -1. */
function firstOf(marks: readonly string[], text: string, from: number): number {
  const places = marks.map((mark) => text.indexOf(mark, from)).filter((place) => place !== -1);
  return places.length === 0 ? -1 : Math.min(...places);
}

/** Finds everything between BEGIN and END that could be the key, line by line, whatever precedes it on its line. */
export function findPrivateKeys(text: string, state: KeyState): Span[] {
  const spans: Span[] = [];
  let at = 0;
  while (at < text.length) {
    if (state.left <= 0) {
      const begin = firstOf(["-----BEGIN", "Private-Lines:"], text, at);
      if (begin === -1) break;
      const head = keyHead.exec(text.slice(begin, begin + 128));
      at = begin + (head?.[0].length ?? 10);
      if (head) state.left = longestKey;
      continue;
    }
    const found = firstOf(["-----END", "Private-MAC:"], text, at);
    const end = Math.min(found === -1 ? text.length : found, at + state.left);
    for (const lines of keyLines(text, at, end)) spans.push(lines);
    state.left = found !== -1 && found <= end ? 0 : state.left - (end - at);
    at = end;
    if (state.left <= 0 && end !== found) state.left = 0;
  }
  return spans;
}

/** Finds long runs of base64, and short ones that fill their line. */
function keyLines(text: string, from: number, end: number): Span[] {
  const spans: Span[] = [];
  const set = setOf("base64");
  for (let at = from; at < end; at++) {
    const stop = runEnd(text, at, set, end);
    const isLong = stop - at >= 16 && /[A-Za-z]/.test(text.slice(at, stop));
    if (isLong || (stop > at && isWholeLine(text, at, stop))) spans.push({ start: at, end: stop });
    at = stop;
  }
  return spans;
}

function isWholeLine(text: string, start: number, end: number): boolean {
  const ends = text[end] === undefined || "\n\r".includes(text[end]) || text.startsWith("\\n", end);
  return ends && (start === 0 || "\n\r\\".includes(text[start - 1]!));
}

/** Finds base64 or hexadecimal that decodes to text with a secret. `hasSecret` checks the decoded text. */
export function findWrapped(text: string, hasSecret: (decoded: string) => boolean): Span[] {
  const spans: Span[] = [];
  const set = setOf("base64Any");
  // Steps of twelve cannot skip a run that is long enough to matter.
  for (let at = 11; at < text.length; at += 12) {
    if (set[text.charCodeAt(at)] !== 1) continue;
    const start = runStart(text, at, set, 12);
    const end = runEnd(text, at, set);
    at = end - 1;
    if (end - start < 24 || end - start > 16_384) continue; // longer: a file, not a value
    const run = text.slice(start, end);
    const decoded = decodeHex(run) ?? decodeBase64(run);
    if (decoded !== undefined && hasSecret(decoded)) spans.push({ start, end });
  }
  return spans;
}

/** Decodes only plain text, in either alphabet: most of what looks like base64 is a long word. */
function decodeBase64(text: string): string | undefined {
  const bare = text.includes("=") ? text.slice(0, text.indexOf("=")) : text;
  if (!mayHoldText(bare)) return undefined;
  // A single sextet at the end is not a byte, and the decoder rejects it.
  const whole = bare.length % 4 === 1 ? bare.slice(0, -1) : bare;
  const decoded = atob(whole.replaceAll("-", "+").replaceAll("_", "/"));
  return /^[\t\n\r -~]*$/.test(decoded) ? decoded : undefined;
}

/** Decodes pairs of digits whose first is 2 to 7, as in text: digests and ids have others, too. */
function decodeHex(text: string): string | undefined {
  if (text.length % 2 === 1) return undefined;
  for (let at = 0; at < text.length; at += 2) {
    const code = text.charCodeAt(at);
    if (code < 50 || code > 55) return undefined;
  }
  return /^[0-9a-fA-F]+$/.test(text) ? text.replace(/../g, decodeHexCharacter) : undefined;
}

function decodeHexCharacter(hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16));
}

/** The first of each four characters holds a byte's highest bit, which is never set in text: it must be `A`-`Z` or `a`-`f`. */
function mayHoldText(base64: string): boolean {
  for (let at = 0; at + 1 < base64.length; at += 4) {
    const code = base64.charCodeAt(at);
    if (!((code >= 65 && code <= 90) || (code >= 97 && code <= 102))) return false;
  }
  return true;
}
