// Which conversation a run belongs to: a new chat, a resumed one, a copy of one, or one that nobody keeps.
import type { Session } from "../agent/agent.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { ChatWriter } from "../store/chats/chat.ts";
import { isChatId } from "../store/chats/layout.ts";
import { randomUuid } from "../store/chats/random-uuid.ts";
import { createChat, openChat } from "../store/chats/writing.ts";
import { flagText } from "./flags.ts";
import type { PermissionMode, Setup } from "./start.ts";

export type RunSession = {
  id: string;
  /** What the run may do: as its flags say, else as the chat was left. */
  mode: PermissionMode;
  session: Session;
  /** Absent where nothing is kept. */
  chat?: ChatWriter;
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
  if (flags.has("no-persist")) {
    const { createSession } = await import("../agent/agent.ts");
    return {
      id,
      mode: setup.mode,
      session: createSession(resumed ? await messagesOf(await chosenFolder(setup)) : []),
      record: () => {},
      warnings: [],
      close: () => {},
    };
  }
  const kept = { mode: setup.mode === "force" ? "auto-run" : "default", model: setup.model.displayName };
  const chat = resumed
    ? openChat(await chosenFolder(setup), kept)
    : createChat({ configDir: setup.configDir, workspace: setup.workspace }, { id, ...kept });
  return {
    id: chat.facts.id,
    mode: lastingMode(chat, setup.mode),
    session: chat,
    chat,
    record: (event) => chat.record(event),
    warnings: chat.interrupted.map(
      ({ tool, callId }) =>
        `A call of ${tool} (${callId}) was cut off by the end of an earlier run. It is not run again.`,
    ),
    close: () => chat.close(),
  };
}

/** The first event of a run. */
export function initOf(setup: Setup, { id, mode }: RunSession): AgentEvent {
  return {
    type: "init",
    sessionId: id,
    cwd: setup.workspace,
    model: setup.model.displayName,
    permissionMode: mode,
    apiKeySource: setup.model.apiKeySource,
  };
}

function lastingMode(chat: ChatWriter, asked: PermissionMode): PermissionMode {
  const saved = chat.state("mode");
  const mode = asked === "default" && lasting.includes(saved) ? (saved as PermissionMode) : asked;
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

/** The folder of the chat to go on with; of its copy where one was asked for. */
async function chosenFolder({ invocation, configDir, workspace }: Setup): Promise<string> {
  const { flags } = invocation.line;
  const { findChat, forkChat } = await import("../store/chats/finding.ts");
  const folder = findChat(configDir, flagText(flags, "resume") ?? "-1", workspace, invocation.name);
  if (!flags.has("fork")) return folder;
  return forkChat(configDir, folder, { id: flagText(flags, "session-id") }).folder;
}

async function messagesOf(folder: string) {
  return (await import("../store/chats/reading.ts")).readMessages(folder);
}
