// A question with a few keys: what is asked stands above, each key and what it means below.
import type { Desk } from "../desk.ts";
import { blanks, cut, join, nothing, type Painted, padded, widthOf, wrap } from "../painted.ts";
import { createPanel } from "../panels/panel.ts";

export type Choice<Result> = {
  key: string;
  /** What pressing it does. */
  label: string;
  /** Further keys for the same. */
  also?: readonly string[];
  /** What the question is closed with; or what else happens, and the question stays. */
  result?: Result;
  press?(): void;
};

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
      const keys = choiceLines(choices, desk, columns);
      const asked = body(columns - 1).map((line) => cut(line, columns - 1));
      const room = Math.max(1, rows - keys.length - 5);
      const left = asked.length - room;
      const shown = left > 0 ? [...asked.slice(0, room - 1), palette.soft(`         … ${left + 1} more lines`)] : asked;
      return { lines: [...shown, nothing, ...keys] };
    },
    press(key) {
      if (key.type === "paste") return;
      const chosen = choices.find((each) => each.key === key.name || each.also?.includes(key.name));
      if (chosen?.press) chosen.press();
      else if (chosen) close(chosen.result);
      else if (key.name === "escape" || key.name === "ctrl+c") close(undefined);
    },
  }));
  const off = () => opened.panel.cancel();
  signal.addEventListener("abort", off, { once: true });
  try {
    return await desk.open(opened);
  } finally {
    signal.removeEventListener("abort", off);
  }
}

const indent = 9;

/** Three, two or one beside each other, each column as wide as it must be. */
function choiceLines(choices: readonly Choice<unknown>[], { palette }: Desk, columns: number): Painted[] {
  const texts = choices.map(({ key, label }) => join(palette.both("bold", "accent")(key), palette.plain(`  ${label}`)));
  const left = blanks(Math.min(indent, columns >> 2));
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
