// A screen on headless xterm, in this process: what is written is shown at once.
import xterm from "@xterm/headless";
import type { ScreenOutput } from "../../src/terminal/screen.ts";
import type { Size } from "../../src/terminal/view.ts";

export interface Emulator extends ScreenOutput {
  resize(size: Size): void;
  /** Everything, rows that were wrapped joined. */
  lines(): Promise<string[]>;
  rows(): Promise<string[]>;
  cursor(): Promise<{ row: number; column: number }>;
  readonly written: string[];
  /** What the terminal said since this was asked last. */
  answers(): string[];
}

export function createEmulator(size: Size): Emulator {
  const terminal = new xterm.Terminal({
    cols: size.columns,
    rows: size.rows,
    scrollback: 100_000,
    allowProposedApi: true,
    convertEol: false,
  });
  const written: string[] = [];
  let answers: string[] = [];
  terminal.onData((answer) => answers.push(answer));
  const parsed = () => new Promise<void>((resolve) => terminal.write("", resolve));
  return {
    written,
    answers() {
      const said = answers;
      answers = [];
      return said;
    },
    write(text) {
      written.push(text);
      terminal.write(text);
      return true;
    },
    once: () => {},
    resize: ({ columns, rows }) => terminal.resize(columns, rows),
    async lines() {
      await parsed();
      const { active } = terminal.buffer;
      const lines: string[] = [];
      for (let index = 0; index < active.length; index++) {
        const line = active.getLine(index)!;
        const text = line.translateToString(active.getLine(index + 1)?.isWrapped !== true);
        if (line.isWrapped && lines.length > 0) lines.push(`${lines.pop()}${text}`);
        else lines.push(text);
      }
      return lines;
    },
    async rows() {
      await parsed();
      const { active } = terminal.buffer;
      return Array.from({ length: terminal.rows }, (_, row) =>
        active.getLine(active.baseY + row)!.translateToString(true),
      );
    },
    async cursor() {
      await parsed();
      return { row: terminal.buffer.active.cursorY, column: terminal.buffer.active.cursorX };
    },
  };
}
