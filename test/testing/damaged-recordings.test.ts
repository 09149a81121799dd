// Recordings with one value changed or gone: each is refused with its line, or played to an end; none is a bug.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { outputs } from "../../src/cli/outputs.ts";
import { UserError } from "../../src/protocol/error-codes.ts";
import { changedSince, wholeRequests } from "../../src/testing/compare.ts";
import { parseRecording } from "../../src/testing/recording.ts";
import { openReplay } from "../../src/testing/replayed-run.ts";
import { createWorkspace } from "../support/run-cli.ts";

const script = [
  {
    thinking: "Hm.",
    text: ["Let me ", "look."],
    calls: [
      { name: "Read", args: { path: "a.txt" } },
      { name: "Read", args: { path: "none.txt" } },
    ],
  },
  { text: "ok", usage: { inputTokens: 5, outputTokens: 2 } },
];

type Path = readonly (string | number)[];

function* pathsIn(value: unknown, at: Path = []): Generator<Path> {
  yield at;
  if (typeof value === "object" && value !== null)
    for (const [key, inner] of Object.entries(value)) yield* pathsIn(inner, [...at, key]);
}

/** A copy with this value there; undefined: nothing is. */
function withValue(whole: unknown, path: Path, value: unknown): unknown {
  const copy = structuredClone(whole) as any;
  let inside = copy;
  for (const key of path.slice(0, -1)) inside = inside[key];
  if (value === undefined) delete inside[path.at(-1)!];
  else inside[path.at(-1)!] = value;
  return copy;
}

async function play(text: string): Promise<void> {
  const recording = parseRecording(text, "run.jsonl");
  for (const [index, request] of wholeRequests(recording).entries()) changedSince(recording, index + 1, request);
  const run = await openReplay(recording);
  const output = outputs["stream-json"]({ sessionId: run.chatId, partial: true, compat: undefined });
  const shown = (async () => {
    for await (const { event } of run.events()) output.encode(event);
  })();
  for (const prompt of run.prompts) await run.send({ text: prompt }).ending;
  await run.close();
  await shown;
}

it("replay refuses a damaged recording and says what is wrong", { timeout: 60_000 }, async () => {
  const work = createWorkspace({ "a.txt": "hello\n" });
  const file = join(work.home, "run.jsonl");
  await work.play(script, ["--record", file]);
  const lines = readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
  work.remove();
  const others = [null, 7, "x", undefined, [null]];
  const faults: string[] = [];
  let tried = 0;
  let refused = 0;
  for (const path of pathsIn(lines)) {
    if (path.length === 0) continue;
    const other = others[tried++ % others.length];
    const text = (withValue(lines, path, other) as unknown[]).map((line) => JSON.stringify(line) ?? "").join("\n");
    await play(text).catch((error: unknown) => {
      refused++;
      const isTold = error instanceof UserError && /damaged, line \d+: .|ends before its run/.test(error.message);
      if (!isTold) faults.push(`${path.join(".")} = ${JSON.stringify(other)}: ${error}`);
    });
  }
  expect(faults).toEqual([]);
  expect(refused).toBeGreaterThan(tried / 4);
});
