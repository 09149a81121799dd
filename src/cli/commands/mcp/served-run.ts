// Executes one run for another agent, as in print mode, and returns it as a single result.
import { realpathSync } from "node:fs";
import { resolve, sep } from "node:path";
import { UserError } from "../../../protocol/error-codes.ts";
import type { Denial, Usage } from "../../../protocol/event.ts";
import type { LiveRun, RunRequest, TurnEnding } from "../../../protocol/run.ts";
import { restrict } from "../../../protocol/run-request.ts";
import type { RunHost } from "../../../run/host.ts";
import { openRun } from "../../../run/live-run.ts";
import { findChat } from "../../../store/chats/find-chat.ts";
import { chatFolder } from "../../../store/chats/layout.ts";
import { metadataAtAGlance } from "../../../store/chats/list-chats.ts";
import { configDir } from "../../../store/config-dir.ts";
import { callLine } from "../../call-line.ts";
import { explainFailure } from "../../failure.ts";
import { withoutSecrets, writeStderr } from "../../stdout.ts";

export type ServedTask = {
  prompt: string;
  /** The workspace of the run, inside one of the served folders. */
  workspace?: string;
  mode?: "plan" | "ask";
  sessionId?: string;
};

export type ServedResult = {
  sessionId: string;
  isError: boolean;
  /** The text after the last tool call, or the reason why the run failed. */
  text: string;
  code?: string;
  durationMs: number;
  usage?: Usage;
  denials: Denial[];
};

/** Runs a task for the agent that called the tool. `served` is the request that `mcp serve` was started with. */
export async function runForAgent(
  served: { request: RunRequest; host: RunHost },
  task: ServedTask,
  { signal, onStep }: { signal: AbortSignal; onStep(message: string): void },
): Promise<ServedResult> {
  const startedAt = Date.now();
  let sessionId = task.sessionId ?? "";
  try {
    const request = narrowRequest(served, task);
    const run = await openRun(request, { ...served.host, signal });
    sessionId = run.chatId;
    const followed = follow(run, request.workspace, onStep);
    try {
      const ending = await run.send({ text: task.prompt }).ending;
      return servedResult(ending, sessionId, await followed.said);
    } finally {
      await run.close();
    }
  } catch (error) {
    const { message, code } = explainFailure(error);
    return { sessionId, isError: true, text: message, code, durationMs: Date.now() - startedAt, denials: [] };
  }
}

/** Calls `onStep` for each step, and collects the text since the last tool call. */
function follow(run: LiveRun, workspace: string, onStep: (message: string) => void): { said: Promise<string> } {
  const read = async () => {
    let answerTexts: string[] = [];
    for await (const { event, agent } of run.events()) {
      if (agent !== undefined) continue;
      if (event.type === "notice") writeStderr(`Warning: ${event.message}\n`);
      if (event.type === "tool_start") {
        answerTexts = [];
        onStep(callLine(event, workspace).slice(0, 200));
      }
      if (event.type === "text_end") answerTexts.push(event.text);
      if (event.type === "done" || event.type === "fail") break;
    }
    return answerTexts.join("\n");
  };
  return { said: read() };
}

function servedResult(ending: TurnEnding, sessionId: string, answerText: string): ServedResult {
  const { durationMs, usage, denials = [] } = ending;
  const result = { sessionId, durationMs, denials, ...(usage && { usage }) };
  if (ending.type === "done") return { ...result, isError: false, text: answerText };
  const code = ending.code === undefined ? {} : { code: ending.code };
  return { ...result, isError: true, text: withoutSecrets(ending.message), ...code };
}

/** Applies the task to the request of `mcp serve`. A task can restrict permissions but never extend them. */
function narrowRequest(
  { request: served, host: { env, program } }: { request: RunRequest; host: RunHost },
  { workspace, mode, sessionId }: ServedTask,
): RunRequest {
  const folder = workspace === undefined ? served.workspace : servedFolder(served, workspace);
  const taskRestrictions = {
    ...served,
    // --trust applies only to the folder that is served; other folders need their own trust.
    trust: served.trust === true && folder === served.workspace,
  };
  const task = { workspace: folder, ...(mode && { mode }) };
  if (sessionId === undefined) return restrict(taskRestrictions, task);
  const config = configDir(env);
  const chat = metadataAtAGlance(findChat(config, sessionId, folder, program));
  // Chats of the original CLI do not record their workspace, but are stored under its folder.
  const isOfFolder = chat.folder === chatFolder(config, folder, chat.id);
  if (!isOfFolder && (chat.workspace === undefined || !isServed(served, chat.workspace)))
    throw new UserError("SESSION_NOT_FOUND", `The session ${sessionId} is not of a folder that is served.`);
  return restrict(taskRestrictions, { ...task, chat: { type: "resume", id: chat.id } });
}

function servedFolder(served: RunRequest, wanted: string): string {
  const path = realOf(resolve(served.workspace, wanted));
  if (isServed(served, path)) return path;
  throw new UserError(
    "UNTRUSTED",
    `${wanted} is outside what is served: ${[served.workspace, ...(served.roots ?? [])].join(", ")}. Serve it with --add-dir.`,
  );
}

function isServed({ workspace, roots = [] }: RunRequest, path: string): boolean {
  return [workspace, ...roots].some((root) => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep));
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    throw new UserError("CWD_MISSING", `The directory ${path} does not exist.`);
  }
}
