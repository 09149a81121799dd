// One run for another agent: the same run as in print mode, told as one result.
import { realpathSync } from "node:fs";
import { resolve, sep } from "node:path";
import { UserError } from "../../../protocol/error-codes.ts";
import type { AgentEvent, Denial, Usage } from "../../../protocol/event.ts";
import { callLine } from "../../call-line.ts";
import { explainFailure } from "../../failure.ts";
import { flagList, flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { createRun } from "../../../run/assemble.ts";
import { findMcp, initOf, openSession } from "../../../run/session.ts";
import { setUp } from "../../../run/setup.ts";
import { withoutSecrets, writeStderr } from "../../stdout.ts";

export type RunRequest = {
  prompt: string;
  /** Inside of what is served. */
  workspace?: string;
  mode?: "plan" | "ask";
  /** A chat to go on with. */
  sessionId?: string;
};

export type RunResult = {
  sessionId: string;
  isError: boolean;
  /** What was said after the last tool call; of a run that failed, why. */
  text: string;
  code?: string;
  durationMs: number;
  usage?: Usage;
  denials: Denial[];
};

export async function runForAgent(
  invocation: Invocation,
  request: RunRequest,
  { signal, onStep }: { signal: AbortSignal; onStep(message: string): void },
): Promise<RunResult> {
  const startedAt = Date.now();
  let sessionId = request.sessionId ?? "";
  let said: string[] = [];
  try {
    const setup = setUp(asked(invocation, request), { gate: true });
    const mcp = await findMcp(setup);
    const session = await openSession(setup);
    sessionId = session.id;
    try {
      session.record(initOf(setup, session, mcp));
      const run = await createRun(setup, { session, headless: true, warn, ...(mcp && { mcp }) });
      try {
        for await (const event of run.turn({ text: request.prompt, images: [] }, signal)) {
          if (event.type !== "text" && event.type !== "thinking") session.record(event);
          if (event.type === "tool_start") {
            said = [];
            onStep(callLine(event, setup.workspace).slice(0, 200));
          }
          if (event.type === "text_end") said.push(event.text);
          if (event.type === "done" || event.type === "fail") return resultOf(event, sessionId, said.join("\n"));
        }
      } finally {
        await run.end();
      }
    } finally {
      session.close();
    }
    throw new Error("the run ended without a result");
  } catch (error) {
    const { message, code } = explainFailure(error);
    return {
      sessionId,
      isError: true,
      text: withoutSecrets(message),
      code,
      durationMs: Date.now() - startedAt,
      denials: [],
    };
  }
}

function resultOf(event: Extract<AgentEvent, { type: "done" | "fail" }>, sessionId: string, said: string): RunResult {
  const { durationMs, usage, denials = [] } = event;
  const facts = { sessionId, durationMs, denials, ...(usage && { usage }) };
  if (event.type === "done") return { ...facts, isError: false, text: said };
  return {
    ...facts,
    isError: true,
    text: withoutSecrets(event.message),
    ...(event.code !== undefined && { code: event.code }),
  };
}

/** The flags that `mcp serve` was given, and what the request narrows. It can widen nothing. */
function asked({ line, ...invocation }: Invocation, { workspace, mode, sessionId }: RunRequest): Invocation {
  const flags = new Map(line.flags).set("print", true);
  if (workspace !== undefined) {
    const folder = servedFolder(line.flags, workspace);
    // Trust was given to the folder that is served; others have theirs, or have none.
    if (folder !== realOf(flagText(line.flags, "workspace") ?? ".")) flags.delete("trust");
    flags.set("workspace", folder);
  }
  if (mode !== undefined && !line.flags.has("mode")) flags.set("mode", mode);
  if (sessionId !== undefined) flags.set("resume", sessionId);
  return { ...invocation, line: { ...line, command: undefined, words: [], plainWords: 0, flags } };
}

function servedFolder(flags: Invocation["line"]["flags"], wanted: string): string {
  const roots = [flagText(flags, "workspace") ?? ".", ...flagList(flags, "add-dir")].map((path) => realOf(path));
  const path = realOf(resolve(roots[0]!, wanted));
  if (roots.some((root) => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep))) return path;
  throw new UserError(
    "UNTRUSTED",
    `${wanted} is outside of what is served: ${roots.join(", ")}. Serve it with --add-dir.`,
  );
}

function realOf(path: string): string {
  try {
    return realpathSync(resolve(path));
  } catch {
    throw new UserError("CWD_MISSING", `The directory ${path} does not exist.`);
  }
}

function warn(message: string): void {
  writeStderr(`Warning: ${message}\n`);
}
