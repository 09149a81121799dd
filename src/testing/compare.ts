// Describes how a request differs from the recorded one: "messages[1]: recorded … now …".

import { isObject } from "../json/object.ts";
import type { Part } from "../protocol/message.ts";
import { digestOf } from "../text/digest.ts";
import {
  type DescribedMessage,
  type DescribedRequest,
  digestOfParts,
  digestOfRequest,
  expandParts,
} from "./describe.ts";
import { createNormaliser, type Normaliser, normaliseEnvironment } from "./normalise.ts";
import type { KeptPart, Recording, SystemPart } from "./recording.ts";
import { quoteText, textDifference } from "./text-difference.ts";

/** Expands each request to its full contents, resolving references to earlier lines. */
export function wholeRequests(recording: Recording): DescribedRequest[] {
  const last = new Map<string, DescribedRequest>();
  return recording.requests.map((line) => {
    const before = line.agent === undefined ? undefined : last.get(line.agent);
    const added = line.messages.added.map((message): DescribedMessage => {
      const parts = expandParts(message, (number) => recording.replies.get(number)?.parts ?? []) as KeptPart[];
      return { role: message.role, digest: message.digest, parts };
    });
    const request: DescribedRequest = {
      digest: line.digest,
      ...(line.purpose !== undefined && { purpose: line.purpose }),
      system: line.system ?? before?.system ?? [],
      tools: line.tools ?? before?.tools ?? {},
      messages: [...(before?.messages.slice(0, line.messages.kept) ?? []), ...added],
    };
    if (line.agent !== undefined) last.set(line.agent, request);
    return request;
  });
}

/** Describes what in a recording no longer matches its own digests. */
export function changedSince(recording: Recording, number: number, whole: DescribedRequest): string | undefined {
  const normalise = createNormaliser(recording.header.places);
  const { kept } = recording.requests[number - 1]!.messages;
  for (const [index, { role, digest, parts }] of whole.messages.entries()) {
    if (index < kept) continue; // this part was already compared in the previous request
    const now = digestOfParts(parts, normalise);
    if (now === digest) continue;
    const texts = parts.map((part) => quoteText(textOfPart(part))).join(", ");
    return `request ${number}, messages[${index}] (${partName(role, parts, callNames(whole.messages))}): recorded with the digest ${digest}, now ${now}: ${texts}`;
  }
  if (digestOfRequest(whole) !== whole.digest) return `request ${number}: its digest is not that of its parts`;
  return undefined;
}

export type Sides = { recorded: Normaliser; now: Normaliser };

/** Returns the first difference between two requests, or undefined if they ask for the same. */
export function differenceOf(
  recorded: DescribedRequest,
  now: DescribedRequest,
  { tools, ...sides }: Sides & { tools: readonly ToolText[] },
): string | undefined {
  return (
    systemDifference(recorded.system, now.system, sides) ??
    toolsDifference(recorded.tools, now.tools, tools) ??
    messagesDifference(recorded.messages, now.messages, sides)
  );
}

/** Describes how the system prompt differs from the recorded one, which is empty if the chat was not recorded live. */
export function systemDifference(
  recorded: readonly SystemPart[],
  now: readonly SystemPart[],
  sides: Sides,
): string | undefined {
  if (recorded.length === 0) return undefined;
  const most = Math.max(recorded.length, now.length);
  for (let index = 0; index < most; index++) {
    const [one, other] = [recorded[index], now[index]];
    if (one?.digest === other?.digest) continue;
    if (one?.builtIn !== undefined || other?.builtIn !== undefined) {
      if (one?.builtIn === other?.builtIn) return "system: the built-in prompt has changed since it was recorded";
      return `system: recorded ${shownSystem(one)}, now ${shownSystem(other)}`;
    }
    const texts = [one, other].map((part) => normaliseEnvironment(part?.text ?? ""));
    const [then, today] = [sides.recorded(texts[0]!), sides.now(texts[1]!)];
    const difference = textDifference(then, today);
    if (!difference) return "system: it was changed in the recording";
    const { file = sectionAt(then, difference.at), words } = difference;
    return `system${file === undefined ? "" : `, ${file}`}: ${words}`;
  }
  return undefined;
}

/** Returns the last heading above the first difference. */
function sectionAt(text: string, at: number): string | undefined {
  return text
    .slice(0, at)
    .match(/^# .+$/gm)
    ?.at(-1);
}

function shownSystem(part: SystemPart | undefined): string {
  if (!part) return "nothing";
  return part.builtIn === undefined ? quoteText(part.text ?? "") : `the built-in prompt (${part.builtIn})`;
}

/** Describes how the tools differ from the recorded ones, of which there are only digests. `described` are the present tools. */
export function toolsDifference(
  recorded: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
  described: readonly ToolText[],
): string | undefined {
  if (Object.keys(recorded).length === 0) return undefined;
  const gone = Object.keys(recorded).filter((name) => now[name] === undefined);
  const added = Object.keys(now).filter((name) => recorded[name] === undefined);
  if (gone.length > 0 || added.length > 0) {
    const [then, today] = [gone, added].map((names) => (names.length > 0 ? `with ${names.join(", ")}` : undefined));
    return `tools: recorded ${then ?? `without ${added.join(", ")}`}, now ${today ?? `without ${gone.join(", ")}`}`;
  }
  const changed = Object.keys(recorded).filter((name) => now[name] !== recorded[name]);
  if (changed.length === 0) return undefined;
  const texts = described.filter(({ name }) => changed.includes(name)).map(toolText);
  return `tools: the description or the parameters of ${changed.join(", ")} changed, now ${texts.join(", ")}`;
}

type ToolText = { name: string; description: string; parameters: unknown };

function toolText({ description, parameters }: ToolText): string {
  const fields =
    isObject(parameters) && isObject(parameters["properties"]) ? Object.keys(parameters["properties"]) : [];
  return `${quoteText(description)} (${fields.join(", ") || "no parameters"})`;
}

export function messagesDifference(
  recorded: readonly DescribedMessage[],
  now: readonly DescribedMessage[],
  sides: Sides,
): string | undefined {
  for (let index = 0; index < Math.max(recorded.length, now.length); index++) {
    const [one, other] = [recorded[index], now[index]];
    if (one && other && one.role === other.role && one.digest === other.digest) continue;
    const where = `messages[${index}]`;
    if (!one || !other) {
      const there = (one ?? other)!;
      const name = partName(there.role, there.parts, callNames(one ? recorded : now));
      const quotedText = `${name} ${quoteText(textOfPart(there.parts[0]))}`;
      return one ? `${where}: recorded ${quotedText}, now nothing` : `${where}: recorded nothing, now ${quotedText}`;
    }
    const difference = partsDifference(one.parts, other.parts, sides);
    // Texts are equal if they differ only in paths that have the same role in their runs.
    if (difference === undefined) continue;
    const { part, words } = difference;
    return `${where} (${partName(other.role, part ? [part] : other.parts, callNames(now))})${words}`;
  }
  return undefined;
}

/** Returns how a part of the request differs; `words` continues the sentence after the part's name. */
export function partsDifference(
  recorded: readonly (KeptPart | Part)[],
  now: readonly (KeptPart | Part)[],
  sides: Sides,
): { part: KeptPart | Part | undefined; words: string } | undefined {
  for (let index = 0; index < Math.max(recorded.length, now.length); index++) {
    const [one, other] = [recorded[index], now[index]];
    const texts = [one ? textOfPart(one) : "", other ? textOfPart(other) : ""] as const;
    if (one && other && one.type === other.type && texts[0] === texts[1]) continue;
    const difference = textDifference(sides.recorded(texts[0]), sides.now(texts[1]));
    const part = other ?? one;
    if (difference) {
      const { file, words } = difference;
      return { part, words: `${file === undefined ? "" : `, ${file}`}: ${words}` };
    }
    if (one?.type !== other?.type)
      return { part, words: `: recorded ${one?.type ?? "nothing"}, now ${other?.type ?? "nothing"}` };
  }
  return undefined;
}

/** Returns the tool names of calls, by call id. */
function callNames(messages: readonly DescribedMessage[]): ReadonlyMap<string, string> {
  const calls = messages.flatMap(({ parts }) => parts.filter((part) => part.type === "tool_call"));
  return new Map(calls.map(({ id, name }) => [id, name]));
}

function partName(role: string, parts: readonly (KeptPart | Part)[], calls: ReadonlyMap<string, string>): string {
  const results = parts.filter((part) => part.type === "tool_result");
  if (results.length === 0) return role;
  const named = results.map(({ id }) => `${calls.get(id) ?? "a tool"}, ${id}`);
  return `result of ${named.join("; ")}`;
}

function textOfPart(part: KeptPart | Part | undefined): string {
  if (!part) return "";
  switch (part.type) {
    case "image":
      return `${part.mime} ${"digest" in part ? part.digest : digestOf(part.base64)}`;
    case "tool_call":
      return `${part.name} ${JSON.stringify(part.args)}`;
    case "tool_result": {
      const pictures = (part.images ?? []).map((image) => textOfPart({ type: "image", ...image } as KeptPart));
      return [`${part.isError ? "failed: " : ""}${part.text}`, ...pictures].join("\n");
    }
    default:
      return part.text;
  }
}
