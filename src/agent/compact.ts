// Shortening a conversation that no longer fits: old results first, then old exchanges, the present request last.
import type { Message, Part } from "../protocol/message.ts";

/** Characters that one token stands for, roughly; good enough to decide when to shorten. */
const charactersPerToken = 4;
/** What a picture is taken to cost. */
const imageCharacters = 6000;
const removalNote = "[Earlier parts of this conversation were removed to save space.]";

export function estimateTokens(messages: readonly Message[]): number {
  return Math.ceil(sizeOfAll(messages) / charactersPerToken);
}

/**
 * Fits the conversation into `tokens`, one step after the other until it does. Every call keeps its result, and the
 * request that is being worked on stays, cut only to what is left when nothing else can go.
 */
export function compact(messages: readonly Message[], tokens: number): Message[] {
  const budget = tokens * charactersPerToken;
  const fits = (list: readonly Message[]) => sizeOfAll(list) <= budget;
  let list = messages.map((message) => ({ ...message, parts: [...message.parts] }));

  const latest = () => list.length - 2;
  shrinkResults(list, (index) => index < latest(), 200);
  if (fits(list)) return list;
  list = withoutOldExchanges(list, fits);
  for (const keep of [budget / 8, 400]) if (!fits(list)) shrinkResults(list, () => true, keep);
  if (!fits(list)) shrinkTexts(list, budget);
  return list;
}

/** Whole turns go first, then the oldest calls of the present turn, each with its results. */
function withoutOldExchanges(list: Message[], fits: (list: readonly Message[]) => boolean): Message[] {
  let rest = list;
  while (!fits(rest)) {
    const next = rest.findIndex((message, index) => index > 0 && isRequest(message));
    if (next === -1) break;
    rest = rest.slice(next);
  }
  while (!fits(rest) && rest.length > 4) rest = [rest[0]!, ...rest.slice(3)];
  const first = rest[0];
  if (rest.length === list.length || !first) return rest;
  return [{ ...first, parts: [{ type: "text", text: removalNote }, ...first.parts] }, ...rest.slice(1)];
}

function isRequest(message: Message): boolean {
  return message.role === "user" && !message.parts.some((part) => part.type === "tool_result");
}

function shrinkResults(list: Message[], which: (index: number) => boolean, keep: number): void {
  for (const [index, message] of list.entries()) {
    if (which(index)) message.parts = message.parts.map((part) => shrunkResult(part, keep));
  }
}

function shrunkResult(part: Part, keep: number): Part {
  if (part.type === "image") return { type: "text", text: "[A picture was here; it was removed to save space.]" };
  if (part.type !== "tool_result") return part;
  return { type: "tool_result", id: part.id, text: middleCut(part.text, keep), isError: part.isError };
}

/** What is left of the budget goes to the longest text; the others are small beside it. */
function shrinkTexts(list: Message[], budget: number): void {
  for (let excess = sizeOfAll(list) - budget; excess > 0; ) {
    const texts = list.flatMap((message) => message.parts.filter((part) => part.type === "text"));
    const longest = texts.reduce((a, b) => (b.text.length > a.text.length ? b : a), { type: "text", text: "" });
    const keep = Math.max(2000, longest.text.length - excess - 100);
    if (keep >= longest.text.length) return;
    const cut = { ...longest, text: middleCut(longest.text, keep) };
    for (const message of list) message.parts = message.parts.map((part) => (part === longest ? cut : part));
    excess = sizeOfAll(list) - budget;
  }
}

function middleCut(text: string, keep: number): string {
  if (text.length <= keep + 60) return text;
  const half = Math.floor(keep / 2);
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters removed to save space …]\n${text.slice(text.length - half)}`;
}

function sizeOfAll(messages: readonly Message[]): number {
  let characters = 0;
  for (const message of messages) for (const part of message.parts) characters += sizeOf(part);
  return characters;
}

function sizeOf(part: Part): number {
  switch (part.type) {
    case "text":
    case "thinking":
      return part.text.length;
    case "image":
      return imageCharacters;
    case "tool_call":
      return JSON.stringify(part.args ?? null).length + part.name.length;
    case "tool_result":
      return part.text.length + (part.images?.length ?? 0) * imageCharacters;
  }
}
