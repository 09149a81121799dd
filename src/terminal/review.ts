// What this session changed: by file, or by turn, with the diffs; from there into the editor.
import { shownPath } from "../policy/paths.ts";
import type { App } from "./app.ts";
import type { Change } from "./conversation.ts";
import { editFile } from "./external-editor.ts";
import { nothing, type Painted } from "./painted.ts";
import { diffLines } from "./transcript/diff-lines.ts";

type Picked = { type: "file"; path: string } | { type: "turn"; turn: number } | { type: "all" };

export async function showChanges(app: App): Promise<void> {
  const { changes, request } = app.conversation;
  if (changes.length === 0) return app.say("No edits in this session yet.");
  const shown = (path: string) => shownPath(path, request.workspace);
  const paths = [...new Set(changes.map(({ path }) => path))];
  const turns = [...new Set(changes.map(({ turn }) => turn))];
  let follow: string | undefined;
  let edit: string | undefined;
  const picked = await app.choose<Picked>({
    title: "Changes",
    items: [
      { value: { type: "all" }, label: "everything", note: countsOf(changes) },
      ...paths.map((path) => ({
        value: { type: "file", path } as const,
        label: shown(path),
        note: countsOf(changes.filter((each) => each.path === path)),
      })),
      ...turns.map((turn) => ({
        value: { type: "turn", turn } as const,
        label: `turn ${turn}`,
        note: countsOf(changes.filter((each) => each.turn === turn)),
      })),
    ],
  });
  if (!picked) return;
  const wanted = changes.filter(
    ({ path, turn }) => picked.type === "all" || (picked.type === "file" ? path === picked.path : turn === picked.turn),
  );
  await app.read({
    title: picked.type === "file" ? shown(picked.path) : picked.type === "turn" ? `turn ${picked.turn}` : "everything",
    views: [
      {
        key: "",
        label: "",
        lines: (columns) =>
          wanted.flatMap((change): Painted[] => [
            app.palette.bold(`${shown(change.path)}  (turn ${change.turn})`),
            ...diffLines(change.diff, {
              palette: app.palette,
              rendering: app.rendering,
              width: columns,
              most: 10_000,
              rows: 200,
            }),
            nothing,
          ]),
      },
    ],
    keys: {
      i: {
        help: "follow up",
        press() {
          follow = wanted[0]?.path;
        },
      },
      o: {
        help: "open in editor",
        press() {
          edit = wanted[0]?.path;
        },
      },
    },
  });
  if (edit !== undefined) await editFile(app, edit);
  if (follow !== undefined) app.write(`In @${shown(follow)}: `);
}

function countsOf(changes: readonly Change[]): string {
  const sum = (key: "added" | "removed") => changes.reduce((total, each) => total + each[key], 0);
  return `+${sum("added")} −${sum("removed")}`;
}
