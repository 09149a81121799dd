// A front end of one's own, on one page: it starts a run, answers a permission, steers, changes the mode, interrupts, and
// reads the events twice.
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, onTestFailed } from "vitest";
import type { AgentEvent } from "../../src/protocol/event.ts";
import type { LiveRun, Question } from "../../src/protocol/run.ts";
import { openRun } from "../../src/run/live-run.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "courser-front-end-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const script = [
  { calls: [{ name: "Shell", args: { command: "touch asked.txt && sleep 0.3" } }] },
  { expect: ["also say hello"], calls: [{ name: "Write", args: { path: "planned.txt", content: "no" } }] },
  { text: "Hello. There is no such tool in plan mode." },
  { steps: [{ text: "I begin" }, { delayMs: 60_000 }, { text: " and never end." }] },
];

it("a custom front end can drive a run through openRun", async () => {
  writeFileSync(join(folder, "script.json"), JSON.stringify(script));
  const asked: Question[] = [];
  const run = await openRun(
    { workspace: folder, trust: true, model: `script:${join(folder, "script.json")}`, unlistedCommands: "ask" },
    {
      program: "mine",
      version: "1",
      env: { PATH: process.env["PATH"], HOME: folder, CURSOR_CONFIG_DIR: join(folder, "config") },
      human: {
        async ask(question) {
          asked.push(question);
          return { type: "yes" };
        },
      },
    },
  );
  const shown: AgentEvent[] = [];
  onTestFailed(() => console.error(JSON.stringify({ asked, shown })));
  const reading = (async () => {
    for await (const { event } of run.events()) {
      shown.push(event);
      if (event.type === "tool_start" && event.tool === "shell") {
        run.steer("also say hello");
        run.setMode("plan");
      }
      if (event.type === "text" && event.text === "I begin") run.interrupt("Enough.");
    }
  })();
  const first = await run.send({ text: "do something" }).ending;
  const second = await run.send({ text: "and now?" }).ending;
  const again = await recorded(run);
  await run.close();
  await reading;

  expect(asked).toMatchObject([{ type: "permission", tool: "Shell", hash: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
  expect(first).toMatchObject({ type: "done", text: expect.stringContaining("Hello.") });
  expect([existsSync(join(folder, "asked.txt")), existsSync(join(folder, "planned.txt"))]).toEqual([true, false]);
  expect(second).toMatchObject({ type: "fail", code: "INTERRUPTED", message: "Enough." });
  expect(kinds(shown).filter((kind) => kind === "user")).toHaveLength(3);
  expect(shown).toContainEqual(expect.objectContaining({ type: "notice", kind: "mode_change" }));
  // What was said before the interruption is kept, and a second reader is told the same as the first, without deltas.
  expect(shown).toContainEqual({ type: "text_end", text: "I begin", cut: true });
  expect(again).toEqual(shown.filter(({ type }) => !["text", "thinking", "tool_output"].includes(type)));
});

/** What is on disk: up to the second ending. */
async function recorded(run: LiveRun): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const { event, number } of run.events(1)) {
    if (number !== undefined) events.push(event);
    if (kinds(events).filter((kind) => kind === "done" || kind === "fail").length === 2) break;
  }
  return events;
}

function kinds(events: readonly AgentEvent[]): string[] {
  return events.map(({ type }) => type);
}
