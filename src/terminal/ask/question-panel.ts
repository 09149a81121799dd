// A question as a menu: what is asked stands above, below it the answers, one of them marked. Arrows and Enter choose, letters too.
import { counted } from "../../view/numbers.ts";
import type { Desk } from "../desk.ts";
import { blanks, cut, join, nothing, type Painted, widthOf, wrap } from "../painted.ts";
import { createPanel, type OpenedPanel } from "../panels/panel.ts";
import { bodyIndent } from "../transcript/card.ts";

export type Choice<Result> = {
  key: string;
  /** What pressing it does. */
  label: string;
  /** The label where there is little room. */
  brief?: string;
  /** Further keys for the same. */
  also?: readonly string[];
  /** What the question is closed with; or what else happens, and the question stays. */
  result?: Result;
  press?(): void;
  /** It opens the whole of what is asked. */
  showsAll?: boolean;
  /** In the row of the choice before it, where there is room. */
  isBeside?: boolean;
};

/** Of the window: the rule and the blank above a question, the footer, and the row that stays free. */
export const frameRows = 4;

/** The conversation above a question keeps so many rows, or half of a window that has fewer. */
const keptRows = 10;

/** Which way each key moves the mark of a menu. */
export const menuMoves: Readonly<Record<string, 1 | -1>> = {
  up: -1,
  left: -1,
  "shift+tab": -1,
  "ctrl+p": -1,
  down: 1,
  right: 1,
  tab: 1,
  "ctrl+n": 1,
};

export type KeyQuestion<Result> = {
  /** The lines of what is asked, for this width: shown whole where the window can. */
  body(columns: number): readonly Painted[];
  /** What belongs to it and may be cut: a diff, a plan. */
  more?(columns: number): readonly Painted[];
  choices: readonly Choice<Result>[];
  /** The key of the choice that is marked at first; the first one unless told. */
  marked?: string;
};

/** Undefined: Esc, or nobody waits for the answer any more. */
export async function askByKey<Result>(
  desk: Desk,
  signal: AbortSignal,
  { body, more = () => [], choices, marked }: KeyQuestion<Result>,
): Promise<Result | undefined> {
  const { palette } = desk;
  let at = Math.max(
    0,
    choices.findIndex(({ key }) => key === marked),
  );
  const opened = createPanel<Result>((close) => {
    const take = (chosen: Choice<Result>) => (chosen.press ? chosen.press() : close(chosen.result));
    return {
      isQuestion: true,
      view({ columns, rows }) {
        const asked = body(columns - 1).map((line) => cut(line, columns - 1));
        const extra = more(columns - 1).map((line) => cut(line, columns - 1));
        const most = Math.max(rows - keptRows, rows >> 1) - 2;
        const wide = [nothing, ...choiceRows(choices, at, desk, columns)];
        // What is asked comes first: where both do not fit, the choices stand closer.
        const keys = asked.length + wide.length > most ? choicesInRow(choices, at, desk, columns) : wide;
        const room = Math.max(1, rows - keys.length - frameRows);
        const lines = [...asked.slice(0, room), ...extra].slice(0, Math.max(asked.length, most - keys.length));
        const left = asked.length + extra.length - Math.min(lines.length, room);
        if (left > 0) {
          const all = choices.find(({ showsAll }) => showsAll)?.key;
          const told = `… ${counted(left + 1, "more line")}${all === undefined ? "" : ` · ${all} shows all`}`;
          lines.splice(
            Math.min(lines.length, room) - 1,
            lines.length,
            join(blanks(bodyIndent(columns)), palette.soft(told)),
          );
        }
        return { lines: [...lines, ...keys] };
      },
      press(key) {
        if (key.type === "paste") return;
        const chosen = choices.find((each) => [key.name, key.text].includes(each.key) || each.also?.includes(key.name));
        const move = menuMoves[key.name];
        if (chosen) take(chosen);
        else if (move) at = (at + move + choices.length) % choices.length;
        else if (key.name === "enter") take(choices[at]!);
        else if (key.name === "escape" || key.name === "ctrl+c") close(undefined);
      },
    };
  });
  return openUntil(signal, opened, desk);
}

/** The answer; undefined where the question is called off. */
export async function openUntil<Result>(
  signal: AbortSignal,
  opened: OpenedPanel<Result>,
  desk: Desk,
): Promise<Result | undefined> {
  const off = () => opened.panel.cancel();
  signal.addEventListener("abort", off, { once: true });
  try {
    return await desk.open(opened);
  } finally {
    signal.removeEventListener("abort", off);
  }
}

/** One below the other; those that belong together beside each other, where the window is wide enough. */
function choiceRows(choices: readonly Choice<unknown>[], at: number, { palette }: Desk, columns: number): Painted[] {
  const left = blanks(Math.max(0, bodyIndent(columns) - 2));
  const rows: Painted[] = [];
  for (const [index, { key, label, isBeside }] of choices.entries()) {
    const isMarked = index === at;
    const text = join(
      isMarked ? palette.accent("› ") : blanks(2),
      palette.both("bold", "accent")(key),
      (isMarked ? palette.bold : palette.plain)(`  ${label}`),
    );
    const before = rows.at(-1);
    const beside = isBeside && before !== undefined ? join(before, blanks(3), text) : undefined;
    if (beside !== undefined && widthOf(beside) < columns) rows[rows.length - 1] = beside;
    else rows.push(...wrap(join(left, text), columns - 1, blanks(widthOf(left) + 5)));
  }
  return rows;
}

/** One behind the other, for a window with few rows. */
function choicesInRow(choices: readonly Choice<unknown>[], at: number, { palette }: Desk, columns: number): Painted[] {
  const row = choices.map(({ key, label, brief = label }, index) => {
    const isMarked = index === at;
    const sign = isMarked ? palette.accent("› ") : index === 0 ? blanks(2) : palette.soft("· ");
    return join(sign, palette.both("bold", "accent")(key), (isMarked ? palette.bold : palette.plain)(` ${brief}`));
  });
  return wrap(join(...row.map((text, index) => (index === 0 ? text : join(blanks(1), text)))), columns - 1, blanks(2));
}
