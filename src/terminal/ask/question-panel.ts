// A question with a few keys: what is asked stands above, each key and what it means below.
import { counted } from "../../view/numbers.ts";
import type { Desk } from "../desk.ts";
import { blanks, cut, join, nothing, type Painted, padded, widthOf, wrap } from "../painted.ts";
import { createPanel, type OpenedPanel } from "../panels/panel.ts";
import { bodyIndent } from "../transcript/card.ts";

export type Choice<Result> = {
  key: string;
  /** What pressing it does. */
  label: string;
  /** Further keys for the same. */
  also?: readonly string[];
  /** What the question is closed with; or what else happens, and the question stays. */
  result?: Result;
  press?(): void;
  /** It opens the whole of what is asked. */
  showsAll?: boolean;
};

/** Of the window: the rule and the blank above a question, the footer, and the row that stays free. */
export const frameRows = 4;

export type KeyQuestion<Result> = {
  /** The lines of what is asked, for this width. */
  body(columns: number): readonly Painted[];
  choices: readonly Choice<Result>[];
};

/** Undefined: Esc, or nobody waits for the answer any more. */
export async function askByKey<Result>(
  desk: Desk,
  signal: AbortSignal,
  { body, choices }: KeyQuestion<Result>,
): Promise<Result | undefined> {
  const { palette } = desk;
  const opened = createPanel<Result>((close) => ({
    isQuestion: true,
    view({ columns, rows }) {
      const asked = body(columns - 1).map((line) => cut(line, columns - 1));
      const wide = [nothing, ...choiceLines(choices, desk, columns)];
      // What is asked comes first: where both do not fit, the keys stand closer.
      const keys = asked.length + wide.length > rows - frameRows ? choicesInRow(choices, desk, columns) : wide;
      const room = Math.max(1, rows - keys.length - frameRows);
      const left = asked.length - room;
      const all = choices.find(({ showsAll }) => showsAll)?.key;
      const more = `… ${counted(left + 1, "more line")}${all === undefined ? "" : ` · ${all} shows all`}`;
      const shown =
        left > 0 ? [...asked.slice(0, room - 1), join(blanks(bodyIndent(columns)), palette.soft(more))] : asked;
      return { lines: [...shown, ...keys] };
    },
    press(key) {
      if (key.type === "paste") return;
      const chosen = choices.find((each) => each.key === key.name || each.also?.includes(key.name));
      if (chosen?.press) chosen.press();
      else if (chosen) close(chosen.result);
      else if (key.name === "escape" || key.name === "ctrl+c") close(undefined);
    },
  }));
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

/** Three, two or one beside each other, each column as wide as it must be. */
function choiceLines(choices: readonly Choice<unknown>[], { palette }: Desk, columns: number): Painted[] {
  const texts = choices.map(({ key, label }) => join(palette.both("bold", "accent")(key), palette.plain(`  ${label}`)));
  const left = blanks(bodyIndent(columns));
  const room = columns - 1 - widthOf(left);
  for (const count of [3, 2]) {
    const widths = Array.from({ length: count }, (_, column) =>
      Math.max(0, ...texts.filter((_text, index) => index % count === column).map((text) => widthOf(text) + 4)),
    );
    if (widths.reduce((sum, width) => sum + width, 0) - 4 > room) continue;
    const rows = Array.from({ length: Math.ceil(texts.length / count) }, (_, row) =>
      texts.slice(row * count, (row + 1) * count).map((text, column) => padded(text, widths[column]!)),
    );
    return rows.map((row) => cut(join(left, ...row), columns - 1));
  }
  return texts.flatMap((text) => wrap(join(left, text), columns - 1, left));
}

/** One behind the other, for a window with few rows. */
function choicesInRow(choices: readonly Choice<unknown>[], { palette }: Desk, columns: number): Painted[] {
  const texts = choices.map(({ key, label }) => join(palette.both("bold", "accent")(key), palette.plain(` ${label}`)));
  const row = texts.reduce((left, text) => join(left, palette.soft(" · "), text));
  return wrap(join(blanks(2), row), columns - 1, blanks(2));
}
