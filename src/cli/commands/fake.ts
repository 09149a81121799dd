// `fake`: acts as cursor-agent of a chosen version and plays a recording or a script, with a fault on demand.
import { resolve } from "node:path";
import { exitCodeOf, resultText, UserError } from "../../protocol/error-codes.ts";
import { type VersionName, versions } from "../../protocol/profiles.ts";
import { type FaultName, fakeEvents, planOutput, withDeltas } from "../../testing/fake.ts";
import { flagText } from "../flags.ts";
import type { Invocation } from "../main.ts";
import { type OutputFormat, outputs } from "../outputs.ts";
import { readPrompt } from "../stdin.ts";
import { openStdout, writeStderr } from "../stdout.ts";

export async function fake(invocation: Invocation): Promise<number> {
  const { flags } = invocation.line;
  const version = (flagText(flags, "profile") ?? "2026.09") as VersionName;
  const fault = flagText(flags, "fault") as FaultName | undefined;
  const format = (flagText(flags, "output-format") ?? "text") as OutputFormat;
  const { text: prompt } = await readPrompt(invocation, new AbortController().signal);
  const resumed = flagText(flags, "resume");
  if (resumed === unknownSession) throw new UserError("SESSION_NOT_FOUND", "Session not found");
  const from = flagText(flags, "from");
  const partial = flags.has("stream-partial-output");
  const fakeStream = await fakeEvents({
    version,
    file: from === undefined ? undefined : resolve(from),
    prompt,
    cwd: process.cwd(),
    sessionId: resumed,
  });
  const events = partial ? withDeltas(fakeStream) : fakeStream;
  const init = events.find((event) => event.type === "init");
  const output = outputs[format]({ sessionId: init?.sessionId ?? "", partial, compat: versions[version] });
  const ending = events.at(-1);
  const exit = ending?.type === "fail" ? exitCodeOf("INTERNAL") : 0;
  const lines = events.flatMap((event) => {
    const redactedEvent = event.type === "fail" ? { ...event, message: resultText(event.message) } : event;
    return output.encode(redactedEvent) ?? [];
  });
  if (ending?.type === "fail") writeStderr(`${resultText(ending.message)}\n`);
  return playLines(lines, exit, fault);
}

const unknownSession = "00000000-0000-4000-8000-000000000000";

async function playLines(lines: readonly string[], exit: number, fault: FaultName | undefined): Promise<number> {
  const { chunks, end } = planOutput(lines, exit, fault);
  const stdout = openStdout();
  // Exit at once on a signal, with that signal's exit code, as the original does.
  process.on("SIGINT", () => process.exit(130));
  process.on("SIGTERM", () => process.exit(143));
  for (const { text, afterMs } of chunks) {
    if (afterMs > 0) await new Promise((wake) => setTimeout(wake, afterMs));
    stdout.write(text);
  }
  await stdout.flush();
  if (end === "hang") await new Promise((never) => setInterval(never, 1 << 30));
  if (end === "SIGKILL") process.kill(process.pid, "SIGKILL");
  return end as number;
}
