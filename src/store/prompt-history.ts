// Prompt history: what was sent from a terminal, for all sessions, in one file that only its owner can read. One JSON object a
// line; several processes may write at once. What looks like a secret is taken out before anything is written.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject, tryParse } from "../json/object.ts";
import { makeFolder, writePrivate } from "./chats/private-files.ts";
import { withFileLock } from "./file-lock.ts";
import { realOf, replaceFile } from "./json-file.ts";
import { storeError } from "./sqlite.ts";

/** `pastes`: folded characters of the text, and what they stand for. */
export type StoredPrompt = { text: string; shell?: true; pastes?: Record<string, string> };

export interface PromptFile {
  /** Newest first: those of this workspace, then those of others. */
  read(): StoredPrompt[];
  /** Throws UserError STORE_* where it cannot be kept. */
  add(prompt: StoredPrompt): void;
}

/** When the file is longer than this, its older half goes. */
const mostBytes = 2 * 1024 * 1024;
/** A longer message is remembered by its session alone. */
const longestLine = 256 * 1024;

export function openPromptFile({ configDir, workspace }: { configDir: string; workspace: string }): PromptFile {
  const file = join(configDir, "prompt-history.jsonl");
  const own = realOf(workspace);
  return {
    read() {
      const prompts = linesOf(tailOf(file, mostBytes)).flatMap(parsed).reverse();
      const isOwn = ({ workspace: other }: Line) => other === own;
      return [...prompts.filter(isOwn), ...prompts.filter((each) => !isOwn(each))].map(
        ({ workspace: _, at: __, ...prompt }) => prompt,
      );
    },
    add(prompt) {
      const line = `${JSON.stringify({ at: Date.now(), workspace: own, ...prompt })}\n`;
      if (line.length > longestLine) return;
      try {
        makeFolder(dirname(file));
        withFileLock(`${file}.lock`, (stillOurs) => {
          writePrivate(file, "a", line);
          if (sizeOf(file) <= mostBytes) return;
          const newer = linesOf(tailOf(file, mostBytes / 2));
          replaceFile(file, newer.map((each) => `${each}\n`).join(""), stillOurs);
        });
      } catch (error) {
        throw storeError(error, file);
      }
    },
  };
}

type Line = StoredPrompt & { workspace: string; at?: number };

/** What another version or a crash left there is passed over. */
function parsed(line: string): Line[] {
  const value = tryParse(line);
  if (!isObject(value) || typeof value["text"] !== "string" || typeof value["workspace"] !== "string") return [];
  const pastes = isObject(value["pastes"])
    ? Object.fromEntries(
        Object.entries(value["pastes"]).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
      )
    : undefined;
  return [
    {
      text: value["text"],
      workspace: value["workspace"],
      ...(value["shell"] === true ? { shell: true } : {}),
      ...(pastes ? { pastes } : {}),
    },
  ];
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

/** The whole lines at the end of a file. */
function tailOf(file: string, bytes: number): string {
  let handle: number;
  try {
    handle = openSync(file, "r");
  } catch {
    return ""; // not written yet, or not ours to read: a history without a past
  }
  try {
    const { size } = fstatSync(handle);
    const start = Math.max(0, size - bytes);
    const buffer = Buffer.alloc(size - start);
    const length = readSync(handle, buffer, 0, buffer.length, start);
    const text = buffer.toString("utf8", 0, length);
    return start === 0 ? text : text.slice(text.indexOf("\n") + 1);
  } finally {
    closeSync(handle);
  }
}

function sizeOf(file: string): number {
  const handle = openSync(file, "r");
  try {
    return fstatSync(handle).size;
  } finally {
    closeSync(handle);
  }
}
