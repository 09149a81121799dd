// `sessions show`: prints a chat for reading: prompts, tool calls and answers, with long texts cut.
import { type Message, messageText } from "../../../protocol/message.ts";
import type { ChatRecord, ChatTurn } from "../../../store/chats/chat.ts";
import { listChats, shownTitle } from "../../../store/chats/list-chats.ts";
import { readWhatIsLeft } from "../../../store/chats/read-chat.ts";
import { homeDir } from "../../../store/config-dir.ts";
import { ageOf } from "../../../text/age.ts";
import { shortPath } from "../../../text/short-path.ts";
import { visible } from "../../../text/visible.ts";
import { cut } from "../../../text/width.ts";
import type { Invocation } from "../../main.ts";
import { writeStderr } from "../../stdout.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { chatJson, printableLine } from "./chat-lines.ts";
import { contextOf, findChatFolder } from "./context.ts";

export async function showSession(invocation: Invocation, words: readonly string[]): Promise<number> {
  const record = readWhatIsLeft(findChatFolder(invocation, words, "show"));
  const turns = record.turns.map((turn) => ({ ...turn, ...turnSummary(record, turn) }));
  for (const { message } of record.problems) writeStderr(`Warning: ${message}\n`);
  if (wantsJson(invocation)) return answerJson({ ...chatJson(record.metadata), turns });

  const heading = headingOf(record, invocation);
  const blocks = turns.map((turn) => blockOf(turn, invocation.name, record.metadata.id));
  return answer(`${[heading, ...blocks, ...subagentsOf(record, invocation)].join("\n\n")}\n`);
}

/** Lists the subagents' chats, which can be shown as well. */
function subagentsOf({ metadata, turns }: ChatRecord, invocation: Invocation): string[] {
  if (turns.length === 0) return [];
  const { configDir } = contextOf(invocation);
  const context = metadata.workspace !== undefined && { workspace: metadata.workspace };
  const children = listChats(configDir, { parent: metadata.id, ...context }).reverse();
  if (children.length === 0) return [];
  return [["Subagents:", ...children.map((child) => `  ${child.id}  ${printableLine(shownTitle(child))}`)].join("\n")];
}

type TurnSummary = {
  /** The tool calls of the turn, one line for each. */
  calls: string[];
  /** The text that followed the last tool call. */
  answer: string;
};

function turnSummary({ messages }: ChatRecord, { number }: ChatTurn): TurnSummary {
  const calls: string[] = [];
  let answerText = "";
  for (const { turn, message } of messages) {
    if (turn !== number || message.role !== "assistant") continue;
    const found = callsIn(message);
    calls.push(...found);
    answerText = found.length > 0 ? "" : answerText + messageText(message);
  }
  return { calls, answer: answerText };
}

function callsIn(message: Message): string[] {
  return message.parts.flatMap((part) => {
    if (part.type !== "tool_call") return [];
    const args = Object.values(typeof part.args === "object" && part.args !== null ? part.args : {});
    const first = args.find((value) => typeof value === "string" && value !== "") ?? "";
    return [printableLine(`${part.name} ${first}`)];
  });
}

function headingOf({ metadata, turns }: ChatRecord, { env }: Invocation): string {
  const count = turns.length === 1 ? "1 turn" : `${turns.length} turns`;
  const parts = [
    metadata.workspace && shortPath(metadata.workspace, homeDir(env)),
    metadata.model,
    count,
    ageOf(metadata.updatedAt, Date.now()),
  ];
  return `${printableLine(shownTitle(metadata))}\n${metadata.id} · ${parts
    .filter(Boolean)
    .map((part) => printableLine(part!))
    .join(" · ")}`;
}

const promptLines = 6;
const answerLines = 12;
const maxCalls = 12;
const lineWidth = 200;

function blockOf(turn: ChatTurn & TurnSummary, program: string, id: string): string {
  const number = `${turn.number}. `;
  const indent = " ".repeat(number.length);
  const prompt = beginningOf(turn.prompt, promptLines);
  const calls = turn.calls.slice(0, maxCalls).map((call) => `· ${cut(call, lineWidth)}`);
  if (turn.calls.length > maxCalls) calls.push(`· … and ${turn.calls.length - maxCalls} more calls`);
  const reply = turn.answer.trim() === "" ? [] : beginningOf(turn.answer, answerLines);
  const state = turn.status === "done" ? [] : [`(${turn.status})`];
  const isCut = prompt.at(-1) === "…" || reply.at(-1) === "…";
  const more = isCut ? [`All of it: ${program} sessions export ${id}`] : [];
  const lines = [...prompt, ...calls, ...reply, ...state, ...more];
  return lines.map((line, index) => `${index === 0 ? number : indent}${line}`.trimEnd()).join("\n");
}

function beginningOf(text: string, most: number): string[] {
  const lines = text
    .trim()
    .split(/\r?\n/)
    .map((line) => cut(visible(line.trimEnd()), lineWidth));
  return lines.length > most ? [...lines.slice(0, most - 1), "…"] : lines;
}
