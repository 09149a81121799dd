// Renames, deletes and forks stored sessions: chats of cursor in their store, sessions of CLIs with plain files in those.
import { UserError, usageError } from "../../protocol/error-codes.ts";
import { configDir } from "../../store/config-dir.ts";
import { collapsed } from "../../text/one-line.ts";
import { checkOptions, loadChecks, renameChecks } from "../option-checks.ts";
import { foreignReaders } from "./index.ts";
import { type LoadSessionOptions, loadSession } from "./library.ts";
import type { ReadSession, SessionEditor, SessionReader } from "./session.ts";

/** The options of `renameSession`. */
export type RenameSessionOptions = LoadSessionOptions & {
  /** The new title. */
  title: string;
};

/** Gives a stored session another title. */
export async function renameSession(options: RenameSessionOptions): Promise<void> {
  checkOptions("renameSession", options, renameChecks, { example: "{ tool, sessionId, title }", required: "title" });
  const { title, ...named } = options;
  if (collapsed(title) === "") throw usageError("renameSession: title must not be empty.");
  const { session, editor } = await findEditable("rename", named);
  editor.rename(session, collapsed(title));
}

/** Deletes a stored session for good, with those of its subagents. */
export async function deleteSession(options: LoadSessionOptions): Promise<void> {
  checkOptions("deleteSession", options, loadChecks, { example: "{ tool, sessionId }", required: "sessionId" });
  const { session, editor } = await findEditable("delete", options);
  editor.delete(session);
}

/** Copies a stored session without running a turn, and returns the id of the copy, for `resume`. */
export async function forkSession(options: LoadSessionOptions): Promise<string> {
  checkOptions("forkSession", options, loadChecks, { example: "{ tool, sessionId }", required: "sessionId" });
  const { session, editor } = await findEditable("fork", options);
  return editor.fork(session);
}

/** How to change sessions of CLIs that keep an index of them, which only the CLI itself can update. */
const ownWays: Partial<Record<string, Partial<Record<keyof SessionEditor, string>>>> = {
  codex: { delete: "codex delete ID", fork: "start({ tool: 'codex', resume, fork: true })" },
  gemini: { delete: "gemini --delete-session INDEX" },
  opencode: { delete: "opencode session delete ID", fork: "start({ tool: 'opencode', resume, fork: true })" },
};

async function findEditable(
  operation: keyof SessionEditor,
  options: LoadSessionOptions,
): Promise<{ session: ReadSession; editor: SessionEditor }> {
  const { tool, env = process.env } = options;
  const reader = (foreignReaders as Partial<Record<string, SessionReader>>)[tool];
  const editor = tool === "cursor" ? await chatEditor(configDir(env)) : reader?.editor;
  if (editor) return { session: await loadSession(options), editor };
  const way = ownWays[tool]?.[operation];
  throw new UserError(
    "NOT_SUPPORTED",
    `${operation}Session cannot change sessions of ${tool}, which keeps an index of them.${way ? ` Use: ${way}` : ""}`,
  );
}

/** Snapshots that only a deleted chat used go with the CLI's next sweep. */
async function chatEditor(config: string): Promise<SessionEditor> {
  const [{ openChat }, { deleteChat }, { forkChat }, { metadataAtAGlance, withSubagents }] = await Promise.all([
    import("../../store/chats/open-chat.ts"),
    import("../../store/chats/delete-chat.ts"),
    import("../../store/chats/fork-chat.ts"),
    import("../../store/chats/list-chats.ts"),
  ]);
  return {
    rename({ path }, title) {
      const chat = openChat(path);
      try {
        chat.rename(title);
      } finally {
        chat.close();
      }
    },
    delete({ path }) {
      for (const chat of withSubagents(config, [metadataAtAGlance(path)])) deleteChat(config, chat.folder);
    },
    fork: ({ path }) => forkChat(config, path).id,
  };
}
