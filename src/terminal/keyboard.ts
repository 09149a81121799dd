// Keyboard: parses the bytes of a terminal into keys and pastes, in order, however the bytes are split into chunks.
import { StringDecoder } from "node:string_decoder";
import type { Key } from "./key.ts";
import { altKey, sequenceKey, typedKey } from "./key-names.ts";

export interface Keyboard {
  feed(chunk: string | Uint8Array): void;
  /** Stops the keyboard; no key is emitted after this. */
  close(): void;
}

export type KeyboardOptions = {
  /** Called with sequences the terminal sends by itself: focus, and answers to queries (colours, attributes, cursor). Never text. */
  onAnswer?(sequence: string): void;
  /** Whether the terminal marks pasted text; see `marksPastes`. */
  hasMarks?: boolean;
  /** How many milliseconds to wait after ESC for the rest of a sequence, before it counts as the Escape key. */
  escapeMs?: number;
};

const pasteStart = "\x1b[200~";
const pasteEnd = "\x1b[201~";
/** An incomplete sequence is dropped after this time, so that half an answer is not typed as text. */
const brokenMs = 500;
/** The maximum length of an answer from the terminal; the rest is dropped. */
const longestAnswer = 4096;

/**
 * Decodes input into keys. A marked paste is one key, even if its end marker arrives byte by byte. Unmarked text counts as typed, however
 * much arrives at once: users type ahead, and programs type for them. Terminals without marks send a paste as if it were typed; for them,
 * a chunk with a line break before its end is a paste, never several Enters.
 */
export function createKeyboard(
  onKey: (key: Key) => void,
  { onAnswer, hasMarks = true, escapeMs = 50 }: KeyboardOptions = {},
): Keyboard {
  const decoder = new StringDecoder("utf8");
  let pending = ""; // the beginning of an incomplete sequence
  let isSwallowing = false; // whether an answer is being read that is too long to keep
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
    if (pending !== "" && !isClosed) startTimer();
  }

  function feedPaste(parts: PasteParts, text: string): string {
    // The end of a paste can get lost with a broken connection. Then a lone Ctrl+C after a silence ends it.
    const isStuck = text === "\x03" && parts.isSilent();
    const rest = isStuck ? text : parts.add(text);
    if (rest === undefined) return "";
    paste = undefined;
    emit({ type: "paste", text: parts.text() });
    return rest;
  }

  /** Returns the text after the start of a paste, or an empty string. */
  function feedKeys(chunk: string): string {
    const text = pending + chunk;
    pending = "";
    let at = 0;
    if (isSwallowing) {
      const end = answerEnd(text, 0);
      if (end === -1) {
        if (text.endsWith("\x1b")) pending = "\x1b"; // this may be the first half of the terminator
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

  /** Emits typed or pasted text; control characters in it are keys of their own. */
  function typeRun(run: string): void {
    for (const part of run.split(/([\x00-\x08\x0b\x0c\x0e-\x1f\x7f])/)) {
      if (!hasMarks && isPasted(part)) emit({ type: "paste", text: pastedText(part) });
      // Programs that type end lines with CR LF; users do not press Enter and Ctrl+J at once.
      else for (const character of charactersOf(part.replaceAll("\r\n", "\r"))) emit(typedKey(character));
    }
  }

  function finish(sequence: string): void {
    if (sequence === "\x1b") emit({ type: "key", name: "escape" });
    else if (isAnswer(sequence)) onAnswer?.(sequence);
    else if (/^\x1b[[O]./s.test(sequence)) emit(sequenceKey(sequence));
    else emit(altKey(sequence.slice(1)));
  }

  function startTimer(): void {
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

/** Collects a paste. Only a possible first part of the end marker is scanned again, so the cost is linear. */
class PasteParts {
  readonly #parts: string[] = [];
  #carry = "";
  #lastAt = performance.now();

  /** Returns the text after the paste, or undefined if the paste has not ended. */
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

/** Normalizes line breaks and removes control sequences, such as the colours of copied output. */
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

function* charactersOf(run: string): Iterable<string> {
  if (/^[\x00-\x7f]*$/.test(run)) yield* run;
  else {
    segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
    for (const { segment } of segmenter.segment(run)) yield segment;
  }
}

/** The end of the sequence that begins at `at`; -1 if it is incomplete. */
function sequenceEnd(text: string, at: number): number {
  const kind = text[at + 1];
  if (kind === undefined) return -1;
  if (kind === "\x1b") return at + 1; // this is Escape, followed by another key
  const third = text[at + 2];
  if (kind === "[") return controlSequenceEnd(text, at + 2);
  if (kind === "O") return third === undefined ? -1 : /[ -~]/.test(third) ? at + 3 : at + 2;
  const isAnswerKind = kind === "]" || kind === "P" || kind === "_";
  if (isAnswerKind && third === undefined) return -1;
  // Alt with ], P or _ begins in the same way; only answers continue with these characters.
  if (isAnswerKind && /[0-9>!+|G]/.test(third!)) return answerEnd(text, at + 2);
  return at + 1 + String.fromCodePoint(text.codePointAt(at + 1)!).length;
}

function controlSequenceEnd(text: string, from: number): number {
  // in a legacy mouse report, three bytes follow
  if (text[from] === "M") return text.length >= from + 4 ? from + 4 : -1;
  // in the Linux console, function keys begin like this
  if (text[from] === "[") return text.length > from + 1 ? from + 2 : -1;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0x40 && code <= 0x7e) return at + 1;
    if (code < 0x20 || code > 0x7e) return at; // the sequence was cut off; what follows is something else
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

/**
 * Returns whether a sequence is an answer of the terminal instead of a key: strings, attributes, modes, mouse, and
 * reports of cursor, status and focus.
 */
function isAnswer(sequence: string): boolean {
  return /^\x1b(?:[\]P_].{2}|\[(?:[<=>?]|M.|[IO]$|[\d;]+[Rcnty]$|[\d;?]*\$y$))/s.test(sequence);
}
