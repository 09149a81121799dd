// What the terminal's screen costs: bytes for a line more, whatever stands above it; the share of a core that a streamed answer
// takes; a running command that only counts its seconds.
import { footerLine, ruleLine } from "../src/terminal/footer.ts";
import { createPalette, nothing } from "../src/terminal/painted.ts";
import { createScreen } from "../src/terminal/screen.ts";
import { createTranscript } from "../src/terminal/transcript/index.ts";
import { call, success } from "../test/terminal/events.ts";
import { median } from "./measure.ts";

const size = { columns: 100, rows: 30 };
const palette = createPalette({ depth: 24, dark: true });

function openScreen() {
  let bytes = 0;
  let frames = 0;
  let now = 1_000;
  const out = {
    write(text: string) {
      bytes += Buffer.byteLength(text);
      frames++;
      return true;
    },
    once: () => {},
  };
  const screen = createScreen(out, size);
  const transcript = createTranscript({ palette, workspace: "/repo", now: () => now });
  return {
    transcript,
    draw() {
      screen.commit(transcript.takeCommitted(size.columns));
      const live = transcript.live({ columns: size.columns, rows: size.rows - 5 });
      const footer = footerLine({ mode: "agent", model: "m", contextUsed: 0.3 }, palette, size.columns);
      const lines = [...live, nothing, ruleLine(palette, size.columns), palette.plain("› "), footer];
      screen.draw({ lines, cursor: { row: lines.length - 2, column: 2 } });
    },
    pass(ms: number) {
      now += ms;
    },
    take() {
      const taken = { bytes, frames };
      bytes = 0;
      frames = 0;
      return taken;
    },
  };
}

const paragraph =
  "The server answers *before* the file is closed, so that `read` sometimes finds **half of it**; see [the manual](https://example.com/x).\n\n";
const answer = `## Why\n\n${paragraph.repeat(3)}- one\n- two\n\n\`\`\`ts\n${"const a = await read(path);\n".repeat(12)}\`\`\`\n\n| a | b |\n|---|---|\n${"| one | two |\n".repeat(6)}\n${paragraph}`;

export type TerminalFigures = {
  bytesAt: Record<100 | 10_000, number>;
  tickBytes: number;
  coreShare: number;
  idleFrames: number;
};

export async function terminalFigures(): Promise<TerminalFigures> {
  const view = openScreen();
  await view.transcript.load();
  view.transcript.event({ event: { type: "user", text: "go", at: 1_000 } });
  view.draw();
  const grow = (lines: number) => {
    for (let index = 0; index < lines; index++) {
      for (const event of call(
        "read",
        { path: `/repo/src/file-${index % 90}.ts` },
        success({ content: "", totalLines: 10 }),
      ))
        view.transcript.event(event);
      view.draw();
    }
  };
  const perLine = () => {
    view.take();
    grow(50);
    return view.take().bytes / 50;
  };
  grow(100);
  const few = perLine();
  grow(9_850);
  const many = perLine();
  const [start] = call("shell", { command: "npm test" }, success({}), { id: "tick" });
  view.transcript.event(start!);
  view.draw();
  view.take();
  for (let tick = 0; tick < 50; tick++) {
    view.pass(1000);
    view.draw();
  }
  const tickBytes = view.take().bytes / 50;
  return {
    bytesAt: { 100: few, 10000: many },
    tickBytes,
    coreShare: await coreShare(),
    idleFrames: await idleFrames(),
  };
}

/** Each delta is a frame: the time it takes, 60 times a second. */
async function coreShare(): Promise<number> {
  const shares: number[] = [];
  for (let round = 0; round < 5; round++) {
    const view = openScreen();
    await view.transcript.load();
    view.transcript.event({ event: { type: "user", text: "go", at: 1_000 } });
    const deltas = answer.match(/[\s\S]{1,8}/g)!;
    const before = process.cpuUsage();
    for (const text of deltas) {
      view.transcript.event({ event: { type: "text", text } });
      view.pass(16);
      view.draw();
    }
    const used = process.cpuUsage(before);
    shares.push((((used.user + used.system) / 1000 / deltas.length) * 60) / 1000);
  }
  return median(shares);
}

/** Drawn again and again when nothing has happened. */
async function idleFrames(): Promise<number> {
  const view = openScreen();
  await view.transcript.load();
  view.draw();
  view.take();
  for (let index = 0; index < 100; index++) {
    view.pass(1000);
    view.draw();
  }
  return view.take().frames;
}
