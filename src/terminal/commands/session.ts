// Commands about chats: start, resume, copy, rewind, rename, export.
import { join } from "node:path";
import { findChat } from "../../store/chats/find-chat.ts";
import { listChats, shownTitle } from "../../store/chats/list-chats.ts";
import { configDir, homeDir } from "../../store/config-dir.ts";
import { ageOf } from "../../text/age.ts";
import { oneLine } from "../../text/one-line.ts";
import { shortPath } from "../../text/short-path.ts";
import { counted } from "../../view/numbers.ts";
import { copyText } from "../clipboard.ts";
import type { Desk } from "../desk.ts";
import { linePanel } from "../panels/line.ts";
import { commandOutput, type SlashCommand } from "./command.ts";
import { reopen, resumeChat } from "./resume-chat.ts";
import { chooseTurn } from "./rewind.ts";
import { loginCommand } from "./settings.ts";

export const sessionCommands: readonly SlashCommand[] = [
  {
    name: "clear",
    aliases: ["new", "new-chat", "newchat"],
    help: "Start a new chat",
    needsIdle: true,
    async run(desk) {
      await desk.switchTo({ ...desk.conversation.request, chat: { type: "new" } });
    },
  },
  {
    name: "resume",
    aliases: ["sessions"],
    operands: "[chat id]",
    help: "Resume another chat",
    needsIdle: true,
    run: resume,
  },
  {
    name: "rewind",
    aliases: ["undo", "restore"],
    help: "Rewind conversation and files to before a message (esc esc)",
    needsIdle: true,
    run: chooseTurn,
  },
  {
    name: "changes",
    aliases: ["diff"],
    help: "What this session changed, by file and by turn (ctrl+r)",
    run: (desk) => desk.perform("review"),
  },
  {
    name: "fork",
    aliases: ["branch", "duplicate"],
    help: "Continue in a copy of this chat",
    needsIdle: true,
    run: (desk) => resumeChat(desk, desk.conversation.info.chatId, { fork: true }),
  },
  {
    name: "rename",
    operands: "<name>",
    help: "Rename this chat",
    needsIdle: true,
    run: rename,
  },
  {
    name: "export",
    operands: "[file]",
    help: "Export this chat to a file: .md, .html, .json or .jsonl",
    run: exportChat,
  },
  {
    name: "copy",
    help: "Copy the last answer, or a code block of it",
    run: copyAnswer,
  },
  {
    name: "copy-request-id",
    aliases: ["copy-req-id"],
    help: "Copy the id of the last request",
    run: (desk) => copy(desk, desk.conversation.lastRequestId, "the request id"),
  },
  {
    name: "copy-conversation-id",
    help: "Copy the id of this chat",
    run: (desk) => copy(desk, desk.conversation.info.chatId ?? "", "the chat id"),
  },
  {
    name: "full-conversation",
    aliases: ["transcript"],
    help: "Read the whole conversation again (ctrl+o)",
    run: (desk) => desk.perform("transcript"),
  },
  {
    name: "logs",
    help: "Show and copy the path of this chat's files",
    run: showLogs,
  },
  { name: "detach", help: "Leave a background run; it keeps running", isBeside: true, run: detachRun },
  { name: "stop", help: "Stop a background run", isBeside: true, run: stop },
  loginCommand,
  { name: "logout", help: "Remove saved keys", run: commandOutput("logout") },
  { name: "quit", aliases: ["exit"], help: "Quit", isBeside: true, run: (desk) => desk.leave() },
];

async function resume(desk: Desk, rest: string): Promise<void> {
  if (rest !== "") return resumeChat(desk, rest);
  const { workspace } = desk.conversation.request;
  const chats = listChats(configDir(desk.env), { workspace }).filter(
    ({ id, hasConversation }) => hasConversation && id !== desk.conversation.info.chatId,
  );
  if (chats.length === 0) return desk.say("There is no other chat in this directory yet.");
  const now = Date.now();
  const id = await desk.choose({
    title: "Resume",
    items: chats.map((chat) => ({
      value: chat.id,
      label: oneLine(shownTitle(chat), 60),
      detail: chat.model ?? "",
      note: ageOf(chat.updatedAt, now),
    })),
  });
  if (id !== undefined) await resumeChat(desk, id);
}

/** Closes the run to rename the chat, then reopens it: a chat has a single writer, the run that has it open. */
async function rename(desk: Desk, name: string): Promise<void> {
  const { chatId } = desk.conversation.info;
  if (name === "") return desk.complain("A name is missing: /rename <name>");
  if (chatId === undefined || desk.conversation.turn === 0)
    return desk.complain("There is nothing to rename yet: send a message first.");
  await desk.conversation.close();
  const { code, text } = await desk.command(["sessions", "rename", chatId, name]);
  await reopen(desk, desk.conversation.request);
  if (code === 0) desk.say(`This chat is now called ${name}.`);
  else desk.complain(text.trim());
}

async function showLogs(desk: Desk): Promise<void> {
  const { info, request } = desk.conversation;
  if (request.ephemeral || info.chatId === undefined) return desk.say("This chat is not saved.");
  const folder = findChat(configDir(desk.env), info.chatId, request.workspace, desk.program);
  desk.say(folder);
  await copy(desk, folder, "the path");
}

const formats: Readonly<Record<string, string>> = {
  md: "markdown",
  html: "html",
  json: "json",
  jsonl: "stream-json",
  "atif.json": "atif",
};

async function exportChat(desk: Desk, rest: string): Promise<void> {
  const { chatId } = desk.conversation.info;
  if (chatId === undefined) return desk.complain("There is nothing to export yet.");
  const named = rest === "" ? await askFile(desk, chatId) : rest;
  if (named === undefined || named.trim() === "") return;
  const file = named.trim().replace(/^~(?=\/)/, homeDir(desk.env));
  const format = formats[/\.(atif\.json|\w+)$/.exec(file)?.[1] ?? ""] ?? "markdown";
  const { code, text } = await desk.command(["export", chatId, "--format", format, "--output", file]);
  if (code === 0) desk.say(`Written to ${file}.`);
  else desk.complain(text.trim());
}

/** Asks for the export file. The default is next to the chat's own files: nothing is written into a repository unasked. */
function askFile(desk: Desk, chatId: string): Promise<string | undefined> {
  const { request } = desk.conversation;
  const folder = request.ephemeral
    ? homeDir(desk.env)
    : findChat(configDir(desk.env), chatId, request.workspace, desk.program);
  const text = shortPath(join(folder, `chat-${chatId.slice(0, 8)}.md`), homeDir(desk.env));
  return desk.open(linePanel(desk.palette, { title: "Export to:", text, note: "md, html, json, jsonl" }));
}

/** Asks what to copy if the answer has code blocks. */
async function copyAnswer(desk: Desk): Promise<void> {
  const { lastAnswer } = desk.conversation;
  const blocks = [...lastAnswer.matchAll(/^ {0,3}(`{3,}|~{3,})(.*)\n([\s\S]*?)^ {0,3}\1/gm)];
  const answer = { value: { text: lastAnswer, what: "the last answer" }, label: "the whole answer" };
  const chosen =
    blocks.length === 0
      ? answer.value
      : await desk.choose({
          title: "Copy",
          items: [
            answer,
            ...blocks.map(([, , language = "", code = ""]) => ({
              value: { text: code, what: "the code" },
              label: oneLine(code, 60),
              detail: language.trim(),
              note: counted(code.split("\n").length - 1, "line"),
            })),
          ],
          enter: "copies",
        });
  if (chosen) await copy(desk, chosen.text, chosen.what);
}

async function copy(desk: Desk, text: string, what: string): Promise<void> {
  if (text === "") return desk.say("There is nothing to copy yet.");
  const copied = await copyText(text, { env: desk.env, cwd: desk.conversation.request.workspace });
  if (copied.type === "copied") desk.say(`Copied ${what}.`);
  // Over ssh, the terminal on the user's side may be able to copy.
  else if (desk.copyByTerminal(text)) desk.say(`Copied ${what}, if your terminal lets programs copy.`);
  else desk.complain(copied.message);
}

const notInBackground =
  "This is not a background run: it is saved and can be resumed, but runs only while the terminal is open.";

function detachRun(desk: Desk): void {
  if (desk.conversation.attachment) desk.leave();
  else desk.complain(`${notInBackground} To start one: ${desk.program} persist "…"`);
}

async function stop(desk: Desk): Promise<void> {
  const { attachment } = desk.conversation;
  if (!attachment) return desk.complain(`${notInBackground} Esc interrupts the turn.`);
  const isTold = await attachment.stop("The run was stopped by its user.");
  desk.say(isTold ? "The run is being stopped." : "The run has already ended. Your next prompt starts a new one.");
}
