// Finds secrets by their name: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`, `x-api-key: …`.
import { hasRandomStretch, hasThreeKinds, looksRandom, runEnd, runStart, setOf } from "./characters.ts";
import { isBetweenTexts, isCode, isPlaceholder, isSentence } from "./false-positives.ts";
import type { Span } from "./span.ts";

/**
 * `password`: chosen by people, so almost any value counts. `machine`: generated, so only values that look random count. `header`: preceded
 * by a scheme. `cookie`: pairs. `query`: only in the query of a URL.
 */
type NameClass = "password" | "machine" | "header" | "cookie" | "query";

const classes: readonly [words: string, NameClass][] = [
  ["passw(?:or)?d|passphrase|passcode|pwd|pass", "password"],
  ["secret|token|credential|jwt|pat|dsn|auth(?!or)", "machine"],
  ["authorization", "header"],
  ["cookie", "cookie"],
  ["key|signature|sig", "query"],
];

/** Words that make any key secret. A key without them may be a column, a cache or a button. */
const secretKey =
  /(?:api|access|account|private|secret|signing|enc(?:rypt(?:ion)?)?|decryption|cipher|fernet|master|licen[cs]e|auth|service|deploy|client|storage|subscription|admin|app|application|webhook|hmac|sharedaccess|consumer|session|write|function|server|ssh|rsa|aes|gpg|root|bot)[-_. ]?$/i;

/** Words that may follow in a secret's name: SECRET_KEY_BASE, token2. Any other ending changes the meaning. */
const endings = new Set(
  "access base key token secret value prod production dev development test live staging main primary secondary old new backup current default b64 base64 encoded encrypted plain plaintext raw hash".split(
    " ",
  ),
);

/** Matches words that are part of many other words, so they must stand alone. */
const needsBoundary = /^(?:pass|pwd|jwt|pat|dsn|auth|key|sig|signature)$/i;

/** A run without spaces or quotes that has more names than this is not a list of assignments. */
const maxTries = 32;

let trigger: RegExp | undefined;

export function findNamed(text: string): Span[] {
  trigger ??= new RegExp(classes.map(([words]) => `(${words})`).join("|"), "gi");
  const spans: Span[] = [];
  let run = { end: 0, tries: 0 };
  trigger.lastIndex = 0;
  for (let match = trigger.exec(text); match; match = trigger.exec(text)) {
    const name = nameAt(text, match.index, match[0]);
    const position = name && valuePosition(text, name);
    if (!name || !position) continue;
    const group = match.indexOf(match[0], 1) - 1;
    const span = spanOf(text, name, position, name.isKey ? "machine" : classes[group]![1]);
    if (span) spans.push(span);
    // `token=token=token=…`: each try reads to the end of the run.
    run = position.end === run.end ? { end: run.end, tries: run.tries + 1 } : { end: position.end, tries: 0 };
    if (span) trigger.lastIndex = span.end;
    else if (run.tries > maxTries) trigger.lastIndex = position.end;
  }
  trigger.lastIndex = 0;
  return spans;
}

/** A name that suggests a secret. `isKey` marks `apiKey` and similar names. */
type SecretName = { start: number; end: number; text: string; word: string; isKey: boolean };

/** Characters that can directly follow the name in an assignment. */
const afterName = new Set("\"'`\\] \t:=,>?");

function nameAt(text: string, at: number, word: string): SecretName | undefined {
  const wordEnd = at + word.length;
  let end = runEnd(text, wordEnd, setOf("dotted"), wordEnd + 48);
  while (end > wordEnd && text[end - 1] === ".") end--;
  if (!afterName.has(text[end] ?? "")) return undefined;
  const rest = text.slice(wordEnd, end);
  const isPlural = rest === "s" || rest === "S";
  if (rest !== "" && !(isPlural && !/token$/i.test(word)) && !isEnding(rest)) return undefined;
  const start = runStart(text, at, setOf("dotted"), 64);
  const before = text.slice(start, at);
  const isKey = /^(?:key|signature)$/i.test(word) && secretKey.test(text.slice(Math.max(0, at - 16), at));
  if (!isKey && needsBoundary.test(word) && /[A-Za-z0-9]$/.test(before) && !isHump(before, word)) return undefined;
  return { start, end, text: text.slice(start, end), word, isKey };
}

function isEnding(rest: string): boolean {
  const parts = rest.split(/[-_.]|(?<=[a-z])(?=[A-Z0-9])/);
  return parts.every((part) => part === "" || /^\d{1,3}$/.test(part) || endings.has(part.toLowerCase()));
}

/** `dbPass`: an uppercase letter after a lowercase one begins a word. */
function isHump(before: string, word: string): boolean {
  return /[a-z0-9]$/.test(before) && /^[A-Z][a-z]/.test(word);
}

type ValuePosition = {
  start: number;
  end: number;
  separator: "=" | ":" | " " | "," | ">";
  /** Whether there are blanks around the sign between name and value. */
  spaced: boolean;
  /** The quote around the value, with backslashes before it in nested strings; empty if there is none. */
  quote: string;
  /** The quote around the name, if the sign after it is a colon, as in JSON. */
  nameQuote: string;
};

const assignment =
  /^(\\*["'`])?\]?([ \t]*)(:=|=>|={1,3}|\?=|->|:|,|>|value[ \t]*=|(?=[ \t]))([ \t]*)(?:[brfu$@](?=["']))?(\\*["'`])?/;

const type =
  /^(?:string|String|str|bytes|any|Optional\[str\]|Option<String>|&(?:'static )?str)(?: ?\| ?\w{4,9})?[ \t]*=[ \t]*(\\*["'`])/;

/** Finds the value of a name, if an assignment follows the name. */
function valuePosition(text: string, name: SecretName): ValuePosition | undefined {
  const found = assignment.exec(text.slice(name.end, name.end + 64));
  if (!found) return undefined;
  const [all, nameQuote = "", before = "", sign = "", after = "", opening = ""] = found;
  const separator = separatorOf(sign, text, name, { nameQuote, opening });
  if (!separator) return undefined;
  let start = name.end + all.length;
  let quote = opening;
  // In `token: string = "…"` the type comes before the value.
  const typed = separator === ":" && quote === "" && type.exec(text.slice(start, start + 64));
  if (typed) [start, quote] = [start + typed[0].length, typed[1]!];
  // 'Password: ' and {"a":"password:","b":1}: the quote ends the text that contains the name.
  if (nameQuote === "" && quote !== "" && closesText(text, name.start, start, quote)) return undefined;
  const spaced = before !== "" || after !== "";
  const isLine = separator === "=" && !spaced && startsLine(text, name.start);
  const end = quote === "" ? bareEnd(text, start, isLine) : quotedEnd(text, start, quote);
  return { start, end, separator, spaced, quote, nameQuote: separator === ":" ? nameQuote : "" };
}

function closesText(text: string, nameStart: number, start: number, quote: string): boolean {
  return quote === text[nameStart - 1] || /^[ \t]*(?:[,:;)\]}\r\n]|$)/.test(text.slice(start, start + 16));
}

function separatorOf(
  sign: string,
  text: string,
  name: SecretName,
  { nameQuote, opening }: { nameQuote: string; opening: string },
): ValuePosition["separator"] | undefined {
  const before = text[name.start - 1];
  // `/etc/passwd:1:` is a path and a line number, `secret://` a scheme.
  if (sign === ":") return before === "/" || text.startsWith("//", name.end + 1) ? undefined : ":";
  if (sign === ",") return nameQuote !== "" && opening !== "" ? "," : undefined;
  if (sign === ">") return before === "<" ? ">" : undefined;
  if (sign !== "") return "=";
  return isOption(name.text) || isSet(text, name) || isNetrc(text, name) ? " " : undefined;
}

/** Returns whether the name is set by `setx NAME value`, `set -gx NAME value` or `ENV NAME value`. */
function isSet(text: string, { start }: SecretName): boolean {
  return /\b(?:setx|setenv|ENV|set[ \t]+-[a-zA-Z]+|config(?:ure)?[ \t]+set)[ \t]+$/.test(
    text.slice(Math.max(0, start - 24), start),
  );
}

function isOption(name: string): boolean {
  return /^--\w/.test(name) || /^-(?:password|token|secret|apikey)$/i.test(name);
}

/** Matches `machine x login y password z`, on one line or on three. */
function isNetrc(text: string, { start, end, word }: SecretName): boolean {
  if (word !== "password") return false;
  const window = text.slice(Math.max(0, start - 120), start);
  const before = window.slice(window.lastIndexOf("\n") + 1);
  if (/\b(?:login|machine)\s+\S+\s+$/.test(before)) return true;
  const alone = before.trim() === "" ? /^[ \t]+(\S+)[ \t]*(?:[\r\n]|$)/.exec(text.slice(end, end + 80)) : null;
  return alone !== null && looksRandom(alone[1]!, 6);
}

/** Returns whether the name starts a line, as in shells and .env files: the value then extends to the next space. */
function startsLine(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 16), at);
  if (at < 16 && before.trim() === "") return true;
  return /(?:[\n\r]|\\n)[ \t]*$|\b(?:export|set|setx|env|ENV)[ \t]+$|\s(?:-e|--env)[ \t]+$/.test(before);
}

const bareStop = /[\s"'`\\,;&<>(){}[\]|]/g;
const lineStop = /[\s"'`\\]/g;

function bareEnd(text: string, from: number, isLine: boolean): number {
  return nextOf(isLine ? lineStop : bareStop, text, from);
}

function nextOf(stop: RegExp, text: string, from: number): number {
  stop.lastIndex = from;
  return stop.exec(text)?.index ?? text.length;
}

const quoteStops: Record<string, RegExp> = { '"': /["\n]/g, "'": /['"\n]/g, "`": /[`"\n]/g };

/**
 * Finds the end of a nested string: its quotes have `depth` backslashes before them, and each backslash in it has twice as many plus two. A
 * quote with fewer ends the enclosing string. Without a closing quote it was not a string.
 */
function quotedEnd(text: string, from: number, opening: string): number {
  const stop = quoteStops[opening.at(-1)!]!;
  const depth = opening.length - 1;
  for (let at = nextOf(stop, text, from); at < text.length; at = nextOf(stop, text, at + 1)) {
    if (text[at] === "\n") break;
    let start = at;
    while (start > from && text[start - 1] === "\\") start--;
    if (text[at] !== opening.at(-1)) {
      // a JSON string ends here, and with it every string inside it
      if (/^"[ \t]*[,:\]}]/.test(text.slice(at, at + 16))) return start;
      continue;
    }
    const slashes = at - start;
    if (slashes < depth) return start;
    if (slashes % (2 * depth + 2) === depth) return at - depth;
  }
  return bareEnd(text, from, false);
}

function spanOf(text: string, name: SecretName, position: ValuePosition, kind: NameClass): Span | undefined {
  const { start, end, quote, nameQuote } = position;
  if (end <= start || (position.separator === " " && text[start] === "-")) return undefined;
  if (position.separator === ">" && !text.startsWith("</", end)) return undefined;
  // this is a function call or a member access
  if (quote === "" && (text[end] === "(" || text[end] === "[")) return undefined;
  if (kind === "header") return credentials(text, position);
  if (kind === "cookie") return cookies(text, position, name);
  if (kind === "query" && !(position.separator === "=" && /[?&]/.test(text.charAt(name.start - 1)))) return undefined;
  const isHere = (stop: number) => isSecret(text.slice(start, Math.min(stop, start + 512)), kind, name, position);
  // Only redact the first word after an unclosed quote, which would otherwise include the rest of the line.
  const word = kind === "password" ? end : bareEnd(text, start, false);
  const stop = isHere(end) ? end : word < end && word > start && isHere(word) ? word : undefined;
  if (stop === undefined) return undefined;
  return { start, end: stop, ...(quote === "" && nameQuote !== "" && { quote: nameQuote }) };
}

const schemes =
  /^(?:bearer|basic|token|digest|negotiate|ntlm|apikey|api-key|key|oauth|hawk|signature|aws4-hmac-sha256|sharedkey(?:lite)?|github-bearer)[ \t]+/i;

/** Finds credentials in `Authorization: <scheme> <credentials>`. Without a scheme, only tokens count. */
function credentials(text: string, { start, end, quote, nameQuote }: ValuePosition): Span | undefined {
  const scheme = schemes.exec(text.slice(start, start + 64))?.[0] ?? "";
  const from = start + scheme.length;
  const first = /^[^\s,;"'`\\]*/.exec(text.slice(from, from + 512))![0];
  if (isPlaceholder(first)) return undefined;
  if (scheme === "") {
    if (!looksRandom(first, 12)) return undefined;
    return {
      start,
      end: runEnd(text, start, setOf("bearer")),
      ...(quote === "" && nameQuote !== "" && { quote: nameQuote }),
    };
  }
  // this is a phrase such as "Bearer token required"
  if (!looksRandom(first, 6) && first.length < 20 && !first.includes("=")) return undefined;
  // Credentials of Digest and similar schemes continue after commas; those of Bearer do not.
  const isOne = /^(?:bearer|basic|token)/i.test(scheme);
  const stop = isOne ? runEnd(text, from, setOf("bearer")) : quote === "" ? parametersEnd(text, from) : end;
  return stop > from ? { start: from, end: stop } : undefined;
}

function cookies(text: string, { start, end, quote, separator }: ValuePosition, name: SecretName): Span | undefined {
  if (separator !== ":" && separator !== ",") return undefined;
  const first = /^[\w.%-]+=(?=[^\s;"'`]{6})/.exec(text.slice(start, start + 512))?.[0];
  if (first === undefined) return undefined;
  const stop = quote === "" ? lineEnd(text, start) : end;
  // In Set-Cookie, attributes follow the first pair.
  const semicolon = /^set/i.test(name.text) ? text.indexOf(";", start) : -1;
  return { start: start + first.length, end: semicolon === -1 ? stop : Math.min(semicolon, stop) };
}

const parameters = /(?:[\w-]{1,32}="[^"\\\n]{0,512}",?[ \t]*|[\w-]{1,32}=[^\s",]{1,512},?[ \t]*){1,32}/y;

/** `Digest username="a", response="b"`: these quotes do not end the value. */
function parametersEnd(text: string, from: number): number {
  parameters.lastIndex = from;
  return Math.max(lineEnd(text, from), parameters.test(text) ? parameters.lastIndex : from);
}

const headerStop = /["'`\n\r\\]/g;

function lineEnd(text: string, from: number): number {
  return nextOf(headerStop, text, from);
}

function isSecret(value: string, kind: NameClass, name: SecretName, position: ValuePosition): boolean {
  if (!(kind === "password" ? isPassword(value, name, position) : isMachineMade(value, name, position))) return false;
  if (isPlaceholder(value) || isCode(value, position.quote) || isBetweenTexts(value)) return false;
  return !isSentence(value) || name.word.toLowerCase() === "passphrase";
}

function isPassword(value: string, name: SecretName, position: ValuePosition): boolean {
  // the variable PWD contains a directory
  if (/^(?:old)?pwd$/i.test(name.text)) return isToken(value) && !/^(?:[/~.]|[A-Z]:)/i.test(value);
  // A value must look like a token after `pass`, since "pass: 12" counts tests, and after a comma, as in the list `'password', 'salt'`.
  if (position.separator === "," || /^pass$/i.test(name.text)) return isAssigned(position) && isToken(value);
  if (/^pass$/i.test(name.word) && !looksRandom(value, 6) && !(isAssigned(position) && isVariable(name))) return false;
  if (/^\d+$/.test(value)) return value.length >= 4;
  return isAssigned(position) ? value.length >= 3 : value.length >= 4 && /[\d!@#$%^&*+~]/.test(value);
}

function isMachineMade(value: string, name: SecretName, position: ValuePosition): boolean {
  if (!/^[\w.+/=:~%@!#$-]+$/.test(value)) return false;
  if (position.separator === ",") return isToken(value);
  if (!name.isKey && needsBoundary.test(name.word)) return looksRandom(value, 16);
  if (
    isAssigned(position)
      ? looksRandom(value)
      : looksRandom(value, 20) || (looksRandom(value, 12) && hasThreeKinds(value))
  )
    return true;
  // KEY=value as in a .env file: plain words can be a secret too.
  return (
    position.separator === "=" && !position.spaced && isVariable(name) && value.length >= 12 && !/[/\\]/.test(value)
  );
}

/** Returns whether a value looks like a token, which is required if its name says little. */
function isToken(value: string): boolean {
  return !/\s/.test(value) && looksRandom(value) && (hasThreeKinds(value) || hasRandomStretch(value, 12));
}

function isVariable({ text }: SecretName): boolean {
  return /^[A-Z][A-Z0-9_]*$/.test(text);
}

/** Returns whether the value is assigned, not written as in prose with a space after the sign. */
function isAssigned({ separator, spaced, quote }: ValuePosition): boolean {
  return separator === " " || separator === ">" || quote !== "" || (separator === "=" && !spaced);
}
