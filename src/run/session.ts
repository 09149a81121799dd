// Opens the conversation of a run: a new chat, a resumed one, a copy of one, or one that is not stored.
import type { Session } from "../agent/agent.ts";
import type { ScriptPlace } from "../model/scripted.ts";
import { usageError } from "../protocol/error-codes.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { EventKeeper } from "../protocol/event-log.ts";
import type { Message } from "../protocol/message.ts";
import type { ChatChoice, PermissionMode } from "../protocol/run.ts";
import type { ChatWriter } from "../store/chats/chat.ts";
import { isChatId } from "../store/chats/layout.ts";
import { createChat, openFreeChat } from "../store/chats/open-chat.ts";
import { randomUuid } from "../store/chats/random-uuid.ts";
import { hasMcpFiles } from "../store/mcp-paths.ts";
import { digestOf } from "../text/digest.ts";
import type { McpPlan } from "./mcp-plan.ts";
import type { Setup } from "./setup.ts";

/** Lists servers for the `init` event; shadowed ones are not part of the run. */
function listedServers({ servers }: McpPlan): { name: string; status: string }[] {
  return servers
    .filter(({ standing }) => standing !== "shadowed")
    .map(({ server, standing }) => ({ name: server.name, status: standing }));
}

/** Plans the MCP servers of a run. Returns undefined, and loads nothing, if none is configured, as in most runs. */
export async function findMcp(setup: Setup): Promise<McpPlan | undefined> {
  const { mcpConfigs = [], approvedServers = [] } = setup.request;
  const isNamed = approvedServers !== "all" && approvedServers.length > 0;
  const hasPlugins = setup.plugins.some(({ servers }) => servers.length > 0);
  if (!hasMcpFiles(setup) && mcpConfigs.length === 0 && !isNamed && !hasPlugins) return undefined;
  const { planMcp } = await import("./mcp-plan.ts");
  return planMcp({ ...setup, env: setup.host.env, mcpConfigs, approvedServers });
}

/** `script` is how far the chat is in a scripted model's replies. */
type StateKey = "todos" | "mode" | "script" | "recentWork";

export type RunSession = {
  id: string;
  /** The mode that the flags set, else the one that the chat was left in. */
  mode: PermissionMode;
  session: Session;
  /** The stored chat; absent if nothing is stored. */
  chat?: ChatWriter;
  /** Returns state stored with the chat, such as the to-do list and the mode. */
  state(key: StateKey): unknown;
  saveState(key: StateKey, value: unknown): void;
  /** Warnings for a user who resumes the chat. */
  warnings: string[];
  close(): void;
};

/** Modes that a resume restores. Force is consent, which must be given again each time. */
export const lastingModes: readonly unknown[] = ["plan", "ask"] satisfies PermissionMode[];

/** Opens the chat of a run. Throws if the run cannot be stored: nothing runs without being recorded. */
export async function openSession(setup: Setup): Promise<RunSession> {
  const choice = await chosenChat(setup);
  const { ephemeral } = setup.request;
  if (ephemeral) return ephemeralSession(setup, choice);
  const metadata = { mode: setup.mode === "force" ? "auto-run" : "default", model: setup.model.displayName };
  const warnings: string[] = [];
  const chat =
    choice.type === "resume"
      ? await openFreeChat(await chosenFolder(setup, choice, (message) => warnings.push(message)), metadata)
      : createChat(setup, { id: await newId(setup, choice.id), ...metadata });
  if (choice.name) chat.rename(choice.name);
  return {
    id: chat.metadata.id,
    mode: lastingMode(chat, setup),
    session: chat,
    chat,
    state: (key) => chat.state(key),
    saveState: (key, value) => chat.saveState(key, value),
    warnings: [
      ...warnings,
      ...chat.problems.map(({ message }) => `${message} The conversation is complete and continues.`),
      ...chat.interrupted.map(
        ({ tool, callId }) =>
          `A call of ${tool} (${callId}) was cut off by the end of an earlier run. It is not run again.`,
      ),
    ],
    close: () => chat.close(),
  };
}

async function chosenChat({ request, configDir }: Setup): Promise<ChatChoice> {
  const { chat = { type: "new" } } = request;
  if (chat.type === "new" || !chat.orNew) return chat;
  const { isTaken } = await import("../store/chats/list-chats.ts");
  return isTaken(configDir, chat.id.toLowerCase()) ? chat : { ...chat, type: "new" };
}

/** Opens a session that stores nothing; a chat that it resumes stays unchanged. */
async function ephemeralSession(setup: Setup, choice: ChatChoice): Promise<RunSession> {
  const { createSession } = await import("../agent/agent.ts");
  const resumed = choice.type === "resume" ? await readWhole(await chosenFolder(setup, choice)) : nothing;
  const state = new Map(resumed.state);
  const chatId = choice.type === "new" ? choice.id : choice.newId;
  return {
    id: chatId ?? newUuid(setup),
    mode: modeAfter(state.get("mode"), setup),
    session: createSession(resumed.messages),
    state: (key) => state.get(key),
    saveState: (key, value) => void state.set(key, value),
    warnings: [],
    close: () => {},
  };
}

/** Tracks the position in a script, so that a resumed chat continues it; another file starts at its first reply. */
export function scriptPlaceIn({ state, saveState }: Pick<RunSession, "state" | "saveState">): ScriptPlace {
  return {
    repliesGiven(file) {
      const savedScript = state("script") as { file: string; repliesGiven: number } | undefined;
      return savedScript?.file === file ? savedScript.repliesGiven : 0;
    },
    keep: (file, repliesGiven) => saveState("script", { file, repliesGiven }),
  };
}

export function initEvent(setup: Setup, { id, mode }: RunSession, mcp?: McpPlan): AgentEvent {
  return {
    type: "init",
    sessionId: id,
    cwd: setup.workspace,
    model: setup.model.displayName,
    permissionMode: mode,
    apiKeySource: setup.model.apiKeySource,
    ...policyHash(setup, mode),
    ...(mcp && { mcpServers: listedServers(mcp) }),
  };
}

/**
 * Hashes what decides what the run may do: mode, rule texts, trust, and what the flags permit. Returns nothing when there is only the mode,
 * which the `init` event already contains.
 */
function policyHash({ rules, trusted, request, settings }: Setup, mode: PermissionMode): { policyHash?: string } {
  const ruleTexts = rules
    .filter(({ source }) => source !== "built in")
    .map(({ verdict, text, scope }) => `${verdict} ${scope} ${text}`);
  const { sandbox, approvedServers = [], autoReview, allowedTools, disallowedTools } = request;
  const asked = {
    sandbox,
    autoReview,
    allowedTools,
    disallowedTools,
    ...(approvedServers.length > 0 && { approvedServers }),
  };
  const isPlain = ruleTexts.length === 0 && Object.values(asked).every((value) => value === undefined);
  if (isPlain) return {};
  return { policyHash: digestOf(JSON.stringify([mode, trusted, settings.approvalMode, ruleTexts.sort(), asked])) };
}

/** Stores events in the chat. They can still be read after the chat is closed. */
export function chatKeeper(chat: ChatWriter): EventKeeper {
  return {
    record: (event) => chat.record(event),
    async events(from, most) {
      if (!chat.isClosed) return chat.events(from, most);
      const { readEventsFrom } = await import("../store/chats/read-chat.ts");
      return readEventsFrom(chat.metadata.folder, from, most);
    },
  };
}

/** Returns the mode that the chat was left in, unless a flag sets another. */
function modeAfter(saved: unknown, { mode, request }: Setup): PermissionMode {
  const isAsked = mode !== "default" || request.mode !== undefined;
  return !isAsked && lastingModes.includes(saved) ? (saved as PermissionMode) : mode;
}

function lastingMode(chat: ChatWriter, setup: Setup): PermissionMode {
  const saved = chat.state("mode");
  const mode = modeAfter(saved, setup);
  if (mode !== saved && (lastingModes.includes(mode) || saved !== undefined)) chat.saveState("mode", mode);
  return mode;
}

function newUuid({ host }: Setup): string {
  return (host.seams?.newId ?? randomUuid)();
}

/** Returns an unused id: a chat can be resumed by its id alone, so it must be unique across folders. */
async function newId(setup: Setup, wantedId: string | undefined): Promise<string> {
  if (wantedId === undefined) return newUuid(setup);
  const id = wantedId.toLowerCase();
  const { program } = setup.host;
  if (!isChatId(id)) throw usageError(`The chat id '${wantedId}' is not a UUID.`);
  const { isTaken } = await import("../store/chats/list-chats.ts");
  if (isTaken(setup.configDir, id))
    throw usageError(`A chat with the id ${id} already exists. Resume it: ${program} --resume ${id}`);
  return id;
}

/** Returns the folder of the chat to resume, or of a copy of it if one was requested. */
async function chosenFolder(
  setup: Setup,
  { id, fork, newId: copyId }: Extract<ChatChoice, { type: "resume" }>,
  onLoss?: (message: string) => void,
): Promise<string> {
  const { configDir, workspace, host, request } = setup;
  const { findResumed, forkChat } = await import("../store/chats/find-chat.ts");
  const folder = findResumed(configDir, id, workspace, host.program);
  // A run that stores nothing needs no copy of the chat.
  if (!fork || request.ephemeral) return folder;
  const free = copyId === undefined ? undefined : await newId(setup, copyId);
  return forkChat(configDir, folder, { id: free, onLoss }).folder;
}

type WholeChat = { messages: Message[]; state: ReadonlyMap<string, unknown> };

const nothing: WholeChat = { messages: [], state: new Map() };

async function readWhole(folder: string): Promise<WholeChat> {
  const { readMessages, readState } = await import("../store/chats/read-chat.ts");
  return { messages: readMessages(folder), state: readState(folder, ["todos", "mode"]) };
}
