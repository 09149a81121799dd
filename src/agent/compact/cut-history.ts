// What can go from a conversation, least missed first. Nothing here asks a model, and nothing cuts what the user said.
import { isObject } from "../../json/object.ts";
import {
  isPrompt,
  type Message,
  type Part,
  type ToolCallPart,
  type ToolResultPart,
  textOf,
} from "../../protocol/message.ts";
import { oneLine } from "../../text/one-line.ts";
import { countTokens, estimateTokens } from "./estimate.ts";

/** Of an old result, call or attachment so many characters stay. */
const shortText = 200;
const shortAnswer = 400;
const picturesNote = "[A picture was here; it was removed to save space.]";
/** How the prompt's attachments begin, which nobody typed. */
const attachments = /^Attached for the @ mentions above:\n/;

export function turnsOf(messages: readonly Message[]): Message[][] {
  const turns: Message[][] = [];
  for (const message of messages) {
    if (turns.length === 0 || isPrompt(message)) turns.push([message]);
    else turns.at(-1)!.push(message);
  }
  return turns;
}

/** The same conversation with short results, short calls, no pictures, no thoughts. */
export function shortenOld(messages: readonly Message[]): Message[] {
  return messages
    .map((message) => ({
      ...message,
      parts: message.parts.flatMap((part) => (part.type === "thinking" ? [] : [shortened(part, shortText)])),
    }))
    .filter((message) => message.parts.length > 0);
}

/** What of a turn was said by the user, or told as a rule that holds on. */
export function wordsOf(turn: readonly Message[]): Message[] {
  return turn.flatMap((message) => {
    if (message.role !== "user") return [];
    const parts = message.parts.filter((part) => part.type !== "tool_result");
    return parts.length > 0 ? [{ ...message, parts }] : [];
  });
}

/** Turn by turn from the oldest, until they take no more than `room`: the words stay, and the beginning of the answer. */
export function cutOldest(messages: readonly Message[], room: number): Message[] {
  const turns = turnsOf(messages);
  const cut: Message[] = [];
  let tokens = countTokens(messages);
  let count = 0;
  for (; count < turns.length && tokens > room; count++) {
    const short = inShort(turns[count]!);
    tokens += countTokens(short) - countTokens(turns[count]!);
    cut.push(...short);
  }
  return [...cut, ...turns.slice(count).flat()];
}

function inShort(turn: readonly Message[]): Message[] {
  const calls = turn.flatMap(({ parts }) => parts.filter((part) => part.type === "tool_call")).length;
  const last = turn.findLast((message) => message.role === "assistant");
  const answer = last ? middleCut(textOf(last), shortAnswer) : "";
  const note =
    calls > 0 ? `[${calls === 1 ? "A call" : `${calls} calls`} of tools went here, removed to save space.]` : "";
  const text = [answer, note].filter(Boolean).join("\n");
  const words = wordsOf(turn);
  return text === "" ? words : [...words, { role: "assistant", parts: [{ type: "text", text }] }];
}

/**
 * When the newest turn alone does not fit: what one reply brought takes a share of the room at most, then its older results
 * go, then its older steps but for a line each, then the latest results. The request stays, and so does what is remembered.
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

/** In characters, for each token of the room: an eighth of it for all that one reply brought. */
const replyShare = 0.5;

/** Short results stay whole, and what they leave is for the longer ones. */
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

/** A call and its results go together, the latest of them stay. Rules that were told beside a result go on standing behind the request. */
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
    const told = wordsOf([results]);
    const lines = said.parts.flatMap((part) => (part.type === "tool_call" ? [stepLine(part, results)] : []));
    tokens += countTokens(told) - countTokens([said, results]) + lines.join("\n").length / 4;
    rules.push(...told.flatMap(({ parts }) => parts));
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

/** What is remembered of the steps that went, in the place of what was remembered before. */
export function withMemory(messages: readonly Message[], text: string): Message[] {
  const start = Math.max(0, messages.findLastIndex(isPrompt));
  const request = messages[start]!;
  const parts = request.parts.filter((part) => !(part.type === "text" && part.text.startsWith(memoryNote)));
  const memory: Part = { type: "text", text: `${memoryNote}\n${text}` };
  return messages.map((message, index) => (index === start ? { ...request, parts: [...parts, memory] } : message));
}

/** The steps of the newest turn that are no longer in a shorter one, after what was remembered of those before them. */
export function stepsGone(messages: readonly Message[], shorter: readonly Message[]): Message[] {
  const start = Math.max(0, messages.findLastIndex(isPrompt));
  const gone = messages.length - start - (shorter.length - Math.max(0, shorter.findLastIndex(isPrompt)));
  if (gone === 0) return [];
  const memory = messages[start]!.parts.filter((part) => part.type === "text" && part.text.startsWith(memoryNote));
  return [{ role: "assistant", parts: memory }, ...messages.slice(start + 1, start + 1 + gone)];
}

const memoryNote = "[What these steps showed:]";
const stepsNote = "[The first steps of this turn, whose details were removed to save space:]";
const todosNote = "[The todo list after them:]";
/** Its lines, and the list. */
const partsOfNote = new RegExp(
  `\\n?${stepsNote.replace(/[[\]]/g, "\\$&")}\\n|\\n${todosNote.replace(/[[\]]/g, "\\$&")}\\n`,
);

/** A quarter of the room at most: of older steps the outcome goes first, and only then the step. */
function fittingLines(lines: readonly string[], room: number): string[] {
  const short = lines.map((line) => oneLine(line.split(" → ")[0]!, 60));
  let left = room;
  const from = short.findLastIndex((line) => (left -= line.length + 1) < 0) + 1;
  if (from > 0) return [`- (${from} earlier steps)`, ...short.slice(from)];
  const whole = lines.findLastIndex((line, index) => (left -= line.length - short[index]!.length) < 0) + 1;
  return [...short.slice(0, whole), ...lines.slice(whole)];
}

/** What was called, with what, and how it ended. */
function stepLine(call: ToolCallPart, results: Message): string {
  const target = isObject(call.args) ? Object.values(call.args).find((value) => typeof value === "string") : undefined;
  const result = resultOf(call, results);
  const lines = result?.text.trim().split("\n") ?? [];
  const outcome = lines.findLast((line) => /^\[[^…].*\]$/.test(line)) ?? lines[0] ?? "";
  const how = result?.isError ? "failed: " : "";
  return `- ${call.name} ${oneLine(String(target ?? ""), 80)} → ${how}${oneLine(outcome, 100)}`;
}

function todosIn(said: Message, results: Message): string | undefined {
  const call = said.parts.findLast((part) => part.type === "tool_call" && part.name === "TodoWrite");
  return call && resultOf(call as ToolCallPart, results)?.text;
}

function resultOf({ id }: ToolCallPart, { parts }: Message) {
  return parts.find((part) => part.type === "tool_result" && part.id === id) as ToolResultPart | undefined;
}

/** The older turns as a text for whoever sums them up: a share of the room for each part, so that none is passed over. */
export function materialOf(messages: readonly Message[], longest: number): string {
  const lines = messages.flatMap(({ role, parts }) => parts.map((part) => lineOf(role, part)));
  const share = Math.max(shortText, Math.floor(longest / Math.max(1, lines.length)) - 80);
  return middleCut(lines.map((line) => middleCut(line, share)).join("\n"), longest);
}

function lineOf(role: Message["role"], part: Part): string {
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
  return { ...message, parts: message.parts.map((part) => shortened(part, keep)) };
}

function shortened(part: Part, keep: number): Part {
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

/** Long texts in a call are contents of files, mostly. */
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
