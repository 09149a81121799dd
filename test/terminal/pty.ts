// A program in a real terminal: a pty, and a screen that shows what it wrote. Bounded; what was started is killed.
import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { cli, type Workspace } from "../support/run-cli.ts";

export interface Pty {
  readonly pid: number;
  /** The emulator itself, for pictures. */
  readonly terminal: xterm.Terminal;
  /** Rows that can be seen, without blanks at their ends. */
  screen(): Promise<string[]>;
  /** Everything from the beginning, rows that were wrapped joined to the line they were written as. */
  scrollback(): Promise<string[]>;
  /** With colours and attributes, as few letters: for what a style must say. */
  styles(row: number): Promise<string>;
  cursor(): Promise<{ row: number; column: number }>;
  /** What the program has written so far, byte for byte. */
  output(): string;
  title(): string;
  /** Is it on the alternate screen? */
  isAlternate(): boolean;
  type(text: string | Buffer): void;
  /** Resolves when the screen (or, `in: "output"`, what was written) holds it. Rejects with the screen otherwise. */
  waitFor(
    wanted: string | RegExp,
    options?: { timeoutMs?: number; in?: "screen" | "scrollback" | "output" },
  ): Promise<void>;
  /** Resolves when nothing was written for this long. */
  quiet(ms?: number): Promise<void>;
  resize(columns: number, rows: number): void;
  kill(signal?: string): void;
  /** Its exit code, or the signal's number above 128. */
  readonly ended: Promise<number>;
}

export type PtyOptions = {
  command: string;
  args?: readonly string[];
  cwd?: string;
  env?: Record<string, string>;
  columns?: number;
  rows?: number;
  /** Killed after this long, whatever happens. */
  limitMs?: number;
};

export function openPty({ command, args = [], cwd, env, columns = 80, rows = 24, limitMs = 30_000 }: PtyOptions): Pty {
  const terminal = new xterm.Terminal({
    cols: columns,
    rows,
    scrollback: 100_000,
    allowProposedApi: true,
    windowOptions: { pushTitle: true, popTitle: true },
  });
  const child = spawn(command, [...args], {
    cols: columns,
    rows,
    name: "xterm-256color",
    ...(cwd !== undefined && { cwd }),
    env: { TERM: "xterm-256color", ...(env ?? (process.env as Record<string, string>)) },
  });
  let output = "";
  let title = "";
  let changedAt = Date.now();
  let isOver = false;
  terminal.onTitleChange((next) => {
    title = next;
  });
  // What a terminal answers to questions of a program.
  terminal.onData((reply) => {
    if (!isOver) child.write(reply);
  });
  child.onData((chunk) => {
    output += chunk;
    changedAt = Date.now();
    terminal.write(chunk);
  });
  const limit = setTimeout(() => kill("SIGKILL"), limitMs);
  const ended = new Promise<number>((resolve) => {
    child.onExit(({ exitCode, signal }) => {
      isOver = true;
      clearTimeout(limit);
      resolve(signal ? 128 + signal : exitCode);
    });
  });
  const kill = (signal = "SIGKILL") => {
    if (!isOver) child.kill(signal);
  };
  const parsed = () => new Promise<void>((resolve) => terminal.write("", resolve));
  const linesFrom = (from: number, to: number, { join }: { join: boolean }): string[] => {
    const buffer = terminal.buffer.active;
    const lines: string[] = [];
    for (let index = from; index < to; index++) {
      const line = buffer.getLine(index);
      if (!line) continue;
      const continues = join && buffer.getLine(index + 1)?.isWrapped === true;
      const text = line.translateToString(!continues);
      if (join && line.isWrapped && lines.length > 0) lines.push(`${lines.pop()}${text}`);
      else lines.push(text);
    }
    return lines;
  };
  const screen = async () => {
    await parsed();
    const { baseY } = terminal.buffer.active;
    return linesFrom(baseY, baseY + terminal.rows, { join: false });
  };
  const scrollback = async () => {
    await parsed();
    return linesFrom(0, terminal.buffer.active.length, { join: true });
  };
  return {
    pid: child.pid,
    terminal,
    screen,
    scrollback,
    async styles(row) {
      await parsed();
      const line = terminal.buffer.active.getLine(terminal.buffer.active.baseY + row);
      let styles = "";
      for (let column = 0; column < terminal.cols; column++) {
        const cell = line?.getCell(column);
        if (!cell) break;
        styles += cell.isBold() ? "b" : cell.isDim() ? "d" : !cell.isFgDefault() ? "c" : cell.isInverse() ? "r" : ".";
      }
      return styles.replace(/\.+$/, "");
    },
    async cursor() {
      await parsed();
      return { row: terminal.buffer.active.cursorY, column: terminal.buffer.active.cursorX };
    },
    output: () => output,
    title: () => title,
    isAlternate: () => terminal.buffer.active.type === "alternate",
    type: (text) => child.write(text as string),
    async waitFor(wanted, { timeoutMs = 10_000, in: where = "screen" } = {}) {
      const until = Date.now() + timeoutMs;
      for (;;) {
        const text = where === "output" ? output : (await (where === "screen" ? screen() : scrollback())).join("\n");
        if (typeof wanted === "string" ? text.includes(wanted) : wanted.test(text)) return;
        if (Date.now() > until || isOver)
          throw new Error(`${wanted} did not appear${isOver ? " before the program ended" : ""}:\n${text}`);
        await new Promise((resolve) => setTimeout(resolve, 15));
      }
    },
    async quiet(ms = 120) {
      while (Date.now() - changedAt < ms) await new Promise((resolve) => setTimeout(resolve, 10));
      await parsed();
    },
    resize(nextColumns, nextRows) {
      terminal.resize(nextColumns, nextRows);
      if (!isOver) child.resize(nextColumns, nextRows);
    },
    kill,
    ended,
  };
}

/** The built CLI in a workspace of a test. */
export function openCli(workspace: Workspace, args: readonly string[], options: Partial<PtyOptions> = {}): Pty {
  return openPty({
    command: process.execPath,
    args: [cli, ...args],
    cwd: workspace.path,
    ...options,
    env: { ...workspace.env, SHELL: "/bin/sh", ...options.env },
  });
}
