// Shell: runs one bash command in the foreground or in the background.
import { writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import type { Need } from "../../policy/need.ts";
import { UserError } from "../../protocol/error-codes.ts";
import { NotRun, unlessStopped } from "../../protocol/unless-stopped.ts";
import { headAndTail, plainOutput } from "../../text/plain-output.ts";
import { absolutePath } from "../files.ts";
import type { ProcessEnd, ProcessRequest } from "../process.ts";
import { refusalNote } from "../sandbox/words.ts";
import { tool } from "./define.ts";
import { type CallIdentity, type ToolContext, ToolFailure, type ToolResult } from "./tool.ts";

const defaultTimeoutMs = 120_000;
const longestTimeoutMs = 600_000;
/** Above this size, the stream gets only the beginning and the end of the output. */
const thresholdBytes = 40_000;
/** The model gets less: more rarely helps, and every later request repeats it. The whole output is in a file. */
const shownCharacters = 16_000;

type ShellArgs = {
  command: string;
  workingDirectory?: string;
  timeout?: number;
  isBackground?: boolean;
  description?: string;
};

export const shell = tool({
  name: "Shell",
  wire: "shell",
  aliases: ["Bash", "run_terminal_cmd"],
  description:
    "Run a command with bash, in the workspace unless workingDirectory says otherwise. Each call is a new shell: cd and " +
    "variables do not last. Processes that a command leaves behind are killed with it: start servers and watchers with isBackground, look at them with Await, and stop them before you end.",
  readOnly: false,
  args: v.object({
    command: v.pipe(
      v.string(),
      v.check((text) => text.trim() !== "", "must not be empty"),
      v.check((text) => !text.includes("\0"), "must not contain a NUL character"),
    ),
    workingDirectory: v.optional(
      v.pipe(
        v.string(),
        v.check((text) => !text.includes("\0"), "must not contain a NUL character"),
      ),
    ),
    timeout: v.optional(
      v.pipe(
        v.number(),
        v.minValue(0),
        v.description(`Milliseconds, below 1000 seconds; default ${defaultTimeoutMs}, at most ${longestTimeoutMs}`),
      ),
    ),
    isBackground: v.optional(v.boolean()),
    description: v.optional(v.pipe(v.string(), v.description("What it does, in a few words"))),
  }),
  spellings: {
    cmd: "command",
    cwd: "workingDirectory",
    directory: "workingDirectory",
    working_directory: "workingDirectory",
    timeout_ms: "timeout",
    timeoutMs: "timeout",
    is_background: "isBackground",
    run_in_background: "isBackground",
    explanation: "description",
  },
  wireArgs,
  needs: (args, place) => {
    const command: Need = { kind: "Shell", target: args.command, cwd: directoryOf(args, place) };
    return [args.isBackground ? { ...command, background: true } : command];
  },
  run: (args, context) => (args.isBackground ? startInBackground(args, context) : runInForeground(args, context)),
});

function directoryOf(args: ShellArgs, place: CallIdentity): string {
  return absolutePath(args.workingDirectory || ".", place);
}

/** Returns the directory as the stream shows it: absolute, or empty when none was given. */
function shownDirectory(args: ShellArgs, place: CallIdentity): string {
  return args.workingDirectory ? directoryOf(args, place) : "";
}

/** Returns the time limit in milliseconds. A value below 1000 is taken as seconds, since other agents use seconds. */
function timeoutOf({ timeout = 0 }: ShellArgs): number {
  return Math.min((timeout < 1000 ? timeout * 1000 : timeout) || defaultTimeoutMs, longestTimeoutMs);
}

async function wireArgs(args: ShellArgs, place: CallIdentity): Promise<Record<string, unknown>> {
  const { describeCommand } = await import("../../policy/parse/shell.ts");
  const { simpleCommands, hasInputRedirect, hasOutputRedirect, parsingResult } = describeCommand(args.command);
  return {
    command: args.command,
    workingDirectory: shownDirectory(args, place),
    timeout: timeoutOf(args),
    toolCallId: place.callId,
    simpleCommands,
    hasInputRedirect,
    hasOutputRedirect,
    parsingResult,
    fileOutputThresholdBytes: String(thresholdBytes),
    isBackground: args.isBackground ?? false,
    skipApproval: place.skipsApproval ?? false,
    timeoutBehavior: args.isBackground ? "TIMEOUT_BEHAVIOR_BACKGROUND" : "TIMEOUT_BEHAVIOR_CANCEL",
    hardTimeout: 86_400_000,
    ...(args.description !== undefined && { description: args.description }),
    closeStdin: true,
    conversationId: place.sessionId,
  };
}

async function runInForeground(args: ShellArgs, context: ToolContext): Promise<ToolResult> {
  const timeoutMs = timeoutOf(args);
  const keepBytes = Math.min(thresholdBytes, context.resultLimit);
  let end: ProcessEnd | TakenOver;
  try {
    const folder = context.background.outputFolder(context.sessionId);
    const outputFile = join(folder, `output-${newName()}.txt`);
    let afterwards: ((chunk: Buffer) => void) | undefined;
    const confinement = await confinementOf(context, folder);
    const running = unlessStopped(context.signal, () =>
      context.processes.start({
        command: argvOf(args.command, folder, context),
        realPipes: namesStream.test(args.command),
        cwd: directoryOf(args, context),
        ...confinement,
        signal: context.signal,
        timeoutMs,
        keepBytes,
        spillTo: outputFile,
        spillAfterBytes: shownCharacters,
        onOutput: (_stream, chunk) => (afterwards ? afterwards(chunk) : context.print(chunk.toString("utf8"))),
      }),
    );
    const takenOver = new Promise<TakenOver>((resolve) => {
      const takeBack = context.background.offer(context.callId, async () => {
        running.letGo();
        const { taskId, push } = context.background.adopt(args.command, running, { outputFile, ...confinement });
        afterwards = push;
        resolve({ taskId, pid: running.pid, outputFile, folder });
        return true;
      });
      running.ended.then(takeBack, takeBack);
    });
    end = await Promise.race([running.ended, takenOver]);
  } catch (error) {
    throw startFailure(error, args, context);
  }

  if ("taskId" in end)
    return backgroundResult(args, end, {
      context,
      how: "The user moved the command to the background, where it keeps running",
    });
  const run = wireRun(args, end, context);
  const text = resultText(args, end, context);
  if (end.cancelled) {
    return { outcome: { kind: "error", value: { errorMessage: "Cancelled", error: "Cancelled", ...run } }, text };
  }
  const siblings = { isBackground: false, ...policyOf(context) };
  if (end.timedOut) return { outcome: { kind: "timeout", value: { ...run, timeoutMs }, siblings }, text };
  return { outcome: { kind: run.exitCode === 0 ? "success" : "failure", value: run, siblings }, text };
}

/** Returns the sandbox of a command that must run in one, with the output folder readable. Throws if the sandbox is unavailable. */
async function confinementOf(
  { confined, sandbox }: ToolContext,
  folder: string,
): Promise<Pick<ProcessRequest, "sandbox" | "readable">> {
  if (!confined) return {};
  const problem = sandbox ? await sandbox.problem() : "There is no sandbox in this run.";
  if (problem !== undefined) throw new UserError("SANDBOX_UNAVAILABLE", problem);
  return { sandbox, readable: [folder] };
}

function policyOf({ confined, sandbox }: ToolContext): { sandboxPolicy?: object } {
  if (!confined || !sandbox) return {};
  const { writable, network, readBoundary } = sandbox.plan;
  const type = writable.length > 0 ? "workspace_readwrite" : "workspace_readonly";
  return { sandboxPolicy: { type, networkAccess: network.type !== "none", readBoundary } };
}

/** A foreground command that was moved to the background. */
type TakenOver = { taskId: string; pid: number; outputFile: string; folder: string };

async function startInBackground(args: ShellArgs, context: ToolContext): Promise<ToolResult> {
  let task: TakenOver;
  try {
    const folder = context.background.outputFolder(context.sessionId);
    const { command } = args;
    const confinement = await confinementOf(context, folder);
    task = await unlessStopped(context.signal, () =>
      context.background.start({
        command,
        argv: argvOf(command, folder, context),
        realPipes: namesStream.test(command),
        ...confinement,
        cwd: directoryOf(args, context),
        sessionId: context.sessionId,
      }),
    );
  } catch (error) {
    throw startFailure(error, args, context);
  }
  return backgroundResult(args, task, { context, how: "Started in the background" });
}

function backgroundResult(
  args: ShellArgs,
  { taskId, pid, outputFile, folder }: TakenOver,
  { context, how }: { context: ToolContext; how: string },
): ToolResult {
  const value = {
    command: args.command,
    workingDirectory: shownDirectory(args, context),
    exitCode: 0,
    signal: "",
    stdout: "",
    stderr: "",
    executionTime: 0,
    interleavedOutput: "",
    localExecutionTimeMs: 0,
    pid,
    taskId,
  };
  const siblings = { isBackground: true, ...policyOf(context), pid, terminalsFolder: folder };
  return {
    outcome: { kind: "success", value, siblings },
    text: `${how} as ${taskId} (pid ${pid}). Its output goes to ${outputFile}. Await with taskId "${taskId}" reads what is new, waits for it, or stops it.`,
  };
}

function wireRun(args: ShellArgs, end: ProcessEnd, place: CallIdentity) {
  return {
    command: args.command,
    workingDirectory: shownDirectory(args, place),
    exitCode: exitCodeOf(end),
    signal: end.signal,
    stdout: end.stdout,
    stderr: end.stderr,
    executionTime: end.durationMs,
    interleavedOutput: end.interleaved,
    localExecutionTimeMs: end.durationMs,
    ...(end.spilledTo !== undefined &&
      end.truncated && {
        outputLocation: { filePath: end.spilledTo, sizeBytes: end.spilledBytes, lineCount: end.spilledLines },
      }),
  };
}

/** Returns the exit code as a shell reports it: 128 plus the signal number after a signal. */
function exitCodeOf(end: ProcessEnd): number {
  if (end.exitCode !== null) return end.exitCode;
  return 128 + (constants.signals[end.signal as NodeJS.Signals] ?? 0);
}

function resultText(args: ShellArgs, end: ProcessEnd, { confined, sandbox, confinedRules }: ToolContext): string {
  const notes: string[] = [];
  const timeoutMs = timeoutOf(args);
  if (end.cancelled) notes.push("cancelled by the user");
  else if (end.timedOut) {
    notes.push(
      `timed out after ${timeoutMs} ms and was killed; for longer work give a timeout (at most ${longestTimeoutMs}) or isBackground: true`,
    );
  } else if (end.signal !== "") notes.push(`killed by ${end.signal}`);
  else if (end.exitCode !== 0) notes.push(`exit code ${end.exitCode}`);
  if ((args.timeout ?? 0) > longestTimeoutMs) notes.push(`timeout was lowered to ${longestTimeoutMs} ms, the maximum`);
  if (end.leftovers > 0 && !end.timedOut && !end.cancelled) {
    const many = end.leftovers === 1 ? "1 process" : `${end.leftovers} processes`;
    const were = end.leftovers === 1 ? "was" : "were";
    notes.push(
      `${many} that the command left running ${were} killed with it; isBackground: true keeps a command running`,
    );
  }
  const { text: shown, isCut } = headAndTail(plainOutput(end.interleaved), shownCharacters);
  if (end.spilledTo !== undefined && (isCut || end.truncated)) {
    notes.push(
      `the output is ${end.totalBytes} bytes; only its beginning and end are shown; all of it: ${end.spilledTo} ` +
        `(${end.spilledLines} lines; Read it in parts with offset and limit, or Grep in it)`,
    );
  } else if (isCut || end.truncated)
    notes.push(`the output is ${end.totalBytes} bytes; only its beginning and end are shown`);
  if (confined && sandbox) notes.push(...refusalNote(sandbox.plan, end.interleaved, end.exitCode === 0, confinedRules));
  notes.push(...end.notes);
  const output = shown === "" ? "(no output)" : shown;
  const separator = output.endsWith("\n") ? "" : "\n";
  return notes.length === 0 ? output : `${output}${separator}${notes.map((note) => `[${note}]`).join("\n")}`;
}

function startFailure(error: unknown, args: ShellArgs, place: CallIdentity): ToolFailure | NotRun {
  if (error instanceof NotRun) return error;
  const message = error instanceof Error ? error.message : String(error);
  const next =
    error instanceof UserError && error.code === "CWD_MISSING"
      ? " Give a workingDirectory that exists, relative to the workspace."
      : "";
  const value = {
    command: args.command,
    workingDirectory: shownDirectory(args, place),
    error: message,
    errorMessage: message,
  };
  return new ToolFailure("spawnError", value, `The command could not be started. ${message}${next}`);
}

/** The maximum length of one command-line argument; Linux limits it to 131,071 bytes. */
const longestArgument = 100_000;

/** Matches paths of standard streams, such as /dev/stdout, which work only if the streams are real pipes. */
const namesStream = /\/dev\/(stdout|stderr|fd\/[12])\b|\/proc\/(self|\$\$)\/fd\b/;

/** Builds the command line. Never a login shell: its start-up files cost more than most commands. */
function argvOf(command: string, folder: string, { mergeOutput }: ToolContext): string[] {
  const merged = mergeOutput ? ["bash", "-c", 'exec "$@" 2>&1', "bash"] : [];
  if (Buffer.byteLength(command) <= longestArgument) return [...merged, "bash", "-c", command];
  const script = join(folder, `command-${newName()}.sh`);
  writeFileSync(script, command, { mode: 0o600, flag: "wx" });
  return [...merged, "bash", script];
}

function newName(): string {
  return `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`;
}
