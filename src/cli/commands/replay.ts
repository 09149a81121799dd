// `replay FILE`: shows a recorded run, or continues from one of its steps with a real model.
import { resolve } from "node:path";
import { exitCodeOf, resultText, UserError, usageError } from "../../protocol/error-codes.ts";
import type { AgentEvent } from "../../protocol/event.ts";
import { readRecording } from "../../testing/recording.ts";
import { openReplay, type ReplayedRun } from "../../testing/replayed-run.ts";
import { visible } from "../../text/visible.ts";
import { callLine } from "../call-line.ts";
import { type FlagValues, flagText } from "../flags.ts";
import type { Invocation } from "../main.ts";
import { type OutputFormat, outputs } from "../outputs.ts";
import { openStdout, writeStderr } from "../stdout.ts";

export async function replay(invocation: Invocation): Promise<number> {
  const { line, name } = invocation;
  const [file, ...words] = line.words;
  if (file === undefined) throw usageError(`replay needs a recording: ${name} replay run.jsonl`);
  const step = numberFlag(line.flags, "from-step", /^[1-9]\d*$/);
  const until = numberFlag(line.flags, "until", /^[1-9]\d*$/);
  const speed = numberFlag(line.flags, "speed", /^(\d+\.?\d*|\.\d+)$/);
  if (line.plainWords === 1 && words.length > 0 && step === undefined)
    return (await import("./record.ts")).replayCommand(invocation, { file: resolve(file), words, speed });
  const recording = readRecording(resolve(file));
  if (step !== undefined) {
    if (until !== undefined || speed !== undefined)
      throw usageError("--until and --speed are for showing a recording; --from-step continues it.");
    const { openFromStep } = await import("../../testing/from-step.ts");
    const { runPrint } = await import("../print.ts");
    const tools = flagText(line.flags, "replay-tools") === "live" ? "live" : "recorded";
    const plain = { ...invocation, line: { ...line, words, plainWords: Math.max(0, line.plainWords - 1) } };
    return runPrint(plain, (_flags, request, host) => openFromStep({ recording, step, request, host, tools }));
  }
  if (words.length > 0)
    throw usageError(`A prompt needs a step to continue from: ${name} replay ${file} --from-step 2 "…"`);
  const abort = new AbortController();
  const stop = () => abort.abort(new UserError("INTERRUPTED", "The replay was stopped."));
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
  const run = await openReplay(recording, {
    signal: abort.signal,
    ...(until !== undefined && { until }),
    ...(speed !== undefined && { speed }),
  });
  const showOptions = { flags: line.flags, workspace: recording.header.places.workspace, isWhole: until === undefined };
  const cutOff = await showRun(run, showOptions);
  if (cutOff !== undefined) throw cutOff;
  return abort.signal.aborted ? exitCodeOf("INTERRUPTED") : 0;
}

/** Prints a replayed run. Returns an error for a recording without its end; a recorded failure is not a failure of the replay. */
async function showRun(
  run: ReplayedRun,
  { flags, workspace, isWhole }: { flags: FlagValues; workspace: string; isWhole: boolean },
): Promise<UserError | undefined> {
  const stdout = openStdout();
  const format = flagText(flags, "output-format") as OutputFormat | undefined;
  const partial = flags.has("stream-partial-output");
  const output = format && outputs[format]({ sessionId: run.chatId, partial, compat: undefined });
  const encode = output ? (event: AgentEvent) => output.encode(event) : peopleLines(workspace);
  let cutOff: UserError | undefined;
  const follow = async () => {
    for await (const { event } of run.events()) {
      const isEnd = event.type === "done" || event.type === "fail";
      if (isEnd && !isWhole && event.type === "fail" && event.code === "INTERRUPTED") continue;
      if (event.type === "fail" && event.code === "RECORDING_INVALID") {
        cutOff = new UserError(event.code, event.message);
        continue; // the call is shown when it ends
      }
      if (event.type === "notice" && format === "text") writeStderr(`Warning: ${event.message}\n`);
      const redactedEvent = event.type === "fail" ? { ...event, message: resultText(event.message) } : event;
      stdout.write(encode(redactedEvent) ?? "");
      await stdout.ready();
    }
  };
  const followed = follow();
  for (const text of run.prompts) {
    const { code } = { code: undefined, ...(await run.send({ text }).ending) };
    if (code === "INTERRUPTED" || code === "RECORDING_INVALID") break;
  }
  await run.close();
  await followed;
  await stdout.flush();
  return cutOff;
}

/** Renders prompts, answers and tool calls in their order, for people. */
function peopleLines(workspace: string): (event: AgentEvent) => string | undefined {
  let isInText = false;
  const line = (text: string) => {
    const start = isInText ? "\n" : "";
    isInText = false;
    return `${start}${visible(text)}\n`;
  };
  return (event) => {
    switch (event.type) {
      case "user":
        return line(`> ${event.text}`);
      case "text":
        isInText = true;
        return visible(event.text);
      case "text_end":
        if (!isInText) return line(event.text);
        isInText = false;
        return "\n";
      case "tool_start":
        return line(`  ${callLine(event, workspace)}`);
      case "tool_end":
        return event.outcome && event.outcome.kind !== "success" ? line(`    ${event.outcome.kind}`) : undefined;
      case "notice":
        return line(`  Note: ${event.message}`);
      case "fail":
        return line(event.message);
      default:
        return undefined;
    }
  };
}

function numberFlag(flags: FlagValues, name: string, shape: RegExp): number | undefined {
  const flagValue = flagText(flags, name);
  if (flagValue === undefined) return undefined;
  if (!shape.test(flagValue) || Number(flagValue) <= 0)
    throw usageError(`--${name} '${flagValue}' is not a positive number. Example: --${name} 2`);
  return Number(flagValue);
}
