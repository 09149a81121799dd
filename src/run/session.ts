// Which conversation a run belongs to: a new chat, a resumed one, a copy of one, or one that nobody keeps.
import type { Session } from "../agent/agent.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { Message } from "../protocol/message.ts";
import type { ChatWriter } from "../store/chats/chat.ts";
import { isChatId } from "../store/chats/layout.ts";
import { createChat, openChat } from "../store/chats/open-chat.ts";
import { randomUuid } from "../store/chats/random-uuid.ts";
import { hasMcpFiles } from "../store/mcp-paths.ts";
import { flagText } from "../cli/flags.ts";
import type { McpPlan } from "./mcp-plan.ts";
import type { PermissionMode, Setup } from "./setup.ts";

/** As the first line tells them; one whose name another has taken is none of this run's. */
function listedServers({ servers }: McpPlan): { name: string; status: string }[] {
  return servers
    .filter(({ standing }) => standing !== "shadowed")
    .map(({ server, standing }) => ({ name: server.name, status: standing }));
}

/** Undefined where no server is configured: most runs have none, and load nothing for them. */
export async function findMcp(setup: Setup): Promise<McpPlan | undefined> {
  const { flags } = setup.invocation.line;
  if (!hasMcpFiles(setup) && !flags.has("mcp-config") && !flags.has("approve-mcp")) return undefined;
  return (await import("./mcp-plan.ts")).planMcp(setup);
}

export type RunSession = {
  id: string;
  /** What the run may do: as its flags say, else as the chat was left. */
  mode: PermissionMode;
  session: Session;
  /** Absent where nothing is kept. */
  chat?: ChatWriter;
  /** What the chat was left with: the todo list, the mode. */
  state(key: "todos" | "mode"): unknown;
  /** Keeps an event; throws when it cannot. */
  record(event: AgentEvent): void;
  /** What a resumed chat tells whoever goes on with it. */
  warnings: string[];
  close(): void;
};

/** Modes that a resume brings back. Force is consent, and that is given anew each time. */
const lasting: readonly unknown[] = ["plan", "ask"] satisfies PermissionMode[];

/** Throws what keeps the run from being kept: nothing runs that is not recorded. */
export async function openSession(setup: Setup): Promise<RunSession> {
  const { flags } = setup.invocation.line;
  const resumed = flags.has("resume") || flags.has("continue");
  const id = chosenId(setup, resumed);
  if (flags.has("session-id") && !flags.has("no-persist")) await checkFree(setup, id);
  if (flags.has("no-persist")) {
    const { createSession } = await import("../agent/agent.ts");
    const { messages, state } = resumed ? await readWhole(await chosenFolder(setup)) : nothing;
    return {
      id,
      mode: modeAfter(state.get("mode"), setup),
      session: createSession(messages),
      state: (key) => state.get(key),
      record: () => {},
      warnings: [],
      close: () => {},
    };
  }
  const kept = { mode: setup.mode === "force" ? "auto-run" : "default", model: setup.model.displayName };
  const warnings: string[] = [];
  const chat = resumed
    ? openChat(await chosenFolder(setup, (message) => warnings.push(message)), kept)
    : createChat({ configDir: setup.configDir, workspace: setup.workspace }, { id, ...kept });
  return {
    id: chat.facts.id,
    mode: lastingMode(chat, setup),
    session: chat,
    chat,
    state: (key) => chat.state(key),
    record: (event) => chat.record(event),
    warnings: [
      ...warnings,
      ...chat.interrupted.map(
        ({ tool, callId }) =>
          `A call of ${tool} (${callId}) was cut off by the end of an earlier run. It is not run again.`,
      ),
    ],
    close: () => chat.close(),
  };
}

/** The first event of a run. */
export function initOf(setup: Setup, { id, mode }: RunSession, mcp?: McpPlan): AgentEvent {
  return {
    type: "init",
    sessionId: id,
    cwd: setup.workspace,
    model: setup.model.displayName,
    permissionMode: mode,
    apiKeySource: setup.model.apiKeySource,
    ...(mcp && { mcpServers: listedServers(mcp) }),
  };
}

/** As the chat was left, unless a flag says otherwise. */
function modeAfter(saved: unknown, { mode, invocation }: Setup): PermissionMode {
  const isAsked = mode !== "default" || invocation.line.flags.has("mode");
  return !isAsked && lasting.includes(saved) ? (saved as PermissionMode) : mode;
}

function lastingMode(chat: ChatWriter, setup: Setup): PermissionMode {
  const saved = chat.state("mode");
  const mode = modeAfter(saved, setup);
  if (mode !== saved && (lasting.includes(mode) || saved !== undefined)) chat.saveState("mode", mode);
  return mode;
}

function chosenId({ invocation }: Setup, resumed: boolean): string {
  const { flags } = invocation.line;
  const given = flagText(flags, "session-id");
  if (flags.has("fork") && !resumed) {
    throw new UserError("USAGE", `--fork needs a chat to copy: ${invocation.name} --resume <chatId> --fork "…"`);
  }
  if (given === undefined) return randomUuid();
  if (resumed && !flags.has("fork"))
    throw new UserError("USAGE", "--session-id names a new chat; together with --resume it needs --fork.");
  if (!isChatId(given))
    throw new UserError(
      "USAGE",
      `--session-id '${given}' is no UUID. One is made with: ${invocation.name} create-chat`,
    );
  return given.toLowerCase();
}

/** An id is enough to resume by: no folder may have it already. */
async function checkFree({ configDir, invocation: { name } }: Setup, id: string): Promise<void> {
  const { isTaken } = await import("../store/chats/list-chats.ts");
  if (isTaken(configDir, id))
    throw new UserError("USAGE", `There is a chat with the id ${id} already. Go on with it: ${name} --resume ${id}`);
}

/** The folder of the chat to go on with; of its copy where one was asked for. */
async function chosenFolder(
  { invocation, configDir, workspace }: Setup,
  onLoss?: (message: string) => void,
): Promise<string> {
  const { flags } = invocation.line;
  const { findResumed, forkChat } = await import("../store/chats/find-chat.ts");
  const folder = findResumed(configDir, flagText(flags, "resume") ?? "-1", workspace, invocation.name);
  // What nobody keeps needs no copy.
  if (!flags.has("fork") || flags.has("no-persist")) return folder;
  return forkChat(configDir, folder, { id: flagText(flags, "session-id"), onLoss }).folder;
}

type WholeChat = { messages: Message[]; state: ReadonlyMap<string, unknown> };

const nothing: WholeChat = { messages: [], state: new Map() };

async function readWhole(folder: string): Promise<WholeChat> {
  const { readMessages } = await import("../store/chats/read-chat.ts");
  const { readState } = await import("../store/chats/saved-state.ts");
  return { messages: readMessages(folder), state: readState(folder, ["todos", "mode"]) };
}
