// Session files written for a test, and what was read of them in few words.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readerOf } from "../../src/sdk/sessions/index.ts";
import type { ReadSession } from "../../src/sdk/sessions/session.ts";
import type { UnifiedContent } from "../../src/sdk/unified.ts";

export interface SessionFiles {
  folder: string;
  write(content: string, name?: string): string;
  /** By the reader who recognises it. */
  read(content: string, name?: string): ReadSession;
  remove(): void;
}

export function sessionFiles(): SessionFiles {
  const folder = mkdtempSync(join(tmpdir(), "courser-sessions-"));
  let count = 0;
  const write = (content: string, name = `session-${++count}.jsonl`) => {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  };
  return {
    folder,
    write,
    read(content, name) {
      const file = write(content, name);
      return readerOf(file)!.read(file);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export function lines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}

export function texts(session: ReadSession, of: "messages" | "context" = "messages"): string[] {
  return (session[of] ?? []).map(({ role, content }) => `${role[0]}: ${content.map(word).join(" ")}`);
}

function word(block: UnifiedContent): string {
  if (block.type === "text") return block.text;
  if (block.type === "tool_use") return `${block.name}()`;
  return block.type === "tool_result" ? `=${block.content}` : block.type;
}

export function losses(session: ReadSession): Record<string, number> {
  return Object.fromEntries(session.losses.map(({ kind, count }) => [kind, count]));
}
