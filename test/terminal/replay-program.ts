// Shows a list of events on the terminal it runs in, as the app would: a transcript above an editor and a footer.
//   node scripts/run-ts.mjs test/terminal/replay-program.ts FILE [--delay MS] [--dark | --light] [--depth N] [--stay]
import { readFileSync } from "node:fs";
import type { Recorded } from "../../src/protocol/run.ts";
import { colourDepth } from "../../src/terminal/colours.ts";
import { footerLine, ruleLine } from "../../src/terminal/footer.ts";
import { createPalette, nothing } from "../../src/terminal/painted.ts";
import { createScreen } from "../../src/terminal/screen.ts";
import { createTranscript } from "../../src/terminal/transcript/index.ts";

export async function main(argv: readonly string[]): Promise<number> {
  const value = (name: string) => (argv.includes(name) ? argv[argv.indexOf(name) + 1] : undefined);
  const delay = Number(value("--delay") ?? 0);
  const depth = value("--depth");
  const dark = argv.includes("--dark") ? true : argv.includes("--light") ? false : undefined;
  const palette = createPalette({
    depth: depth === undefined ? colourDepth(process.env) : (Number(depth) as 24),
    dark,
  });
  const size = () => ({ columns: process.stdout.columns ?? 80, rows: process.stdout.rows ?? 24 });
  const screen = createScreen(process.stdout, size());
  const transcript = createTranscript({ palette, workspace: "/repo", home: "/home/me" });
  const draw = () => {
    const { columns, rows } = size();
    screen.commit(transcript.takeCommitted(columns));
    const editor = [nothing, ruleLine(palette, columns), palette.plain("› and add a test for the empty file")];
    const footer = footerLine(
      {
        mode: "agent",
        model: "sonnet-4.5",
        contextUsed: 0.31,
        costUsd: 0.08,
        branch: "main",
        hint: transcript.tickMs !== undefined ? "esc interrupts" : undefined,
        right: "? keys",
      },
      palette,
      columns,
    );
    const live = transcript.live({ columns, rows: rows - 1 - editor.length - 1 });
    screen.draw({ lines: [...live, ...editor, footer], cursor: { row: live.length + 2, column: 35 } });
  };
  // The app reads the terminal's answers as keys and hands them on.
  if (process.stdin.isTTY) process.stdin.setRawMode(true);
  process.stdin.on("data", (keys) => {
    for (const [answer] of keys.toString("latin1").matchAll(/\x1b\[[\d;]*[Rn]/g)) screen.answered(answer);
  });
  process.stdout.on("resize", () => {
    screen.resize(size());
    draw();
  });
  transcript.add(() => [palette.soft(" courser  sonnet-4.5 · api/ · main")]);
  draw();
  await transcript.load();
  const events = readFileSync(argv[0]!, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Recorded);
  for (const recorded of events) {
    transcript.event(recorded);
    draw();
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
  }
  if (argv.includes("--stay")) await new Promise((resolve) => setTimeout(resolve, 20_000));
  draw();
  await screen.allAnswered();
  draw();
  screen.clear();
  process.stdin.pause();
  return 0;
}
