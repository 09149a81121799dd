// Compares requests of another vendor's CLI with recorded ones, and knows what may differ.
import { isObject } from "../../json/object.ts";
import type { Message, Part } from "../../protocol/message.ts";
import type { UnifiedTool } from "../../sdk/unified.ts";
import { differenceOf } from "../compare.ts";
import { createDescriber } from "../describe.ts";
import { type AskedMessage, readAsked } from "../kit/wires/asked.ts";
import { wireForPath } from "../kit/wires/index.ts";
import { createNormaliser, type Normaliser, type Places } from "../normalise.ts";
import { textDifference } from "../text-difference.ts";
import type { ExchangeRequest } from "./exchange-file.ts";

/** Where and when requests were made, and by which version of the CLI. */
export type Situation = { tool: UnifiedTool; places: Places; at: Date; version: string | undefined };

/** Request fields that name a session, a device or a user, which are not compared. */
const unsaid = new Set([
  "metadata",
  "client_metadata",
  "prompt_cache_key",
  "promptCacheKey",
  "safety_identifier",
  "user",
  "user_prompt_id",
  "session_id",
  "project",
]);

/** Text that each CLI sends to the model and that is new in every run. */
const passing: Partial<Record<string, readonly [RegExp, string][]>> = {
  claude: [
    [/\bcch=[0-9a-f]+/g, "cch=…"],
    [/\bcc_version=[\w.]+/g, "cc_version=…"],
    [/\/claude-\d+\//g, "/claude-…/"],
  ],
  codex: [
    [/Wall time: [\d.]+ seconds/g, "Wall time: … seconds"],
    [/Chunk ID: [0-9a-f]+/g, "Chunk ID: …"],
    [/session ID \d+/g, "session ID …"],
  ],
  gemini: [[/Process Group PGID: \d+/g, "Process Group PGID: …"]],
};

/** Replaces ids, today's date, the paths of this run and the version of the CLI by placeholders. */
export function situationNormaliser({ tool, places, at, version }: Situation): Normaliser {
  const paths = createNormaliser(places);
  const words: [RegExp, string][] = [
    // Replace ids that have a prefix: msg_42ee7992-….
    [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>"],
    ...daysOf(at).map((day): [RegExp, string] => [new RegExp(`${day}(?:T[\\d:.]+Z?)?`, "g"), "<date>"]),
    [/\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d{1,2} \d\d:\d\d\b/g, "<time>"],
    // Folder names are also derived from the workspace's path, with dashes.
    ...Object.entries(places).flatMap(([name, path]): [RegExp, string][] =>
      typeof path === "string" && path.length > 1
        ? [[new RegExp(escaped(path.replace(/[^A-Za-z0-9]/g, "-")), "g"), `<${name}>`]]
        : [],
    ),
    ...(passing[tool] ?? []),
    ...(version === undefined ? [] : [[new RegExp(escaped(version), "g"), "<version>"] as [RegExp, string]]),
  ];
  return (text) => words.reduce((made, [pattern, word]) => made.replace(pattern, word), paths(text));
}

/** A day in the forms that CLIs write, in local time and in UTC. */
function daysOf(at: Date): string[] {
  return [undefined, "UTC"].flatMap((timeZone) => {
    const part = (options: Intl.DateTimeFormatOptions) => at.toLocaleDateString("en-US", { timeZone, ...options });
    const long = { month: "long", day: "numeric", year: "numeric" } as const;
    const [day, month, year] = [part({ day: "2-digit" }), part({ month: "2-digit" }), part({ year: "numeric" })];
    const named = `${part({ weekday: "short" })} ${part({ month: "short" })} ${day} ${year}`;
    return [
      `${year}-${month}-${day}`,
      part({ weekday: "long", ...long }),
      part(long),
      named,
      part({}),
      `${month}/${day}/${year}`,
    ].map(escaped);
  });
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}

/** The part of a request that is compared. Requests with equal parts are the same. */
export function comparable({ method, path, body }: ExchangeRequest, normalise: Normaliser): string {
  return normalise(JSON.stringify([method, path, unwrapRequest(body)]));
}

/** Describes the first difference: in the conversation or, if that is the same, in the other fields. */
export function exchangeDifference(
  recorded: ExchangeRequest,
  now: ExchangeRequest,
  sides: { recorded: Normaliser; now: Normaliser },
): string {
  const [then, today] = [recorded, now].map(({ path, body }) => readAsked(wireForPath(path), body));
  if (then && today) {
    const tools = today.tools.map(({ schema, ...tool }) => ({ ...tool, parameters: schema as object }));
    const described = (asked: typeof then, normalise: Normaliser) =>
      createDescriber(normalise, undefined).request({
        system: asked.system,
        tools: asked.tools.map(({ schema, ...tool }) => ({ ...tool, parameters: schema as object })),
        messages: convertMessages(asked.messages),
      });
    const words = differenceOf(described(then, sides.recorded), described(today, sides.now), { ...sides, tools });
    if (words !== undefined) return words;
  }
  const bodies = [
    sides.recorded(JSON.stringify(unwrapRequest(recorded.body) ?? null)),
    sides.now(JSON.stringify(unwrapRequest(now.body) ?? null)),
  ];
  return (
    fieldDifference("body", JSON.parse(bodies[0]!), JSON.parse(bodies[1]!)) ??
    `recorded ${recorded.path}, now ${now.path}`
  );
}

/** Calls and results are numbered: the vendors' ids differ in each run. */
function convertMessages(messages: readonly AskedMessage[]): Message[] {
  let called = 0;
  let answered = 0;
  return messages.map(({ role, text, calls }) => {
    const parts: Part[] =
      role === "tool"
        ? [{ type: "tool_result", id: `call_${++answered}`, text, isError: false }]
        : [
            ...(text === "" ? [] : [{ type: "text" as const, text }]),
            ...calls.map(({ name, args }) => ({ type: "tool_call" as const, id: `call_${++called}`, name, args })),
          ];
    return { role: role === "assistant" ? "assistant" : "user", parts };
  });
}

/** Returns the actual request, which Google's service for accounts wraps in another. */
function unwrapRequest(body: unknown): unknown {
  if (!isObject(body)) return body;
  return Object.fromEntries(
    sortedEntries(body).flatMap(([name, value]) => {
      if (unsaid.has(name)) return [];
      return [[name, name === "request" ? unwrapRequest(value) : withoutCacheMarks(value)]];
    }),
  );
}

/** Removes cache markers, which are not content and move with the conversation. */
function withoutCacheMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutCacheMarks);
  if (!isObject(value)) return value;
  const { cache_control: _, ...rest } = value;
  return Object.fromEntries(sortedEntries(rest).map(([name, each]) => [name, withoutCacheMarks(each)]));
}

/** Sorts the fields of an object, whose order is not significant. */
function sortedEntries(value: object): [string, unknown][] {
  return Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
}

function fieldDifference(at: string, recorded: unknown, now: unknown): string | undefined {
  if (Array.isArray(recorded) && Array.isArray(now)) {
    for (let index = 0; index < Math.max(recorded.length, now.length); index++) {
      const found = fieldDifference(`${at}[${index}]`, recorded[index], now[index]);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isObject(recorded) && isObject(now)) {
    for (const name of new Set([...Object.keys(recorded), ...Object.keys(now)])) {
      const found = fieldDifference(`${at}.${name}`, recorded[name], now[name]);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const areTexts = typeof recorded === "string" && typeof now === "string";
  const [before, after] = [recorded, now].map((value) =>
    areTexts ? String(value) : (JSON.stringify(value) ?? "nothing"),
  );
  const difference = textDifference(before!, after!);
  return difference && `${at}: ${difference.words}`;
}
