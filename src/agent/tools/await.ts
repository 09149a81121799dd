// Await: reads, waits for or kills a background command or subagent.
import * as v from "valibot";
import { type PatternTest, patternTest } from "../../text/pattern-in-time.ts";
import { plainOutput } from "../../text/plain-output.ts";
import { refusalNote } from "../sandbox/words.ts";
import type { BackgroundLook } from "../subagents/index.ts";
import { tool } from "./define.ts";
import { failure, type ToolResult } from "./tool.ts";

const longestWaitMs = 600_000;
/** The maximum number of characters of new output shown to the model, taken from the end. */
const shownCharacters = 4000;

export const awaitShell = tool({
  name: "Await",
  wire: "await",
  description:
    "Wait for a background command: until it ends or prints a line that matches pattern, at most blockUntilMs. Returns the last lines since the last look. kill: true stops it.",
  readOnly: true,
  args: v.object({
    taskId: v.pipe(v.string(), v.description('As Shell or Task gave it: "shell_1"')),
    blockUntilMs: v.optional(
      v.pipe(v.number(), v.minValue(0), v.description(`Milliseconds to wait, default 0, at most ${longestWaitMs}`)),
    ),
    pattern: v.optional(v.pipe(v.string(), v.description("Regex"))),
    kill: v.optional(v.boolean()),
  }),
  spellings: {
    task_id: "taskId",
    shellId: "taskId",
    shell_id: "taskId",
    block_until_ms: "blockUntilMs",
    regex: "pattern",
    filter: "pattern",
  },
  wireArgs: (args, context) => ({
    taskId: args.taskId,
    blockUntilMs: waitOf(args.blockUntilMs),
    ...(args.kill && { kill: true }),
    toolCallId: context.callId,
  }),
  needs: () => [],
  async run(args, { background, signal, turn }) {
    const pattern = args.pattern ? expressionOf(args.pattern) : undefined;
    if (args.kill) await background.kill(args.taskId);
    const blockUntilMs = waitOf(args.blockUntilMs);
    const reading = await background.read(args.taskId, { blockUntilMs, pattern, signal });
    if (!reading) {
      const wait = { ms: blockUntilMs, stop: args.kill === true, signal };
      const look = await turn?.subagents?.look(args.taskId, wait);
      if (look) return lookResult(args.taskId, look);
      const taskTexts = background.list().map((task) => `${task.taskId} (${task.status})`);
      const which =
        taskTexts.length > 0
          ? `The background commands are: ${taskTexts.join(", ")}.`
          : "No command was started in the background.";
      throw failure(`Unknown background command "${args.taskId}". ${which}`, { taskId: args.taskId });
    }
    const { taskId, status, exitCode, signal: endedBy, newOutput, outputFile, runningMs, hasMatch, sandbox } = reading;
    const output = newOutput === "" ? "(no new output)" : lastLines(plainOutput(newOutput));
    const match = !pattern
      ? ""
      : hasMatch
        ? `, a line matches ${args.pattern}`
        : `, no line matches ${args.pattern} yet`;
    const state = {
      running: `still running after ${runningMs} ms${match}`,
      exited: `exit code ${exitCode}`,
      killed: `killed by ${endedBy || "request"}`,
    }[status];
    const isWell = status === "running" || exitCode === 0;
    const notes = [
      `${taskId}: ${state}; all of its output: ${outputFile}`,
      ...(sandbox ? refusalNote(sandbox.plan, newOutput, isWell) : []),
    ];
    return {
      outcome: {
        kind: "success",
        value: {
          taskId,
          status,
          ...(status === "exited" && { exitCode }),
          signal: endedBy,
          output: newOutput,
          outputFilePath: outputFile,
        },
      },
      text: `${output}${output.endsWith("\n") ? "" : "\n"}${notes.map((note) => `[${note}]`).join("\n")}`,
    };
  },
});

function lookResult(taskId: string, { isRunning, said, outputFile, runningMs, failed }: BackgroundLook): ToolResult {
  const status = isRunning ? "running" : failed ? "failed" : "exited";
  const state = isRunning ? `still running after ${runningMs} ms` : failed ? "it failed" : "it has finished";
  return {
    outcome: { kind: "success", value: { taskId, status, output: said, outputFilePath: outputFile } },
    text: `${said === "" ? "(no answer yet)" : said}\n[${taskId}: ${state}; what it did: ${outputFile}]`,
  };
}

/** Compiles the pattern so that `^` and `$` match at each line. */
function expressionOf(pattern: string): PatternTest {
  try {
    return patternTest(pattern, "m");
  } catch (error) {
    throw failure(`The pattern is not a regular expression: ${(error as Error).message}.`);
  }
}

function lastLines(text: string): string {
  if (text.length <= shownCharacters) return text;
  const end = text.slice(-shownCharacters);
  const lineStart = end.indexOf("\n") + 1;
  const wholeLines = lineStart > 0 && lineStart < end.length ? end.slice(lineStart) : end;
  return `[… earlier lines are in the file below …]\n${wholeLines}`;
}

function waitOf(blockUntilMs: number | undefined): number {
  return Math.min(blockUntilMs ?? 0, longestWaitMs);
}
