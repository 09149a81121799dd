// Tables of what is read from files that people write: the files are made below a home of their own, and what is read is one row each.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";

const base = realpathSync(mkdtempSync(join(tmpdir(), "courser-read-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));

export type Files = Record<string, unknown>;
export type Place = { home: string; configDir: string; workspace: string };
let count = 0;

/** `files`: below a new home with the project ~/work; a value that is no text is JSON. Plain objects are lines of JSON. */
export function placed(files: Files): Place {
  const home = join(base, `home-${++count}`);
  mkdirSync(join(home, "work", ".git"), { recursive: true });
  mkdirSync(join(home, ".cursor"));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  return { home, configDir: join(home, ".cursor"), workspace: join(home, "work") };
}

/** The lines of one row: what `work` returns, or why it fails. */
export function rowOf(title: string, place: Place, work: () => unknown): string[] {
  const lines = (value: unknown): string[] =>
    Array.isArray(value) ? value.flatMap(lines) : [typeof value === "string" ? value : JSON.stringify(value)];
  let found: string[];
  try {
    found = lines(work());
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    found = [`${code ?? (error as Error).constructor.name}: ${message}`];
  }
  return [title, ...found.map((line) => `  ${line.replaceAll(place.home, "~").replaceAll("\n", "⏎")}`)];
}
export const shortly = (content: unknown) =>
  typeof content === "string" ? content.replaceAll("\n", "⏎") : JSON.stringify(content);
export const warned = (warnings: readonly string[]) => warnings.map((warning) => `warning: ${warning}`);
