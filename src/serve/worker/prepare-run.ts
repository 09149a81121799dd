// Prepares a run before its agent starts: creates its workspace, and restores the chat that it resumes.
import { createWriteStream, existsSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { UserError } from "../../protocol/error-codes.ts";
import { takeStore } from "../../store/chats/carry-chat.ts";
import { deleteChat } from "../../store/chats/delete-chat.ts";
import { chatFolder } from "../../store/chats/layout.ts";
import { readChat } from "../../store/chats/read-chat.ts";
import { untilWritable } from "../../store/chats/writer-lock.ts";
import { forgetWorkspace } from "../../store/forget-workspace.ts";
import { programName } from "../../text/program-name.ts";
import type { Entry, Fleet, RunEnd, RunRecord, RunSpec } from "../fleet.ts";
import { readSpec } from "../new-run.ts";
import { type Continuation, readContinuation } from "./continuation.ts";
import { claimFolder, leaveFolder } from "./run-folders.ts";
import { makeWorkspace, type RunWorkspace, type WorkerDisk } from "./workspace.ts";

export type WorkerPlace = {
  configDir: string;
  disk: WorkerDisk;
  /** The sandbox setting for runs in the worker's own workspaces that do not set one. */
  sandbox?: "enabled" | "refused";
};

export type PreparedRun = {
  spec: RunSpec;
  /** Absent if the run works in a directory that is not the worker's. */
  workspace?: RunWorkspace;
  /** The folder for temporary files. */
  folder: string;
  /** The prompts of a chat that was already here, in the state of the checkpoint or a later one. */
  sentPrompts?: readonly string[];
  /** Set if the chat was here in a different state, which was moved aside. */
  notice?: string;
};

/** Prepares the workspace and chat of a run. One that resumes a session from another worker gets the chat of that earlier run. */
export async function prepareRun(
  fleet: Fleet,
  run: RunRecord,
  continuation: Continuation | undefined,
  { place, signal }: { place: WorkerPlace; signal: AbortSignal },
): Promise<PreparedRun> {
  const spec = readSpec(run.spec);
  const { disk, configDir } = place;
  const origin = continuation?.checkpoint
    ? { run: run.id, checkpoint: continuation.checkpoint, sessionId: continuation.sessionId! }
    : await resumedElsewhere(fleet, run);
  const snapshot = origin?.checkpoint.workspace && (await fleet.get(origin.run, origin.checkpoint.workspace));
  const workspace =
    spec.source && (await makeWorkspace(fleet, run, spec.source, { disk, signal, ...(snapshot && { snapshot }) }));
  const folder = workspace?.folder ?? claimFolder(disk.dataDir, run);
  try {
    const path = realpathSync(workspace?.path ?? spec.request.workspace);
    const request = { ...spec.request, ...(workspace && { workspace: path, ...sandboxFor(spec, place) }) };
    if (!origin) return { spec: { ...spec, request }, folder, ...(workspace && { workspace }) };
    const taken = await takeChat(fleet, origin, { configDir, workspace: path, folder });
    const resumed = { ...request, chat: { type: "resume", id: origin.sessionId } as const };
    return { spec: { ...spec, request: resumed }, folder, ...(workspace && { workspace }), ...taken };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Puts a run into the sandbox, because no one supervises a run from elsewhere, unless its sender or the operator disabled that. */
function sandboxFor({ cli, request }: RunSpec, { sandbox }: WorkerPlace): { sandbox?: "enabled" } {
  if (cli !== "courser" || request.sandbox !== undefined || sandbox === undefined) return {};
  if (sandbox === "enabled") return { sandbox };
  throw new UserError(
    "SANDBOX_UNAVAILABLE",
    `This worker has no sandbox. Give it one ('${programName()} worker debug' says what is missing), or start the run with --sandbox disabled.`,
  );
}

type Origin = { run: string; checkpoint: Extract<Entry, { type: "checkpoint" }>; sessionId: string };

/** Returns the last checkpoint of the session that a run with its own workspace resumes. */
async function resumedElsewhere(fleet: Fleet, { id, agent, spec }: RunRecord): Promise<Origin | undefined> {
  const { chat } = spec.request;
  if (!spec.source || spec.cli !== "courser" || chat?.type !== "resume") return undefined;
  for (const earlier of await fleet.runs({ agent, before: id, limit: 20 })) {
    if (earlier.sessionId !== chat.id) continue;
    const { checkpoint } = (await readContinuation(fleet, earlier.id)) ?? {};
    if (checkpoint) return { run: earlier.id, checkpoint, sessionId: chat.id };
  }
  return undefined;
}

/** How long to wait for the process of a lost host: it may be frozen, and ends its run when it wakes. */
const maxWaitMs = 30_000;

async function takeChat(
  fleet: Fleet,
  { run, checkpoint, sessionId }: Origin,
  { configDir, workspace, folder }: { configDir: string; workspace: string; folder: string },
): Promise<Pick<PreparedRun, "sentPrompts" | "notice">> {
  const bytes = await fleet.get(run, checkpoint.chat);
  if (!bytes) throw new UserError("SESSION_NOT_FOUND", `The chat of the run ${run} is no longer in the fleet.`);
  const file = join(folder, "chat.db");
  const { createGunzip } = process.getBuiltinModule("node:zlib"); // loaded where a chat is carried over
  await pipeline(Readable.from(bytes), createGunzip(), createWriteStream(file, { mode: 0o600 }));
  const home = chatFolder(configDir, workspace, sessionId);
  if (existsSync(home)) await untilWritable(home, maxWaitMs);
  const { isKept, aside } = takeStore(file, { configDir, workspace }, sessionId);
  rmSync(file, { force: true });
  if (isKept) {
    const { events } = readChat(home, { events: true });
    return { sentPrompts: events.flatMap(({ event }) => (event.type === "user" ? [event.text] : [])) };
  }
  if (aside === undefined) return {};
  return { notice: `The chat ${sessionId} was here in another state, which is kept as ${aside}.` };
}

/** Removes the worker's own workspace and what was stored for it; its chat is in the fleet. */
export function cleanUpRun(
  { workspace, folder, spec }: PreparedRun,
  { end, chatId, configDir }: { end: RunEnd | undefined; chatId: string | undefined; configDir: string },
): void {
  if (workspace?.keepFailed && end?.outcome === "error") {
    leaveFolder(folder);
    return;
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  if (!workspace) return;
  const path = spec.request.workspace;
  try {
    if (spec.cli === "courser" && chatId !== undefined) deleteChat(configDir, chatFolder(configDir, path, chatId));
    forgetWorkspace(configDir, path);
  } catch {
    // The user can still find the chat among those of this machine and delete it.
  }
}
