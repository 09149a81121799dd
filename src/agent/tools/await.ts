// Await: look at a command or a subagent that works in the background, wait for it, or end it.
import * as v from "valibot";
import type { BackgroundLook } from "../subagents/index.ts";
import { tool } from "./define.ts";
import { failure, type ToolResult } from "./tool.ts";

const longestWaitMs = 600_000;

export const awaitShell = tool({
  name: "Await",
  wire: "await",
  description:
    "Read what a background command has printed since the last look. Waits up to blockUntilMs for new output or its end; kill: true stops it.",
  readOnly: true,
  args: v.object({
    taskId: v.pipe(v.string(), v.description('As Shell or Task gave it: "shell_1"')),
    blockUntilMs: v.optional(
      v.pipe(v.number(), v.minValue(0), v.description(`Milliseconds to wait, default 0, at most ${longestWaitMs}`)),
    ),
    kill: v.optional(v.pipe(v.boolean(), v.description("Stop the command"))),
  }),
  spellings: { task_id: "taskId", shellId: "taskId", block_until_ms: "blockUntilMs" },
  wireArgs: (args, context) => ({
    taskId: args.taskId,
    blockUntilMs: waitOf(args.blockUntilMs),
    ...(args.kill && { kill: true }),
    toolCallId: context.callId,
  }),
  needs: () => [],
  async run(args, { background, signal, turn }) {
    if (args.kill) await background.kill(args.taskId);
    const reading = await background.read(args.taskId, { blockUntilMs: waitOf(args.blockUntilMs), signal });
    if (!reading) {
      const wait = { ms: waitOf(args.blockUntilMs), stop: args.kill === true, signal };
      const look = await turn?.subagents?.look(args.taskId, wait);
      if (look) return lookResult(args.taskId, look);
      const known = background.list().map((task) => `${task.taskId} (${task.status})`);
      const which =
        known.length > 0
          ? `The background commands are: ${known.join(", ")}.`
          : "No command was started in the background.";
      throw failure(`Unknown background command "${args.taskId}". ${which}`, { taskId: args.taskId });
    }
    const { taskId, status, exitCode, signal: endedBy, newOutput, outputFile, runningMs } = reading;
    const output = newOutput === "" ? "(no new output)" : newOutput;
    const state = {
      running: `still running after ${runningMs} ms`,
      exited: `exit code ${exitCode}`,
      killed: `killed by ${endedBy || "request"}`,
    }[status];
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
      text: `${output}${output.endsWith("\n") ? "" : "\n"}[${taskId}: ${state}; all of its output: ${outputFile}]`,
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

function waitOf(blockUntilMs: number | undefined): number {
  return Math.min(blockUntilMs ?? 0, longestWaitMs);
}
