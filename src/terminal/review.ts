// Shows what this session changed, by file or by turn, with diffs; files can be opened in the editor.
import { shownPath } from "../policy/paths.ts";
import type { App } from "./app.ts";
import type { Change } from "./conversation.ts";
import { editFile } from "./external-editor.ts";
import { nothing, type Painted } from "./painted.ts";
import { diffLines } from "./transcript/diff-lines.ts";

type Part = { label: string; changes: readonly Change[] };

/** What the user did to leave a page. */
type Left = "back" | "next" | "previous" | "follow" | "edit";

export async function showChanges(app: App): Promise<void> {
  const { changes, request } = app.conversation;
  if (changes.length === 0) return app.say("No edits in this session yet.");
  const shown = (path: string) => shownPath(path, request.workspace);
  const paths = [...new Set(changes.map(({ path }) => path))];
  const turns = [...new Set(changes.map(({ turn }) => turn))];
  const parts: readonly Part[] = [
    { label: "everything", changes },
    ...paths.map((path) => ({ label: shown(path), changes: changes.filter((each) => each.path === path) })),
    ...turns.map((turn) => ({ label: `turn ${turn}`, changes: changes.filter((each) => each.turn === turn) })),
  ];
  const choose = (selected: number) =>
    app.choose<number>({
      title: "Changes",
      items: parts.map((part, value) => ({ value, label: part.label, note: countChangedLines(part.changes) })),
      selected,
    });
  let at = await choose(0);
  while (at !== undefined) {
    const part = parts[at]!;
    const left = await readPart(app, part, shown);
    const path = part.changes[0]!.path;
    if (left === "edit") return editFile(app, path);
    if (left === "follow") return app.write(`In @${shown(path)}: `);
    if (left === "back") at = await choose(at);
    else at = (at + (left === "next" ? 1 : parts.length - 1)) % parts.length;
  }
}

async function readPart(app: App, { label, changes }: Part, displayPath: (path: string) => string): Promise<Left> {
  let left: Left = "back";
  const leaves = (how: Left, help: string) => ({
    help,
    press() {
      left = how;
    },
  });
  const { palette, rendering } = app;
  await app.read({
    title: `${label}  ${countChangedLines(changes)}`,
    views: [
      {
        key: "",
        label: "",
        lines: (width) =>
          changes.flatMap((change): Painted[] => [
            palette.bold(`${displayPath(change.path)}  (turn ${change.turn})`),
            ...diffLines(change.diff, { path: change.path, palette, rendering, width, most: 10_000, rows: 200 }),
            nothing,
          ]),
      },
    ],
    keys: {
      left: leaves("previous", "previous"),
      right: leaves("next", "next"),
      i: leaves("follow", "follow up"),
      o: leaves("edit", "edit"),
    },
  });
  return left;
}

function countChangedLines(changes: readonly Change[]): string {
  const sum = (key: "added" | "removed") => changes.reduce((total, each) => total + each[key], 0);
  return `+${sum("added")} −${sum("removed")}`;
}
