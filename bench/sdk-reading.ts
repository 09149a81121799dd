// How fast the SDK reads a CLI, from the pipe to events, beside bare JSON.parse of the same lines, and what it keeps of them.

import { once } from "node:events";
import { createWriteStream, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { start } from "../src/sdk/run.ts";
import { line, processorSeconds, session, streamOf } from "./decoder.ts";

export type ReadingFigures = { ratio: number; growthMb: number };

export async function readingFigures(folder: string, megabytes = 50): Promise<ReadingFigures> {
  const file = join(folder, "stream.jsonl");
  await writeStream(file, megabytes * 1e6);
  const program = join(folder, "cli.mjs");
  // Plays the file and takes no notice of its arguments.
  writeFileSync(
    program,
    `import { createReadStream } from "node:fs";\ncreateReadStream(${JSON.stringify(file)}).pipe(process.stdout);\n`,
  );
  const executable = [process.execPath, program];
  await readThrough(executable); // warms up
  const parseSeconds = parseLines(file);
  const { seconds, growthMb } = await readThrough(executable);
  return { ratio: parseSeconds / seconds, growthMb };
}

async function readThrough(executable: readonly string[]): Promise<{ seconds: number; growthMb: number }> {
  const before = process.memoryUsage.rss();
  let peak = before;
  let events = 0;
  const startedAt = processorSeconds();
  const run = start({ prompt: "go", executable, keepEvents: false });
  for await (const _event of run.events) if (++events % 20_000 === 0) peak = Math.max(peak, process.memoryUsage.rss());
  const result = await run.result;
  if (result.outcome !== "success") throw result.error;
  return { seconds: processorSeconds() - startedAt, growthMb: (peak - before) / 2 ** 20 };
}

function parseLines(file: string): number {
  // Strings of their own, as a reader of lines would have them, not slices of one large text.
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((each) => Buffer.from(each).toString());
  const startedAt = processorSeconds();
  for (const each of lines) JSON.parse(each);
  return processorSeconds() - startedAt;
}

async function writeStream(file: string, size: number): Promise<void> {
  const stream = createWriteStream(file);
  for (const part of streamOf(size)) if (!stream.write(`${part.join("\n")}\n`)) await once(stream, "drain");
  const result = {
    type: "result",
    subtype: "success",
    duration_ms: 1,
    duration_api_ms: 1,
    is_error: false,
    result: "",
  };
  stream.end(`${line({ ...result, session_id: session })}\n`);
  await once(stream, "close");
}
