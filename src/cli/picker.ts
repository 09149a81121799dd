// Choosing one line of a list on a terminal: arrow keys, typing narrows the list. A terminal that cannot do that gets numbers.
import { UserError } from "../protocol/error-codes.ts";
import { cut } from "../text/width.ts";

export type Choice = {
  /** One line; cut where the terminal ends. */
  text: string;
  /** What is typed is looked for here. */
  words: string;
};

/** The number of the choice, from 0; undefined when nothing was chosen. */
export async function pick(
  choices: readonly Choice[],
  question: string,
  env: NodeJS.ProcessEnv,
): Promise<number | undefined> {
  const capable = env["TERM"] !== "dumb" && process.stdout.columns >= 20 && process.stdout.rows >= 4;
  return capable ? pickByKeys(choices, question) : pickByNumber(choices, question);
}

export type PickerState = {
  filter: string;
  /** Which of the lines that are left is chosen, and which of them is the first in sight. */
  selected: number;
  first: number;
};

/** What one key makes of the state. `height`: how many lines are in sight. */
export function press(state: PickerState, key: string, left: number, height: number): PickerState {
  const [, move] = moves.find(([keys]) => keys.includes(key)) ?? [];
  if (move) {
    const selected = Math.max(0, Math.min(left - 1, state.selected + move(height)));
    const first = Math.max(selected - height + 1, Math.min(state.first, selected), 0);
    return { ...state, selected, first };
  }
  if (key === "\x7f" || key === "\b") return narrowed([...state.filter].slice(0, -1).join(""));
  if (key === "\x15") return narrowed("");
  if (key === "\x17") return narrowed(state.filter.replace(/\S+\s*$/, ""));
  if (key.length > 0 && !/[\x00-\x1f]/.test(key)) return narrowed(state.filter + key);
  return state;
}

export function matching(choices: readonly Choice[], filter: string): number[] {
  const wanted = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return [...choices.keys()].filter((index) => {
    const words = choices[index]!.words.toLowerCase();
    return wanted.every((word) => words.includes(word));
  });
}

/** A burst of keys, one by one: sequences of the arrow keys stay whole, the marks around a paste go. */
export function keysIn(burst: string): string[] {
  return burst.replace(/\x1b\[20[01]~/g, "").match(/\x1b\[[0-9;]*[~A-Za-z]|\x1bO[A-Za-z]|[\s\S]/gu) ?? [];
}

function narrowed(filter: string): PickerState {
  return { filter, selected: 0, first: 0 };
}

/** How many lines each key moves. */
const moves: readonly (readonly [keys: readonly string[], lines: (height: number) => number])[] = [
  [["\x1b[A", "\x1bOA", "\x10"], () => -1],
  [["\x1b[B", "\x1bOB", "\x0e", "\t"], () => 1],
  [["\x1b[5~"], (height) => -height],
  [["\x1b[6~"], (height) => height],
  [["\x1b[H", "\x1bOH", "\x1b[1~"], () => Number.NEGATIVE_INFINITY],
  [["\x1b[F", "\x1bOF", "\x1b[4~"], () => Number.POSITIVE_INFINITY],
];

async function pickByKeys(choices: readonly Choice[], question: string): Promise<number | undefined> {
  const { stdin, stdout } = process;
  let state = narrowed("");
  let left = matching(choices, "");
  const height = () => Math.max(1, Math.min(stdout.rows - 3, 15));
  const draw = () => stdout.write(screenOf({ choices, left, state, question, height: height() }, stdout.columns));
  const keyboard = openKeyboard();
  stdout.on("resize", draw);
  draw();
  try {
    while (true) {
      const keys = keysIn(await keyboard.next());
      for (const [index, key] of keys.entries()) {
        if (key === "\x03") throw new UserError("INTERRUPTED", "Interrupted; nothing was chosen.");
        if (key === "\x04" || key === "\x1b") return undefined;
        if (key === "\r" || key === "\n") {
          if (left.length === 0) continue;
          // What was typed ahead is for whoever asks next.
          const rest = keys.slice(index + 1).join("");
          if (rest !== "") stdin.unshift(rest);
          return left[state.selected];
        }
        state = press(state, key, left.length, height());
        left = matching(choices, state.filter);
      }
      draw();
    }
  } finally {
    stdout.off("resize", draw);
    keyboard.close();
    stdout.write("\r\x1b[J");
  }
}

type View = {
  choices: readonly Choice[];
  left: readonly number[];
  state: PickerState;
  question: string;
  height: number;
};

/** Drawn over what was there: the cursor always waits behind the filter in the first line. */
function screenOf({ choices, left, state, question, height }: View, columns: number): string {
  const room = columns - 1;
  const asked = cut(`${question} ${state.filter}`, room);
  const shown = left.slice(state.first, state.first + height);
  const lines = shown.map((index, at) => {
    const line = cut(`  ${choices[index]!.text}`, room);
    return state.first + at === state.selected ? `\x1b[7m>${line.slice(1)}\x1b[m` : line;
  });
  if (lines.length === 0) lines.push("  no matches");
  const counted = left.length === choices.length ? `${left.length}` : `${left.length} of ${choices.length}`;
  lines.push(cut(`  ${counted} · ↑↓ move, type to narrow, Enter selects, Esc quits`, room));
  return `\r\x1b[J${asked}\r\n${lines.join("\r\n")}\x1b[${lines.length}A\r${asked}`;
}

/** After a lone escape byte: how long the rest of an arrow key may take, on a slow line. */
const escapeMs = 50;

/** The keys as they are typed, bursts as they come. At the end of input: Ctrl+D. */
function openKeyboard(): { next(): Promise<string>; close(): void } {
  const { stdin } = process;
  let typed = "";
  let wake = () => {};
  const onData = (chunk: string | Buffer) => {
    typed += chunk.toString();
    wake();
  };
  const onEnd = () => onData("\x04");
  stdin.setRawMode(true);
  stdin.setEncoding("utf8");
  stdin.on("data", onData).on("end", onEnd).on("error", onEnd).resume();
  const more = (limitMs?: number) =>
    new Promise<void>((resolve) => {
      const timer = limitMs === undefined ? undefined : setTimeout(resolve, limitMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  return {
    async next() {
      if (typed === "") await more();
      if (typed.endsWith("\x1b")) await more(escapeMs);
      const burst = typed;
      typed = "";
      return burst;
    },
    close() {
      stdin.off("data", onData).off("end", onEnd).off("error", onEnd).pause();
      stdin.setRawMode(false);
    },
  };
}

/** Longer lists are narrowed by other means than reading them. */
const mostNumbers = 30;

async function pickByNumber(choices: readonly Choice[], question: string): Promise<number | undefined> {
  const { promptShown } = await import("./prompt-hidden.ts");
  const { writeStderr } = await import("./stdout.ts");
  const shown = choices.slice(0, mostNumbers);
  for (const [index, { text }] of shown.entries()) writeStderr(`${String(index + 1).padStart(4)}  ${text}\n`);
  if (shown.length < choices.length) writeStderr(`      … and ${choices.length - shown.length} older ones\n`);
  while (true) {
    const typed = (await promptShown(`${question} Number, or Enter to quit: `)).trim();
    if (typed === "") return undefined;
    if (/^\d+$/.test(typed) && choices[Number(typed) - 1]) return Number(typed) - 1;
    writeStderr(`'${typed}' is not in the list.\n`);
  }
}
