// History: what was sent before, in this session and in others, walked through with ↑ and ↓ or searched.
import type { PromptFile, StoredPrompt } from "../../store/prompt-history.ts";
import { expand, type Folded, type FoldedParts, foldedText, label } from "./paste.ts";

/** A message with its folded parts, as the editor had it. */
export type Draft = { text: string; parts: FoldedParts; shell: boolean };

export interface History {
  /** Newest first, each text once. */
  entries(): readonly Draft[];
  add(draft: Draft): void;
}

export type HistoryOptions = {
  file?: PromptFile;
  /** Takes secrets out of what is written to disk. The session itself remembers what was typed. */
  redact(text: string): string;
  /** Told once, with the reason, when nothing can be kept. */
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
      // Read when it is first looked at: starting does not wait for it.
      if (!hasRead) {
        hasRead = true;
        attempt(() => {
          entries = once([...entries, ...(file?.read() ?? []).map(draftOf)]);
        });
      }
      return entries;
    },
    add(draft) {
      if (draft.text.trim() === "") return;
      entries = once([draft, ...entries]);
      // As in a shell: what begins with a blank is not kept.
      if (/^\s/.test(draft.text)) return;
      attempt(() => file?.add(stored(draft, redact)));
    },
  };
}

function once(drafts: readonly Draft[]): Draft[] {
  const seen = new Set<string>();
  return drafts.filter((draft) => {
    const key = `${draft.shell ? "!" : " "}${expand(draft.text, draft.parts).text}`;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

/** Images stay as their label. A secret that only shows where a paste meets its surroundings takes the folds with it. */
function stored({ text, parts, shell }: Draft, redact: (text: string) => string): StoredPrompt {
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

/** A walk through the history: what was there before, and how far back it is. */
export type Walk = { draft: Draft; prefix: string; index: number };

/** The next entry that begins as the text did when the walk began; undefined where there is none. */
export function older(entries: readonly Draft[], walk: Walk): Walk | undefined {
  for (let index = walk.index + 1; index < entries.length; index++)
    if (fits(entries[index]!, walk)) return { ...walk, index };
  return undefined;
}

/** -1: back at the draft. */
export function newer(entries: readonly Draft[], walk: Walk): Walk | undefined {
  if (walk.index < 0) return undefined;
  for (let index = walk.index - 1; index >= 0; index--) if (fits(entries[index]!, walk)) return { ...walk, index };
  return { ...walk, index: -1 };
}

function fits(entry: Draft, { prefix, draft }: Walk): boolean {
  return entry.text.startsWith(prefix) && entry.text !== draft.text && (prefix === "" || entry.shell === draft.shell);
}

const mostFound = 50;

/** Entries that hold every word that is looked for, newest first. */
export function searchHistory(entries: readonly Draft[], query: string): Draft[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found: Draft[] = [];
  for (const entry of entries) {
    const text = expand(entry.text, entry.parts).text.toLowerCase();
    if (words.every((word) => text.includes(word))) found.push(entry);
    if (found.length === mostFound) break;
  }
  return found;
}
