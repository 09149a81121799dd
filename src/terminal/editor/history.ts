// History: prompts sent in this and earlier sessions, browsed with ↑ and ↓ or searched.
import type { PromptFile, StoredPrompt } from "../../store/prompt-history.ts";
import { expand, type Folded, type FoldedParts, foldedText, label } from "./paste.ts";

/** A message with its folded parts, as it was in the editor. */
export type Draft = { text: string; parts: FoldedParts; shell: boolean };

export interface History {
  /** Returns the entries newest first, without duplicates. */
  entries(): readonly Draft[];
  add(draft: Draft): void;
}

export type HistoryOptions = {
  file?: PromptFile;
  /** Removes secrets from what is written to disk. The history in memory keeps the text as typed. */
  redact(text: string): string;
  /** Called once, with the error, if the history file cannot be read or written. */
  onProblem?(error: unknown): void;
};

export function createHistory({ file, redact, onProblem }: HistoryOptions): History {
  let entries: Draft[] = [];
  let hasRead = false;
  let hasFailed = false;

  function attempt(work: () => void): void {
    if (hasFailed) return;
    try {
      work();
    } catch (error) {
      hasFailed = true;
      onProblem?.(error);
    }
  }

  return {
    entries() {
      // Read the history file when it is first used, so that startup does not wait for it.
      if (!hasRead) {
        hasRead = true;
        attempt(() => {
          entries = withoutRepeats([...entries, ...(file?.read() ?? []).map(draftOf)]);
        });
      }
      return entries;
    },
    add(draft) {
      if (draft.text.trim() === "") return;
      entries = withoutRepeats([draft, ...entries]);
      // Like in a shell, do not save text that begins with a blank.
      if (/^\s/.test(draft.text)) return;
      attempt(() => file?.add(toStoredPrompt(draft, redact)));
    },
  };
}

function withoutRepeats(drafts: readonly Draft[]): Draft[] {
  const seen = new Set<string>();
  return drafts.filter((draft) => {
    const key = `${draft.shell ? "!" : " "}${expand(draft.text, draft.parts).text}`;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

/** Images are stored as their label. If a secret spans the border of a paste, the text is stored expanded, so that it can be redacted. */
function toStoredPrompt({ text, parts, shell }: Draft, redact: (text: string) => string): StoredPrompt {
  const images = [...parts].filter(([, part]) => part.type === "image");
  const withoutImages = images.reduce((kept, [character, part]) => kept.replaceAll(character, label(part)), text);
  const pastes = new Map<string, Folded>();
  for (const [character, part] of parts)
    if (part.type === "text") pastes.set(character, foldedText(redact(part.text), part.number));
  const kept = redact(withoutImages);
  const whole = redact(expand(withoutImages, parts).text);
  const mode = shell ? { shell: true as const } : {};
  if (pastes.size === 0 || expand(kept, pastes).text !== whole) return { text: whole, ...mode };
  const texts = [...pastes].map(([character, part]) => [character, part.type === "text" ? part.text : ""]);
  return { text: kept, ...mode, pastes: Object.fromEntries(texts) };
}

function draftOf({ text, shell, pastes = {} }: StoredPrompt): Draft {
  const parts = Object.entries(pastes).map(([character, paste], index): [string, Folded] => [
    character,
    foldedText(paste, index + 1),
  ]);
  return { text, shell: shell === true, parts: new Map(parts) };
}

/** A walk through the history: the draft it started from, and the current position. */
export type Walk = { draft: Draft; prefix: string; index: number };

/** Moves to the next older entry with the same prefix. Returns undefined if there is none. */
export function olderEntry(entries: readonly Draft[], walk: Walk): Walk | undefined {
  for (let index = walk.index + 1; index < entries.length; index++)
    if (matchesPrefix(entries[index]!, walk)) return { ...walk, index };
  return undefined;
}

/** Moves to the next newer entry with the same prefix; index -1 is the draft. */
export function newerEntry(entries: readonly Draft[], walk: Walk): Walk | undefined {
  if (walk.index < 0) return undefined;
  for (let index = walk.index - 1; index >= 0; index--)
    if (matchesPrefix(entries[index]!, walk)) return { ...walk, index };
  return { ...walk, index: -1 };
}

function matchesPrefix(entry: Draft, { prefix, draft }: Walk): boolean {
  return entry.text.startsWith(prefix) && entry.text !== draft.text && (prefix === "" || entry.shell === draft.shell);
}

const maxFound = 50;

/** Returns entries that contain every word of the query, newest first. */
export function searchHistory(entries: readonly Draft[], query: string): Draft[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found: Draft[] = [];
  for (const entry of entries) {
    const text = expand(entry.text, entry.parts).text.toLowerCase();
    if (words.every((word) => text.includes(word))) found.push(entry);
    if (found.length === maxFound) break;
  }
  return found;
}
