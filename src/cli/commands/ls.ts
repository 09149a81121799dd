// `ls`: lists chats, to choose from on a terminal, otherwise as a table or JSON.

import type { ChatMetadata } from "../../store/chats/chat.ts";
import { bytesIn } from "../../store/chats/disk-use.ts";
import { listChats, shownTitle } from "../../store/chats/list-chats.ts";
import { homeDir } from "../../store/config-dir.ts";
import { flagText } from "../flags.ts";
import type { Invocation } from "../main.ts";
import { pick } from "../picker.ts";
import { writeProgress, writeStderr } from "../stdout.ts";
import { answer, answerJson } from "./answer.ts";
import { resumeInTerminal } from "./resume.ts";
import { chatJson, chatLines, printableLine } from "./sessions/chat-lines.ts";
import { contextOf, type SessionsContext } from "./sessions/context.ts";

/** A chat in the list; after a search, with the text around the match. */
type ListedChat = { chat: ChatMetadata; snippet?: string };

const maxHits = 50;

export async function ls(invocation: Invocation): Promise<number> {
  const { flags } = invocation.line;
  const context = contextOf(invocation);
  const listed = await listedChats(invocation, context);
  if (flagText(flags, "format") === "json" || flagText(flags, "output-format") === "json") {
    return answerJson(
      listed.map(({ chat, snippet }) => ({
        ...chatJson(chat),
        ...(flags.has("size") && { bytes: bytesIn(chat.folder) }),
        ...(snippet !== undefined && { snippet }),
      })),
    );
  }
  if (listed.length === 0) return answer(nothingListed(invocation, context));
  const { isatty } = await import("node:tty");
  if (flags.has("format") || flags.has("size") || flags.has("print") || !isatty(0) || !isatty(1))
    return answer(chatTable(listed, invocation));

  // Programs create chats ahead of time; empty ones are not worth choosing from.
  const spoken = listed.filter(({ chat }) => chat.hasConversation);
  const chosen = await chooseChat(invocation, spoken.length > 0 ? spoken : listed);
  return chosen === undefined ? 0 : resumeInTerminal(withoutWords(invocation), chosen.id);
}

/** Lets the user choose a chat on the terminal. Returns undefined if none was chosen. */
export async function chooseChat(
  invocation: Invocation,
  listed: readonly ListedChat[],
): Promise<ChatMetadata | undefined> {
  const { rows } = chatLines(
    listed.map(({ chat }) => chat),
    { home: homeDir(invocation.env), now: Date.now() },
  );
  const choices = listed.map(({ chat, snippet }, index) => {
    // The id is for scripts; on a terminal it only takes room from the title.
    const text = rows[index]!.slice(chat.id.length + 2) + (snippet ? `  ${printableLine(snippet)}` : "");
    return { text, words: `${rows[index]} ${shownTitle(chat)} ${chat.workspace ?? ""} ${snippet ?? ""}` };
  });
  const index = await pick(choices, "Which chat?", invocation.env);
  return index === undefined ? undefined : listed[index]!.chat;
}

async function listedChats(invocation: Invocation, { configDir, workspace }: SessionsContext): Promise<ListedChat[]> {
  const { flags } = invocation.line;
  const text = flagText(flags, "search");
  if (text !== undefined) {
    const { searchChats } = await import("../../store/chats/search.ts");
    const hits = searchChats(configDir, text, {
      limit: maxHits,
      onProgress: indexingProgress(),
      onNotice: (notice) => writeStderr(`Note: ${notice}\n`),
    });
    return hits.map(({ metadata, snippet }) => ({ chat: metadata, snippet }));
  }
  const chats = listChats(
    configDir,
    flags.has("all") ? { onUnreadable: (problem) => writeStderr(`Warning: ${problem}\n`) } : { workspace },
  );
  return chats.map((chat) => ({ chat }));
}

/** Shows one line that is overwritten and finally erased. Shows nothing if stderr is not a terminal. */
function indexingProgress(): (done: number, total: number) => void {
  let shownCount = 0;
  let isSeen: boolean | undefined;
  return (done, total) => {
    isSeen ??= process.getBuiltinModule("node:tty").isatty(2);
    if (!isSeen || (done < total && Date.now() - shownCount < 100)) return;
    shownCount = Date.now();
    writeProgress(done < total ? `\rReading chats for the search: ${done} of ${total}` : "\r\x1b[K");
  };
}

function chatTable(listed: readonly ListedChat[], { env, line }: Invocation): string {
  const sizes = line.flags.has("size") ? listed.map(({ chat }) => bytesIn(chat.folder)) : undefined;
  const { header, rows } = chatLines(
    listed.map(({ chat }) => chat),
    { home: homeDir(env), now: Date.now(), sizes },
  );
  const lines = rows.flatMap((row, index) => {
    const snippet = listed[index]!.snippet;
    return snippet ? [row, `    ${printableLine(snippet)}`] : [row];
  });
  return `${[header, ...lines].join("\n")}\n`;
}

function nothingListed({ line, name }: Invocation, { workspace }: SessionsContext): string {
  const text = flagText(line.flags, "search");
  if (text !== undefined) return `No chat contains these words: ${printableLine(text)}\n`;
  if (line.flags.has("all")) return `No chats yet. To start one: ${name} "…"\n`;
  return `No chats in ${workspace} yet. To start one: ${name} "…"; those of other directories: ${name} ls --all\n`;
}

/** Drops the words of the command, so that `sessions list` does not become the prompt of the chat. */
function withoutWords(invocation: Invocation): Invocation {
  return { ...invocation, line: { ...invocation.line, words: [], plainWords: 0 } };
}
