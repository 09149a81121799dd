// A whole session in a real pty, whose window changes in mid-stream.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Recorded } from "../../src/protocol/run.ts";
import { call, said, shown, success } from "./events.ts";
import { openPty } from "./pty.ts";

let folder = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "courser-replay-"));
  await build({
    entryPoints: [join(import.meta.dirname, "replay-program.ts")],
    outfile: join(folder, "built.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
  });
  writeFileSync(
    join(folder, "program.mjs"),
    'import { main } from "./built.mjs";\nprocess.exitCode = await main(process.argv.slice(2));\n',
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function session(): Recorded[] {
  return [1, 2, 3, 4].flatMap((turn): Recorded[] => [
    { event: { type: "user", text: `Question ${turn}` } },
    ...said(`Answer ${turn} is a paragraph.\n\n- item ${turn} a\n- item ${turn} b\n\n`, 9),
    ...call("shell", { command: `command ${turn}` }, success({ exitCode: 0, interleavedOutput: `output ${turn}\n` }), {
      id: `c${turn}`,
    }),
    ...call(
      "edit",
      { path: `/repo/file${turn}` },
      success({ linesAdded: 1, linesRemoved: 0, diffString: `@@ -1,0 +1,1 @@\n+line ${turn}\n` }),
      { id: `e${turn}` },
    ),
    { event: { type: "done", text: "", durationMs: turn * 1000, apiDurationMs: 1 } },
  ]);
}

/** Without what depends on the width. */
const words = (lines: readonly string[]) => lines.map((line) => line.replace(/\s+/g, " ").trim()).filter(Boolean);

describe("a replayed session in a terminal", () => {
  it("in a terminal replay a session is in the scrollback once, whatever the window did", async () => {
    const events = session();
    const file = join(folder, "events.jsonl");
    writeFileSync(file, events.map((event) => JSON.stringify(event)).join("\n"));
    const pty = openPty({
      command: process.execPath,
      args: [join(folder, "program.mjs"), file, "--delay", "12"],
      columns: 90,
      rows: 16,
    });
    await pty.waitFor("Question 1", { in: "scrollback" });
    for (const [columns, rows] of [
      [60, 16],
      [44, 12],
      [100, 30],
      [50, 14],
      [90, 16],
    ] as const) {
      pty.resize(columns, rows);
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    expect(await pty.ended).toBe(0);
    const lines = words(await pty.scrollback());
    const expected = words(await shown(events, 90));
    expect(lines[0]).toBe("courser sonnet-4.5 · api/ · main");
    // What the live region never shows in these words: it may be left behind where a frame met a window that was changing.
    const isOnlyCommitted = (line: string) => /^› Q|^Done|s$|^[+│1]|\+1$/.test(line) && !line.includes("Working");
    expect(lines.filter(isOnlyCommitted)).toEqual(expected.filter(isOnlyCommitted));
    let at = 0;
    for (const line of expected) {
      at = lines.indexOf(line, at);
      expect(at, line).toBeGreaterThanOrEqual(0);
    }
    expect(pty.output()).not.toMatch(/\x1b\[[23]J|\x1b\[\d*;?\d*r|\x1b\[\?1049|\x1b\[\?100/);
  });

  it("after every frame the terminal's cursor is where the user types", async () => {
    const file = join(folder, "short.jsonl");
    writeFileSync(
      file,
      session()
        .slice(0, 5)
        .map((event) => JSON.stringify(event))
        .join("\n"),
    );
    const pty = openPty({
      command: process.execPath,
      args: [join(folder, "program.mjs"), file, "--stay"],
      columns: 80,
      rows: 20,
    });
    await pty.waitFor("Working");
    await pty.quiet();
    const { row, column } = await pty.cursor();
    expect((await pty.screen())[row]).toMatch(/^› and add a test/);
    expect(column).toBe(35);
    pty.kill();
  });
});
