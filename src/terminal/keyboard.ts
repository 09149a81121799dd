// Keyboard: the bytes of a terminal become keys and pastes, in order, wherever the bytes were cut.
import { StringDecoder } from "node:string_decoder";
import type { Key } from "./key.ts";
import { altKey, sequenceKey, typedKey } from "./key-names.ts";

export interface Keyboard {
  feed(chunk: string | Uint8Array): void;
  /** No key comes after this. */
  close(): void;
}

export type KeyboardOptions = {
  /** What the terminal said by itself: answers to questions (colours, attributes, cursor) and focus. Never text. */
  onAnswer?(sequence: string): void;
  /** The terminal marks what is pasted: see `marksPastes`. */
  hasMarks?: boolean;
  /** How long an ESC may wait for the rest of a sequence before it is the Escape key. */
  escapeMs?: number;
};

const pasteStart = "\x1b[200~";
const pasteEnd = "\x1b[201~";
/** What began as a sequence and never ended is dropped after this silence: half an answer must not be typed. */
const brokenMs = 500;
/** Longest answer that is kept. The rest of a longer one is read and dropped. */
const longestAnswer = 4096;

/**
 * A paste is one key, whatever it holds, also where its end comes byte by byte. What is not marked was typed, however much of it
 * comes at once: people type ahead, programs type for them. Terminals that mark nothing send a paste as if it were typed: there,
 * text with a line break before its end, in one chunk, is a paste as well, and never several Enters.
 */
export function createKeyboard(
  onKey: (key: Key) => void,
  { onAnswer, hasMarks = true, escapeMs = 50 }: KeyboardOptions = {},
): Keyboard {
  const decoder = new StringDecoder("utf8");
  let pending = ""; // the beginning of a sequence
  let isSwallowing = false; // inside an answer that is too long to keep
  let paste: PasteParts | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function emit(key: Key | undefined): void {
    if (key !== undefined && !isClosed) onKey(key);
  }

  function feed(chunk: string | Uint8Array): void {
    clearTimeout(timer);
    let text = typeof chunk === "string" ? chunk : decoder.write(chunk as Buffer);
    while (text !== "" && !isClosed) text = paste ? feedPaste(paste, text) : feedKeys(text);
    if (pending !== "" && !isClosed) wait();
  }

  function feedPaste(parts: PasteParts, text: string): string {
    // The end of a paste can get lost with a broken connection. Then Ctrl+C, alone and after a silence, ends it.
    const isStuck = text === "\x03" && parts.isSilent();
    const rest = isStuck ? text : parts.add(text);
    if (rest === undefined) return "";
    paste = undefined;
    emit({ type: "paste", text: parts.text() });
    return rest;
  }

  /** What is left after the start of a paste, or nothing. */
  function feedKeys(chunk: string): string {
    const text = pending + chunk;
    pending = "";
    let at = 0;
    if (isSwallowing) {
      const end = answerEnd(text, 0);
      if (end === -1) {
        if (text.endsWith("\x1b")) pending = "\x1b"; // the first half of what ends it
        return "";
      }
      isSwallowing = false;
      at = end;
    }
    while (at < text.length && !isClosed) {
      if (text[at] !== "\x1b") {
        const next = text.indexOf("\x1b", at);
        const end = next === -1 ? text.length : next;
        typeRun(text.slice(at, end));
        at = end;
        continue;
      }
      const end = sequenceEnd(text, at);
      if (end === -1) {
        pending = text.slice(at);
        if (pending.length > longestAnswer) {
          pending = pending.endsWith("\x1b") ? "\x1b" : "";
          isSwallowing = true;
        }
        return "";
      }
      const sequence = text.slice(at, end);
      at = end;
      if (sequence === pasteStart) {
        paste = new PasteParts();
        return text.slice(at);
      }
      finish(sequence);
    }
    return "";
  }

  /** Between two control characters, which are keys: text that was typed, or pasted. */
  function typeRun(run: string): void {
    for (const part of run.split(/([\x00-\x08\x0b\x0c\x0e-\x1f\x7f])/)) {
      if (!hasMarks && isPasted(part)) emit({ type: "paste", text: pastedText(part) });
      // Lines of a program that types end like this; nobody presses Enter and Ctrl+J in one moment.
      else for (const character of characters(part.replaceAll("\r\n", "\r"))) emit(typedKey(character));
    }
  }

  function finish(sequence: string): void {
    if (sequence === "\x1b") emit({ type: "key", name: "escape" });
    else if (isAnswer(sequence)) onAnswer?.(sequence);
    else if (/^\x1b[[O]./s.test(sequence)) emit(sequenceKey(sequence));
    else emit(altKey(sequence.slice(1)));
  }

  function wait(): void {
    const isShort = pending.length <= 2 && !isSwallowing;
    timer = setTimeout(
      () => {
        const late = pending;
        pending = "";
        isSwallowing = false;
        if (isShort) finish(late);
      },
      isShort ? escapeMs : brokenMs,
    );
  }

  return {
    feed,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** A paste as it comes. What may be the first part of its end is looked at again, and nothing else is: the cost is linear. */
class PasteParts {
  readonly #parts: string[] = [];
  #carry = "";
  #lastAt = performance.now();

  /** What follows the paste; undefined while it has not ended. */
  add(text: string): string | undefined {
    this.#lastAt = performance.now();
    const seen = this.#carry + text;
    const end = seen.indexOf(pasteEnd);
    const keep = end === -1 ? Math.max(0, seen.length - pasteEnd.length + 1) : end;
    if (keep > 0) this.#parts.push(seen.slice(0, keep));
    this.#carry = end === -1 ? seen.slice(keep) : "";
    return end === -1 ? undefined : seen.slice(end + pasteEnd.length);
  }

  isSilent(): boolean {
    return performance.now() - this.#lastAt > brokenMs;
  }

  text(): string {
    return pastedText(this.#parts.join("") + this.#carry);
  }
}

/** Line breaks are one character; what a terminal would obey, colours of copied output for one, is left out. */
export function pastedText(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(/\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))/g, "")
    .replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "");
}

function isPasted(run: string): boolean {
  const lineBreak = run.search(/[\r\n]/);
  if (lineBreak === -1 || !/[^\r\n]/.test(run)) return false;
  return lineBreak < run.length - (run.endsWith("\r\n") ? 2 : 1);
}

let segmenter: Intl.Segmenter | undefined;

function* characters(run: string): Iterable<string> {
  if (/^[\x00-\x7f]*$/.test(run)) yield* run;
  else {
    segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
    for (const { segment } of segmenter.segment(run)) yield segment;
  }
}

/** Where the sequence that begins at `at` ends; -1 when that has not come yet. */
function sequenceEnd(text: string, at: number): number {
  const kind = text[at + 1];
  if (kind === undefined) return -1;
  if (kind === "\x1b") return at + 1; // Escape, and then something else
  const third = text[at + 2];
  if (kind === "[") return controlSequenceEnd(text, at + 2);
  if (kind === "O") return third === undefined ? -1 : /[ -~]/.test(third) ? at + 3 : at + 2;
  const isAnswerKind = kind === "]" || kind === "P" || kind === "_";
  if (isAnswerKind && third === undefined) return -1;
  // Alt with ], P or _ looks the same so far; answers go on with these.
  if (isAnswerKind && /[0-9>!+|G]/.test(third!)) return answerEnd(text, at + 2);
  return at + 1 + String.fromCodePoint(text.codePointAt(at + 1)!).length;
}

function controlSequenceEnd(text: string, from: number): number {
  if (text[from] === "M") return text.length >= from + 4 ? from + 4 : -1; // a mouse of the old kind: three bytes follow
  if (text[from] === "[") return text.length > from + 1 ? from + 2 : -1; // function keys of the Linux console
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0x40 && code <= 0x7e) return at + 1;
    if (code < 0x20 || code > 0x7e) return at; // broken off: what follows is something else
  }
  return -1;
}

function answerEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\x07") return at + 1;
    if (text[at] === "\x1b" && at + 1 < text.length) return text[at + 1] === "\\" ? at + 2 : at;
  }
  return -1;
}

/** Everything that is not a key: strings, private parameters (attributes, modes, mouse), reports of cursor, status and focus. */
function isAnswer(sequence: string): boolean {
  return /^\x1b(?:[\]P_].{2}|\[(?:[<=>?]|M.|[IO]$|[\d;]+[Rcnty]$|[\d;?]*\$y$))/s.test(sequence);
}
