// Cuts a conversation, the least useful parts first. Nothing here calls a model, and nothing cuts what the user wrote.
import { isObject } from "../../json/object.ts";
import {
  isPrompt,
  type Message,
  messageText,
  type Part,
  type ToolCallPart,
  type ToolResultPart,
} from "../../protocol/message.ts";
import { oneLine } from "../../text/one-line.ts";
import { countTokens, estimateTokens } from "./estimate.ts";

/** How many characters are left of an old tool result, call or attachment after compaction. */
const shortText = 200;
const shortAnswer = 400;
const picturesNote = "[A picture was here; it was removed to save space.]";
/** Matches the start of a prompt's attachments, which the user did not type. */
const attachments = /^Attached for the @ mentions above:\n/;

export function splitIntoTurns(messages: readonly Message[]): Message[][] {
  const turns: Message[][] = [];
  for (const message of messages) {
    if (turns.length === 0 || isPrompt(message)) turns.push([message]);
    else turns.at(-1)!.push(message);
  }
  return turns;
}

/** Returns the conversation with shortened results and calls, and without images and thinking. */
export function shortenOld(messages: readonly Message[]): Message[] {
  return messages
    .map((message) => ({
      ...message,
      parts: message.parts.flatMap((part) => (part.type === "thinking" ? [] : [shortenPart(part, shortText)])),
    }))
    .filter((message) => message.parts.length > 0);
}

/** Returns what the user wrote in a turn, and the rules that were sent with it. */
export function userMessages(turn: readonly Message[]): Message[] {
  return turn.flatMap((message) => {
    if (message.role !== "user") return [];
    const parts = message.parts.filter((part) => part.type !== "tool_result");
    return parts.length > 0 ? [{ ...message, parts }] : [];
  });
}

/** Shortens turn by turn, oldest first, until they fit into `room` (tokens): keeps the user's words and the start of the answer. */
export function cutOldest(messages: readonly Message[], room: number): Message[] {
  const turns = splitIntoTurns(messages);
  const cut: Message[] = [];
  let tokens = countTokens(messages);
  let count = 0;
  for (; count < turns.length && tokens > room; count++) {
    const short = shortenedTurn(turns[count]!);
    tokens += countTokens(short) - countTokens(turns[count]!);
    cut.push(...short);
  }
  return [...cut, ...turns.slice(count).flat()];
}

function shortenedTurn(turn: readonly Message[]): Message[] {
  const calls = turn.flatMap(({ parts }) => parts.filter((part) => part.type === "tool_call")).length;
  const last = turn.findLast((message) => message.role === "assistant");
  const answer = last ? middleCut(messageText(last), shortAnswer) : "";
  const note =
    calls > 0 ? `[${calls === 1 ? "A call" : `${calls} calls`} of tools went here, removed to save space.]` : "";
  const text = [answer, note].filter(Boolean).join("\n");
  const words = userMessages(turn);
  return text === "" ? words : [...words, { role: "assistant", parts: [{ type: "text", text }] }];
}

/**
 * Used when the newest turn alone does not fit. Limits what one reply brought to a share of the room, then cuts its older results, then
 * reduces its older steps to a line each, then cuts the latest results. The request and the memory of removed steps stay.
 */
export function cutNewest(messages: readonly Message[], room: number): Message[] {
  const start = Math.max(0, messages.findLastIndex(isPrompt));
  const fits = (list: readonly Message[]) => estimateTokens(list) <= room;
  let list = messages.map((message, index) => (index > start ? boundResults(message, room) : message));
  for (const keep of [2000, shortText]) {
    if (fits(list)) return list;
    list = list.map((message, index) => (index > start && index < list.length - 2 ? cutTo(message, keep) : message));
  }
  list = withoutOldCalls(list, start, room);
  for (const keep of [room / 2, shortAnswer]) {
    if (fits(list)) return list;
    list = list.map((message, index) => (index > start ? cutTo(message, keep) : message));
  }
  return fits(list) ? list : list.map((message) => cutTo(message, shortAnswer));
}

/** How many characters the results of one reply may have per token of `room`. A token has about four, so this is an eighth. */
const replyShare = 0.5;

/** Shortens the tool results of a message. Short results stay whole, and long ones share the rest of the limit. */
function boundResults(message: Message, room: number): Message {
  const lengths = message.parts.flatMap((part) => (part.type === "tool_result" ? [part.text.length] : []));
  let left = room * replyShare;
  let keep = Number.POSITIVE_INFINITY;
  for (const [index, length] of lengths.sort((one, other) => one - other).entries()) {
    const share = Math.floor(left / (lengths.length - index));
    if (length > share) {
      keep = Math.max(shortText, share);
      break;
    }
    left -= length;
  }
  return keep === Number.POSITIVE_INFINITY ? message : cutTo(message, keep);
}

/** Removes old calls together with their results and keeps the latest. Rules that came with a result move behind the request. */
function withoutOldCalls(messages: Message[], start: number, room: number): Message[] {
  const request = messages[start]!;
  const rules: Part[] = [];
  const isNote = (part: Part) => part.type === "text" && part.text.startsWith(stepsNote);
  const before = request.parts.find(isNote);
  const [, linesBefore = "", todosBefore = ""] = (before?.type === "text" ? before.text : "").split(partsOfNote);
  const steps = linesBefore === "" ? [] : linesBefore.split("\n");
  let todos = todosBefore;
  let tokens = countTokens(messages);
  let next = start + 1;
  while (Math.ceil(tokens) > room && next + 2 < messages.length && messages[next]!.role === "assistant") {
    const [said, results] = messages.slice(next, next + 2) as [Message, Message];
    const userParts = userMessages([results]);
    const lines = said.parts.flatMap((part) => (part.type === "tool_call" ? [stepLine(part, results)] : []));
    tokens += countTokens(userParts) - countTokens([said, results]) + lines.join("\n").length / 4;
    rules.push(...userParts.flatMap(({ parts }) => parts));
    steps.push(...lines);
    todos = todosIn(said, results) ?? todos;
    next += 2;
  }
  if (next === start + 1) return messages;
  const fitting = fittingLines(steps, room);
  const list = todos === "" ? [] : [todosNote, todos];
  const text = [stepsNote, ...fitting, ...list].join("\n");
  const parts: Part[] = [...request.parts.filter((part) => !isNote(part)), ...rules, { type: "text", text }];
  return [...messages.slice(0, start), { ...request, parts }, ...messages.slice(next)];
}

/** Inserts the summary of removed steps into the request, replacing the previous summary. */
export function withMemory(messages: readonly Message[], text: string): Message[] {
  const start = Math.max(0, messages.findLastIndex(isPrompt));
  const request = messages[start]!;
  const parts = request.parts.filter((part) => !(part.type === "text" && part.text.startsWith(memoryNote)));
  const memory: Part = { type: "text", text: `${memoryNote}\n${text}` };
  return messages.map((message, index) => (index === start ? { ...request, parts: [...parts, memory] } : message));
}

/** Returns the steps of the newest turn that `shorter` lacks, after the memory of the steps removed before. */
export function removedSteps(messages: readonly Message[], shorter: readonly Message[]): Message[] {
  const start = Math.max(0, messages.findLastIndex(isPrompt));
  const gone = messages.length - start - (shorter.length - Math.max(0, shorter.findLastIndex(isPrompt)));
  if (gone === 0) return [];
  const memory = messages[start]!.parts.filter((part) => part.type === "text" && part.text.startsWith(memoryNote));
  return [{ role: "assistant", parts: memory }, ...messages.slice(start + 1, start + 1 + gone)];
}

const memoryNote = "[What these steps showed:]";
const stepsNote = "[The first steps of this turn, whose details were removed to save space:]";
const todosNote = "[The todo list after them:]";
/** Splits the note into its lines and the to-do list. */
const partsOfNote = new RegExp(
  `\\n?${stepsNote.replace(/[[\]]/g, "\\$&")}\\n|\\n${todosNote.replace(/[[\]]/g, "\\$&")}\\n`,
);

/** Limits the lines to a quarter of `room`: removes the outcomes of older steps first, and only then whole steps. */
function fittingLines(lines: readonly string[], room: number): string[] {
  const short = lines.map((line) => oneLine(line.split(" → ")[0]!, 60));
  let left = room;
  const from = short.findLastIndex((line) => (left -= line.length + 1) < 0) + 1;
  if (from > 0) return [`- (${from} earlier steps)`, ...short.slice(from)];
  const whole = lines.findLastIndex((line, index) => (left -= line.length - short[index]!.length) < 0) + 1;
  return [...short.slice(0, whole), ...lines.slice(whole)];
}

/** Summarises a tool call in one line: tool, target and outcome. */
function stepLine(call: ToolCallPart, results: Message): string {
  const target = isObject(call.args) ? Object.values(call.args).find((value) => typeof value === "string") : undefined;
  const result = findCallResult(call, results);
  const lines = result?.text.trim().split("\n") ?? [];
  const outcome = lines.findLast((line) => /^\[[^…].*\]$/.test(line)) ?? lines[0] ?? "";
  const how = result?.isError ? "failed: " : "";
  return `- ${call.name} ${oneLine(String(target ?? ""), 80)} → ${how}${oneLine(outcome, 100)}`;
}

function todosIn(callMessage: Message, results: Message): string | undefined {
  const call = callMessage.parts.findLast((part) => part.type === "tool_call" && part.name === "TodoWrite");
  return call && findCallResult(call as ToolCallPart, results)?.text;
}

function findCallResult({ id }: ToolCallPart, { parts }: Message) {
  return parts.find((part) => part.type === "tool_result" && part.id === id) as ToolResultPart | undefined;
}

/** Renders older turns as text to be summarised. Each part may use a share of the length, so that none is skipped. */
export function materialOf(messages: readonly Message[], longest: number): string {
  const lines = messages.flatMap(({ role, parts }) => parts.map((part) => partLine(role, part)));
  const share = Math.max(shortText, Math.floor(longest / Math.max(1, lines.length)) - 80);
  return middleCut(lines.map((line) => middleCut(line, share)).join("\n"), longest);
}

function partLine(role: Message["role"], part: Part): string {
  switch (part.type) {
    case "text":
      return `${role === "user" ? "User" : "Agent"}: ${part.text}`;
    case "tool_call":
      return `Call: ${part.name} ${JSON.stringify(part.args)}`;
    case "tool_result":
      return `${part.isError ? "Failure" : "Result"}: ${part.text}`;
    case "image":
    case "thinking":
      return "";
  }
}

function cutTo(message: Message, keep: number): Message {
  return { ...message, parts: message.parts.map((part) => shortenPart(part, keep)) };
}

function shortenPart(part: Part, keep: number): Part {
  switch (part.type) {
    case "image":
      return { type: "text", text: picturesNote };
    case "tool_call":
      return { ...part, args: shortValue(part.args, keep) };
    case "tool_result": {
      const { images, ...rest } = part;
      const text = middleCut(part.text, keep);
      return { ...rest, text: images ? `${text}\n${picturesNote}` : text };
    }
    case "text":
      return attachments.test(part.text) ? { ...part, text: middleCut(part.text, keep) } : part;
    case "thinking":
      return part;
  }
}

/** Shortens long strings in a call's arguments, which are mostly file contents. */
function shortValue(value: unknown, keep: number): unknown {
  if (typeof value === "string") return middleCut(value, keep);
  if (Array.isArray(value)) return value.map((each) => shortValue(each, keep));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shortValue(each, keep)]));
}

function middleCut(text: string, keep: number): string {
  if (text.length <= keep + 60) return text;
  const half = Math.floor(keep / 2);
  const head = text.slice(0, half).replace(/[\ud800-\udbff]$/, "");
  const tail = text.slice(text.length - half).replace(/^[\udc00-\udfff]/, "");
  return `${head}\n[… ${text.length - head.length - tail.length} characters removed to save space …]\n${tail}`;
}
