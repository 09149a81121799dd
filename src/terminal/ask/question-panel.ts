// Renders a question as a menu: the question above, the answers below, one of them marked. Arrows and Enter choose, as do letters.
import { counted } from "../../view/numbers.ts";
import type { Desk } from "../desk.ts";
import { blanks, cut, join, nothing, type Painted, type Palette, widthOf, wrap } from "../painted.ts";
import { createPanel, type OpenedPanel } from "../panels/panel.ts";
import { bodyIndent } from "../transcript/card.ts";

export type Choice<Result> = {
  key: string;
  /** A description of what the choice does. */
  label: string;
  /** A shorter label, used in narrow windows. */
  brief?: string;
  /** Additional keys that select this choice. */
  also?: readonly string[];
  /** `result` closes the question; `press` runs and leaves it open. */
  result?: Result;
  press?(): void;
  /** Whether this choice opens the full text of the question. */
  showsAll?: boolean;
  /** Whether to show the choice in the row of the previous one if there is room. */
  isBeside?: boolean;
};

/** Rows of the window used around a question: the rule and the blank above it, the footer, and the row that stays free. */
export const frameRows = 4;

/** How many rows of the conversation stay visible above a question; in a low window, half of its rows. */
const keptRows = 10;

/** How many lines of a diff or a plan are worth several answers in one row. */
const leastShown = 3;

/** The direction in which each key moves the selection of a menu. */
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
  /** Returns the lines of the question for this width. They are shown whole if the window is high enough. */
  body(columns: number): readonly Painted[];
  /** Returns supporting lines that may be cut, such as a diff or a plan. */
  more?(columns: number): readonly Painted[];
  choices: readonly Choice<Result>[];
  /** The key of the choice marked initially; the first choice by default. */
  marked?: string;
  /** The choice that Esc selects; `no` by default. */
  onEscape?: string;
};

/** Shows a question that the user answers with a key. Returns undefined if the user pressed Esc or the question was aborted. */
export async function askByKey<Result>(
  desk: Desk,
  signal: AbortSignal,
  { body, more = () => [], choices, marked, onEscape = "no" }: KeyQuestion<Result>,
): Promise<Result | undefined> {
  const { palette } = desk;
  const first = choices.findIndex(({ key }) => key === marked);
  let at = Math.max(0, first);
  const opened = createPanel<Result>((close) => {
    const take = (chosen: Choice<Result>) => (chosen.press ? chosen.press() : close(chosen.result));
    return {
      isQuestion: true,
      keys: `↑↓ enter · esc: ${onEscape}`,
      view({ columns, rows }) {
        const asked = body(columns - 1).map((line) => cut(line, columns - 1));
        const extra = more(columns - 1).map((line) => cut(line, columns - 1));
        const most = Math.max(rows - keptRows, rows >> 1) - 2;
        // The question takes precedence: where not all fits, several choices share a row, and become shorter.
        const layouts = ([0, 1, 2] as const).map((tightness) =>
          choiceRows(choices, at, { palette, columns, tightness }),
        );
        const fitting = (wanted: number) => layouts.find((each) => asked.length + wanted + each.length <= most);
        const keys = fitting(Math.min(extra.length, leastShown)) ?? fitting(0) ?? layouts[2]!;
        const room = Math.max(1, rows - keys.length - frameRows);
        const lines = [...asked.slice(0, room), ...extra].slice(0, Math.max(asked.length, most - keys.length));
        const total = asked.length + extra.length;
        if (total > Math.min(lines.length, room)) {
          const end = Math.max(Math.min(lines.length, room) - 1, Math.min(asked.length, room - 1));
          const all = choices.find(({ showsAll }) => showsAll)?.key;
          const moreLine = `… ${counted(total - end, "more line")}${all === undefined ? "" : ` · ${all} shows all`}`;
          lines.splice(end, lines.length, join(blanks(bodyIndent(columns)), palette.soft(moreLine)));
        }
        return { lines: [...lines, ...keys] };
      },
      press(key) {
        if (key.type === "paste") return false;
        const chosen = choices.find((each) => [key.name, key.text].includes(each.key) || each.also?.includes(key.name));
        const move = menuMoves[key.name];
        if (chosen) return take(chosen);
        if (key.name === "enter") return take(choices[at]!);
        if (key.name === "escape" || key.name === "ctrl+c") return close(undefined);
        if (!move) return false;
        at = (at + move + choices.length) % choices.length;
      },
    };
  });
  return openUntil(signal, opened, desk);
}

/** Returns the answer, or undefined if `signal` aborts the question. */
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

/**
 * Lays out the choices: one per row below a blank one; or as many in a row as fit; or also without what follows a colon, which is
 * shown again before it is saved.
 */
function choiceRows(
  choices: readonly Choice<unknown>[],
  at: number,
  { palette, columns, tightness }: { palette: Palette; columns: number; tightness: 0 | 1 | 2 },
): Painted[] {
  const isTight = tightness > 0;
  const left = blanks(isTight ? 0 : bodyIndent(columns) - 2);
  const rows: Painted[] = isTight ? [] : [nothing];
  /** Whether the next choice may share a row with the previous one. Not after a choice of several rows. */
  let mayShare = false;
  for (const [index, { key, label, brief = label, isBeside }] of choices.entries()) {
    const isMarked = index === at;
    const name = isMarked ? palette.both("bold", "accent") : palette.plain;
    const text = join(
      isMarked ? palette.accent("› ") : blanks(2),
      palette.both("bold", "accent")(key),
      name(`  ${[label, brief, brief.replace(/:.*/, "")][tightness]}`),
    );
    const beside = mayShare && (isBeside || isTight) ? join(rows.at(-1)!, blanks(isTight ? 1 : 3), text) : undefined;
    if (beside !== undefined && widthOf(beside) < columns) rows[rows.length - 1] = beside;
    else {
      const wrapped = wrap(join(left, text), columns - 1, blanks(widthOf(left) + 5));
      rows.push(...wrapped);
      mayShare = wrapped.length === 1;
    }
  }
  return rows;
}
