// Writes the output of a background subagent to a file that its parent, or a person, can read.
import { closeSync, writeSync } from "node:fs";
import { join } from "node:path";
import { makeFolder, openPrivate } from "./chats/private-files.ts";

export type SubagentOutput = { path: string; write(text: string): void; close(): void };

export function subagentOutput(configDir: string, id: string): string {
  return join(configDir, "subagents", `${id}.md`);
}

/** Opens the output file of a subagent. A failed write does not stop it, since its chat has the whole output. */
export function openSubagentOutput(configDir: string, id: string): SubagentOutput {
  const path = subagentOutput(configDir, id);
  let handle: number | undefined;
  const guarded = (work: () => void) => {
    try {
      work();
    } catch {
      handle = undefined;
    }
  };
  guarded(() => {
    makeFolder(join(configDir, "subagents"));
    handle = openPrivate(path, "a");
  });
  return {
    path,
    write: (text) => guarded(() => handle !== undefined && writeSync(handle, text)),
    close: () =>
      guarded(() => {
        if (handle !== undefined) closeSync(handle);
        handle = undefined;
      }),
  };
}
