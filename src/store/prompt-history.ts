// Prompt history: the prompts sent from a terminal in all sessions, in one owner-only file with one JSON object per line. Several
// processes may write at once. Callers must redact secrets before adding a prompt.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject, tryParse } from "../json/object.ts";
import { makeFolder, writePrivate } from "./chats/private-files.ts";
import { withFileLock } from "./file-lock.ts";
import { realPathOrSame, replaceFile } from "./json-file.ts";
import { storeError } from "./sqlite.ts";

/** `pastes` maps placeholder characters in the text to the pasted text. */
export type StoredPrompt = { text: string; shell?: true; pastes?: Record<string, string> };

export interface PromptFile {
  /** Returns the prompts newest first: those of this workspace, then those of others. */
  read(): StoredPrompt[];
  /** Throws a UserError STORE_* if it cannot be saved. */
  add(prompt: StoredPrompt): void;
}

/** The size in bytes above which the older half of the file is removed. */
const maxBytes = 2 * 1024 * 1024;
/** The maximum length of a stored prompt; longer ones are remembered only within the session. */
const longestLine = 256 * 1024;

export function openPromptFile({ configDir, workspace }: { configDir: string; workspace: string }): PromptFile {
  const file = join(configDir, "prompt-history.jsonl");
  const realWorkspace = realPathOrSame(workspace);
  return {
    read() {
      const prompts = completeLines(tailOf(file, maxBytes)).flatMap(parsed).reverse();
      const isOwn = ({ workspace: other }: Line) => other === realWorkspace;
      return [...prompts.filter(isOwn), ...prompts.filter((each) => !isOwn(each))].map(
        ({ workspace: _, at: __, ...prompt }) => prompt,
      );
    },
    add(prompt) {
      const line = `${JSON.stringify({ at: Date.now(), workspace: realWorkspace, ...prompt })}\n`;
      if (line.length > longestLine) return;
      try {
        makeFolder(dirname(file));
        withFileLock(`${file}.lock`, (stillOurs) => {
          writePrivate(file, "a", line);
          if (fileSize(file) <= maxBytes) return;
          const newer = completeLines(tailOf(file, maxBytes / 2));
          replaceFile(file, newer.map((each) => `${each}\n`).join(""), stillOurs);
        });
      } catch (error) {
        throw storeError(error, file);
      }
    },
  };
}

type Line = StoredPrompt & { workspace: string; at?: number };

/** Parses a line of the file. Invalid lines, left by another version or a crash, are skipped. */
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

function completeLines(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

/** Returns the complete lines at the end of a file. */
function tailOf(file: string, bytes: number): string {
  let handle: number;
  try {
    handle = openSync(file, "r");
  } catch {
    return ""; // the file does not exist or cannot be read: the history is empty
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

function fileSize(file: string): number {
  const handle = openSync(file, "r");
  try {
    return fstatSync(handle).size;
  } finally {
    closeSync(handle);
  }
}
