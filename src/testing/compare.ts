// What a recorded request and one of now differ in, in words: "messages[1]: recorded … now …".
import type { Part } from "../protocol/message.ts";
import { digestOf } from "../text/digest.ts";
import { type DescribedMessage, type DescribedRequest, digestOfParts, digestOfRequest, partsOf } from "./describe.ts";
import { createNormaliser, type Normaliser, normaliseEnvironment } from "./normalise.ts";
import type { KeptPart, Recording, SystemPart } from "./recording.ts";

/** Each request with everything that it was asked with; what it only refers to stands in it. */
export function wholeRequests(recording: Recording): DescribedRequest[] {
  const last = new Map<string, DescribedRequest>();
  return recording.requests.map((line) => {
    const before = line.agent === undefined ? undefined : last.get(line.agent);
    const added = line.messages.added.map((message): DescribedMessage => {
      const parts = partsOf(message, (number) => recording.replies.get(number)?.parts ?? []) as KeptPart[];
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

/** What in a recording does not fit its own digests any more. */
export function changedSince(recording: Recording, number: number, whole: DescribedRequest): string | undefined {
  const normalise = createNormaliser(recording.header.places);
  for (const [index, { role, digest, parts }] of whole.messages.entries()) {
    const now = digestOfParts(parts, normalise);
    if (now === digest) continue;
    const texts = parts.map((part) => quoted(textOfPart(part))).join(", ");
    return `request ${number}, messages[${index}] (${nameOf(role, parts)}): recorded with the digest ${digest}, now ${now}: ${texts}`;
  }
  if (digestOfRequest(whole) !== whole.digest) return `request ${number}: its digest is not that of its parts`;
  return undefined;
}

export type Sides = { recorded: Normaliser; now: Normaliser };

/** Undefined: they ask the same. */
export function differenceOf(recorded: DescribedRequest, now: DescribedRequest, sides: Sides): string | undefined {
  return (
    systemDifference(recorded.system, now.system, sides) ??
    toolsDifference(recorded.tools, now.tools) ??
    messagesDifference(recorded.messages, now.messages, sides)
  );
}

/** A chat that was not recorded as it ran does not know what its system prompt was. */
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
    const texts = [
      sides.recorded(normaliseEnvironment(one?.text ?? "")),
      sides.now(normaliseEnvironment(other?.text ?? "")),
    ] as const;
    return `system${fileAt(...texts)}: ${textDifference(...texts) ?? "it was changed in the recording"}`;
  }
  return undefined;
}

/** The rule file that the first difference is in. */
function fileAt(recorded: string, now: string): string {
  const start = recorded.slice(0, firstDifference(recorded, now));
  const opened = start.lastIndexOf('<instructions path="');
  const path =
    opened > start.lastIndexOf("</instructions>") ? /path="([^"]*)"/.exec(now.slice(opened))?.[1] : undefined;
  return path === undefined ? "" : `, ${path}`;
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}

function shownSystem(part: SystemPart | undefined): string {
  if (!part) return "nothing";
  return part.builtIn === undefined ? quoted(part.text ?? "") : `the built-in prompt (${part.builtIn})`;
}

export function toolsDifference(
  recorded: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): string | undefined {
  if (Object.keys(recorded).length === 0) return undefined;
  const gone = Object.keys(recorded).filter((name) => now[name] === undefined);
  const added = Object.keys(now).filter((name) => recorded[name] === undefined);
  if (gone.length > 0 || added.length > 0)
    return `tools: recorded ${gone.join(", ") || "none of these"}, now ${added.join(", ") || "none of these"}`;
  const changed = Object.keys(recorded).filter((name) => now[name] !== recorded[name]);
  return changed.length > 0 ? `tools: the description of ${changed.join(", ")} has changed` : undefined;
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
      const said = `${nameOf(there.role, there.parts)} ${quoted(textOfPart(there.parts[0]))}`;
      return one ? `${where}: recorded ${said}, now nothing` : `${where}: recorded nothing, now ${said}`;
    }
    const difference = partsDifference(one.parts, other.parts, sides);
    // The same words with the same paths on both sides are the same, whatever the directories of the run are.
    if (difference === undefined) continue;
    return `${where} (${nameOf(other.role, other.parts)}): ${difference}`;
  }
  return undefined;
}

export function partsDifference(
  recorded: readonly (KeptPart | Part)[],
  now: readonly (KeptPart | Part)[],
  sides: Sides,
): string | undefined {
  for (let index = 0; index < Math.max(recorded.length, now.length); index++) {
    const [one, other] = [recorded[index], now[index]];
    const texts = [one ? textOfPart(one) : "", other ? textOfPart(other) : ""] as const;
    if (one && other && one.type === other.type && texts[0] === texts[1]) continue;
    const difference = textDifference(sides.recorded(texts[0]), sides.now(texts[1]));
    if (difference !== undefined) return difference;
    if (one?.type !== other?.type) return `recorded ${one?.type ?? "nothing"}, now ${other?.type ?? "nothing"}`;
  }
  return undefined;
}

function nameOf(role: string, parts: readonly (KeptPart | Part)[]): string {
  const results = parts.filter((part) => part.type === "tool_result");
  if (results.length === 0) return role;
  return results.length === 1 ? `result of ${results[0]!.id}` : `${results.length} tool results`;
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

const before = 30;
const longest = 90;

/** Around the first character that differs. */
export function textDifference(recorded: string, now: string): string | undefined {
  if (recorded === now) return undefined;
  const at = firstDifference(recorded, now);
  const from = Math.max(0, at - before);
  const line = recorded.slice(0, at).split("\n").length;
  const where = line > 1 ? `line ${line}, ` : "";
  return `${where}recorded ${excerpt(recorded, from)}, now ${excerpt(now, from)}`;
}

function excerpt(text: string, from: number): string {
  const cut = text.slice(from, from + longest);
  return `${from > 0 ? "…" : ""}${JSON.stringify(cut)}${from + longest < text.length ? "…" : ""}`;
}

function quoted(text: string): string {
  return excerpt(text, 0);
}
