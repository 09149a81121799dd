// Turns the answers of a case of the group `model` into answers of the model server, for an OpenAI-compatible endpoint.

import type { ModelAnswer, RecordedRequest, ToolCallAnswer } from "../../src/testing/kit/model-server.ts";
import type { Case } from "../support/case.ts";

/** One entry of `input.provider`. */
type CaseAnswer = {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
  content_type?: string;
  text?: string;
  sse?: string[];
  then?: ModelAnswer["ending"];
  tool_call?: ToolCallAnswer;
  tool_calls?: ToolCallAnswer[];
  tool_call_gen?: string;
  repeat?: number;
  accept_only?: boolean;
  refuse?: boolean;
  profile?: string;
  model?: string;
  stop_reason?: string;
  delay_ms?: number;
};

/** A request takes the first answer that is left and is meant for its key and model. */
export function providerAnswersFromCase({ input }: Pick<Case, "input">): (request: RecordedRequest) => ModelAnswer {
  const left = (input["provider"] as CaseAnswer[]).map((given) => ({ given, times: given.repeat ?? 1, used: 0 }));
  let calls = 0;
  return (request) => {
    const found = left.find(({ given, times, used }) => used < times && fits(given, request));
    if (!found) return { status: 500, body: { error: { message: "the case has no answer left" } } };
    const answer = answerOf(found.given, found.used++);
    // An id is one for a whole run, unless the case says otherwise.
    const toolCalls = answer.toolCalls?.map((call) => ({ ...call, id: call.id ?? `call_${++calls}` }));
    return { ...answer, ...(toolCalls && { toolCalls }) };
  };
}

export function keyOfProfile(profile: string): string {
  return `key-of-${profile}`;
}

function fits({ profile, model }: CaseAnswer, request: RecordedRequest): boolean {
  return (
    (profile === undefined || request.key === keyOfProfile(profile)) && (model === undefined || request.model === model)
  );
}

function answerOf(given: CaseAnswer, index: number): ModelAnswer {
  if (given.accept_only) return { acceptOnly: true };
  if (given.refuse) return { hangUp: true };
  const generated = given.tool_call_gen === undefined ? [] : [generatedCall(given.tool_call_gen, index)];
  const toolCalls = [...(given.tool_call ? [given.tool_call] : []), ...(given.tool_calls ?? []), ...generated];
  return {
    ...(given.status !== undefined && { status: given.status }),
    ...(given.headers && { headers: given.headers }),
    ...(given.body !== undefined && { body: given.body }),
    ...(given.content_type && { contentType: given.content_type }),
    ...(given.text !== undefined && { text: given.text }),
    ...(given.sse && { chunks: translateEvents(given.sse) }),
    ...(given.then && { ending: given.then }),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(given.stop_reason && { stopReason: stopReasons[given.stop_reason] ?? given.stop_reason }),
    ...(given.delay_ms && { delayMs: given.delay_ms }),
  };
}

/** The wire's words for what the cases name in Anthropic's. */
const stopReasons: Record<string, string> = {
  refusal: "content_filter",
  end_turn: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
};

/** "read of file i": calls that all differ. */
function generatedCall(words: string, index: number): ToolCallAnswer {
  const [tool = "read"] = words.trim().split(/\s+/);
  const argument = {
    read: { path: `file-${index}.txt` },
    grep: { pattern: `word${index}` },
    glob: { pattern: `*.${index}` },
    ls: { path: `folder-${index}` },
  };
  return { name: tool, args: argument[tool as keyof typeof argument] ?? { command: `echo ${index}` } };
}

/**
 * `{"delta":"x"}` becomes a chunk of chat completions. Everything else stays as it is: line ends, blanks, where the reads
 * are cut, and an event that breaks off.
 */
export function translateEvents(chunks: readonly string[]): string[] {
  const cuts: number[] = [];
  for (const chunk of chunks.slice(0, -1)) cuts.push((cuts.at(-1) ?? 0) + chunk.length);
  let translated = "";
  let at = 0;
  const moved: number[] = [];
  const all = chunks.join("");
  const copy = (from: number, to: number, text: string): void => {
    for (const cut of cuts)
      if (cut > from && cut <= to) moved.push(translated.length + Math.min(cut - from, text.length));
    translated += text;
  };
  // An event may lie on several lines, each with its field name; what they say together is translated.
  for (const match of all.matchAll(/(?<=^\uFEFF?|[\r\n])(data:[ ]?)(\{[^\r\n]*(?:(?:\r\n|\r|\n)data:[^\r\n]*)*)/g)) {
    const start = match.index + match[1]!.length;
    copy(at, start, all.slice(at, start));
    at = start + match[2]!.length;
    copy(start, at, translateLines(match[2]!));
  }
  copy(at, all.length, all.slice(at));
  const edges = [0, ...moved, translated.length];
  return edges.slice(1).map((edge, index) => translated.slice(edges[index], edge));
}

/** A payload on several lines stays on several lines. */
function translateLines(text: string): string {
  const [lineEnd] = /\r\n|\r|\n/.exec(text) ?? [];
  if (lineEnd === undefined) return translatePayload(text);
  const translated = translatePayload(text.replace(/(\r\n|\r|\n)data:[ ]?/g, "\n"));
  try {
    return JSON.stringify(JSON.parse(translated), undefined, 1).replaceAll("\n", `${lineEnd}data: `);
  } catch {
    return text;
  }
}

function translatePayload(payload: string): string {
  const broken = /^\{"delta":"((?:[^"\\]|\\.)*)$/.exec(payload);
  if (broken) return `{"choices":[{"index":0,"delta":{"content":"${broken[1]}`;
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(payload) as Record<string, unknown>;
  } catch {
    return payload;
  }
  if (typeof value["delta"] === "string")
    return JSON.stringify({ choices: [{ index: 0, delta: { content: value["delta"] }, finish_reason: null }] });
  const stop = value["stop"] ?? value["stop_reason"] ?? value["finish_reason"];
  if (stop !== undefined) {
    const reason = typeof stop === "string" ? (stopReasons[stop] ?? stop) : "stop";
    return JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
  }
  return payload;
}
