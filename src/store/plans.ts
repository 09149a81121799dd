// Saves the plans of plan mode as Markdown files in the configuration directory.
import { dirname, join } from "node:path";
import { makeFolder, writePrivate } from "./chats/private-files.ts";
import { randomUuid } from "./chats/random-uuid.ts";
import { storeError } from "./sqlite.ts";

export type PlanTodo = { id: string; content: string };

export type SavedPlan = { name: string; overview: string; text: string; todos: readonly PlanTodo[] };

/** Returns the path for a new plan file. Each call returns a different one. */
export function planFile(configDir: string, name: string): string {
  const words = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "");
  return join(configDir, "plans", `${[...words].slice(0, 40).join("") || "plan"}-${randomUuid().slice(0, 8)}.plan.md`);
}

/** Saves a plan as Markdown with front matter. Throws a UserError STORE_* if it cannot be saved. */
export function keepPlan(file: string, { name, overview, text, todos }: SavedPlan): void {
  const fields = [
    "---",
    `name: ${JSON.stringify(name)}`,
    `overview: ${JSON.stringify(overview)}`,
    `todos:${todos.length === 0 ? " []" : ""}`,
    ...todos.flatMap(({ id, content }) => [
      `  - id: ${JSON.stringify(id)}`,
      `    content: ${JSON.stringify(content)}`,
      "    status: pending",
    ]),
    "---",
  ];
  try {
    makeFolder(dirname(file));
    writePrivate(file, "wx", `${fields.join("\n")}\n\n${text.trim()}\n`);
  } catch (error) {
    throw storeError(error, file);
  }
}
