// Names the key of an escape sequence or a typed character, in the legacy encodings, xterm's modifyOtherKeys and kitty's
// protocol. The sequence tables are pi-tui's; this file resolves their ambiguities, so that each key has one name.
import { decodePrintableKey, parseKey } from "@earendil-works/pi-tui/dist/keys.js";
import type { Key } from "./key.ts";

/** Keys that older terminals cannot tell apart are treated as the same key in all terminals. */
const sameAs: Record<string, string> = {
  "ctrl+[": "escape",
  "ctrl+m": "enter",
  "ctrl+i": "tab",
  "ctrl+h": "backspace",
  "shift+backspace": "backspace",
  "shift+delete": "delete",
  "shift+escape": "escape",
};

const controls: Record<string, string> = {
  "\r": "enter",
  "\n": "ctrl+j",
  "\t": "tab",
  "\b": "backspace",
  "\x7f": "backspace",
  "\0": "ctrl+space",
  "\x1b": "escape",
  "\x1c": "ctrl+\\",
  "\x1d": "ctrl+]",
  "\x1e": "ctrl+^",
  "\x1f": "ctrl+_",
};

/** Names one grapheme that came without an escape. Returns undefined for a control character that is not a key. */
export function typedKey(character: string): Key | undefined {
  const name = plainName(character);
  if (name === undefined) return undefined;
  const types = character >= " " && character !== "\x7f";
  return types ? { type: "key", name, text: character } : { type: "key", name };
}

/** Names the key of ESC and one more character, which is how legacy terminals send Alt. */
export function altKey(character: string): Key | undefined {
  const name = plainName(character);
  return name === undefined ? undefined : { type: "key", name: inOrder(`alt+${name}`) };
}

function plainName(character: string): string | undefined {
  const code = character.codePointAt(0)!;
  const control = controls[character];
  if (control !== undefined) return control;
  if (code < 27) return `ctrl+${String.fromCharCode(code + 96)}`;
  if (code >= 0x80 && code < 0xa0) return undefined;
  if (character === " ") return "space";
  return /^[A-Z]$/.test(character) ? `shift+${character.toLowerCase()}` : character;
}

/** Names the key of a complete CSI or SS3 sequence. Returns undefined if it is not a key, or a key release. */
export function sequenceKey(sequence: string): Key | undefined {
  if (isRelease(sequence)) return undefined;
  const { key, associated } = withoutText(sequence);
  const printable = associated ?? decodePrintableKey(key);
  // Kitty encodes keys without a character in a private-use area, which is not text.
  if (printable !== undefined && !/[\u{e000}-\u{f8ff}\p{Cc}]/u.test(printable)) return typedKey(printable);
  const name = parseKey(usualNumber(key))?.toLowerCase();
  if (name === undefined) return undefined;
  const ordered = inOrder(name);
  return { type: "key", name: sameAs[ordered] ?? ordered };
}

/** Returns the usual number of a key: Home and End have two numbers each, but the tables contain only one. */
function usualNumber(sequence: string): string {
  return sequence.replace(
    /^\x1b\[([14])((?:;[\d:]+)?~)$/,
    (_, number, rest) => `\x1b[${number === "1" ? 7 : 8}${rest}`,
  );
}

function isRelease(sequence: string): boolean {
  return /^\x1b\[[\d:]*;\d*:3(?:;[\d:]*)?[u~A-Z]$/.test(sequence);
}

/** Kitty can be asked to report the text of a key as a third field. */
function withoutText(sequence: string): { key: string; associated?: string } {
  const match = /^(\x1b\[[\d:]*;[\d:]*);([\d:]+)u$/.exec(sequence);
  if (!match) return { key: sequence };
  const codes = match[2]!.split(":").map(Number);
  const isText = codes.every((code) => code >= 32 && code <= 0x10ffff);
  return { key: `${match[1]!.replace(/;$/, ";1")}u`, associated: isText ? String.fromCodePoint(...codes) : undefined };
}

const modifiers = ["super", "ctrl", "alt", "shift"];

function inOrder(name: string): string {
  const parts = name.split(/\+(?=.)/);
  const key = parts.pop()!;
  return [...modifiers.filter((modifier) => parts.includes(modifier)), key].join("+");
}
