// The scripted model: plays replies from a file, for tests and demos (`--model script:FILE`). docs/scripted-model.md describes the format.

import { tryParse } from "../json/object.ts";
import { type ErrorCode, errorCodes, UserError } from "../protocol/error-codes.ts";
import type { Usage } from "../protocol/event.ts";
import type { Message } from "../protocol/message.ts";
import { JsonTextError, parseJsonc } from "../store/jsonc.ts";
import { nearestName } from "../text/nearest.ts";
import { programName } from "../text/program-name.ts";
import { interrupted, pause } from "./pause.ts";
import { type ModelChunk, ModelError, type ModelRequest, type Provider } from "./provider.ts";

/** A scripted tool call. `args` is an object, or a string that is sent unchanged to simulate malformed arguments. */
type ScriptedCall = { name: string; args: unknown; id?: string };

type ScriptedError = { code: ErrorCode; message: string; retryAfterMs?: number };

type ScriptedStep =
  | { type: "text" | "thinking"; deltas: string[] }
  | { type: "call"; call: ScriptedCall }
  | { type: "delay"; ms: number }
  | { type: "error"; error: ScriptedError };

/**
 * `summary`: played when the agent asks for a summary of older turns, skipped otherwise. `aside`: played, in their own order, for
 * questions beside the conversation.
 */
type ScriptedReply = { steps: ScriptedStep[]; usage: Usage; expect: string[]; summary: boolean; aside: boolean };

/** `continues`: a resumed chat continues after the replies that it was given. */
type Script = { replies: ScriptedReply[]; loop: boolean; continues: boolean };

/** Stores with a chat how many replies of a script it was given. */
export type ScriptPlace = { repliesGiven(file: string): number; keep(file: string, repliesGiven: number): void };

/** `expects`: false if expectations cannot be met because nothing is carried out. */
type ScriptOptions = { repliesGiven?: number; place?: ScriptPlace; expects?: boolean };

/** Throws a UserError if the file is not a script. Continues after the replies already given; a failed reply counts as given. */
export function loadScript(text: string, file: string, options: ScriptOptions = {}): Provider {
  const { repliesGiven = 0, place, expects = true } = options;
  const { replies: all, loop, continues } = readScript(text, file);
  const replies = all.filter(({ aside }) => !aside);
  const asides = all.filter(({ aside }) => aside);
  const kept = continues ? place : undefined;
  let next = kept?.repliesGiven(file) ?? repliesGiven;
  const replyAt = (number: number) => (loop ? replies[number % replies.length] : replies[number]);
  return {
    id: "script",
    canSummarise: () => replyAt(next)?.summary === true,
    async *stream(request) {
      if (request.purpose === "aside") {
        const reply = asides.shift();
        if (!reply) throw new ModelError("MODEL_BAD_RESPONSE", `script ${file} has no more replies with "aside": true`);
        yield* play(reply, request);
        return;
      }
      while (request.purpose !== "summary" && replyAt(next)?.summary) next++;
      const number = next++;
      kept?.keep(file, next);
      const reply = replyAt(number);
      if (!reply) {
        const has = replies.length === 1 ? "1 reply" : `${replies.length} replies`;
        throw new ModelError("MODEL_BAD_RESPONSE", `script ${file} has only ${has}; the run asked for one more`);
      }
      if (expects) checkExpectation(reply, request, `script ${file}, reply ${(number % replies.length) + 1}`);
      yield* play(reply, request);
    },
  };
}

async function* play(reply: ScriptedReply, request: ModelRequest): AsyncGenerator<ModelChunk> {
  let calls = highestCall(request.messages);
  for (const step of reply.steps) {
    if (request.signal.aborted) throw interrupted(request.signal);
    switch (step.type) {
      case "delay":
        await pause(step.ms, request.signal);
        break;
      case "text":
      case "thinking":
        for (const text of step.deltas) yield { type: step.type, text };
        yield { type: "part", part: { type: step.type, text: step.deltas.join("") } };
        break;
      case "call": {
        const { name, args, id = `call_script_${++calls}` } = step.call;
        // If `args` is a string, send it as arguments that are not JSON, which the agent answers with an error.
        // Adapters pass on arguments that cannot be parsed in the same way.
        yield { type: "part", part: { type: "tool_call", id, name, args } };
        break;
      }
      case "error": {
        const { code, message, retryAfterMs } = step.error;
        throw new ModelError(code, message, retryAfterMs === undefined ? {} : { retryAfterMs });
      }
    }
  }
  yield { type: "usage", usage: reply.usage };
}

/** Checks that the messages since the last answer contain every expected text. */
function checkExpectation(reply: ScriptedReply, request: ModelRequest, entry: string): void {
  const received = lastWords(request.messages);
  const missing = reply.expect.filter((text) => !received.includes(text));
  if (missing.length === 0) return;
  const shown = received.length > 300 ? `${received.slice(0, 297)}...` : received;
  throw new ModelError(
    "MODEL_BAD_REQUEST",
    `${entry} expected ${missing.map((text) => JSON.stringify(text)).join(" and ")} in the last message, which says: ${JSON.stringify(shown)}`,
  );
}

function lastWords(messages: readonly Message[]): string {
  const answered = messages.findLastIndex((message) => message.role === "assistant");
  return messages
    .slice(answered + 1)
    .flatMap((message) => message.parts)
    .flatMap((part) => (part.type === "text" || part.type === "tool_result" ? [part.text] : []))
    .join("\n");
}

/** Returns the highest number of a call id, so that new ids are unique even if the conversation is resumed. */
function highestCall(messages: readonly Message[]): number {
  let highest = 0;
  for (const message of messages) {
    for (const part of message.parts) {
      const number = part.type === "tool_call" ? /^call_script_(\d+)$/.exec(part.id)?.[1] : undefined;
      highest = Math.max(highest, Number(number ?? 0));
    }
  }
  return highest;
}

/** A reply in the script file and its position, for error messages. */
type ReplyEntry = { value: unknown; where: string };

type ReportProblem = (where: string, problem: string) => never;

/** Parses a script. Throws a UserError if it is invalid. */
export function readScript(text: string, file: string): Script {
  const complain: ReportProblem = (where, problem) => {
    throw new UserError(
      "CONFIG_INVALID",
      `script ${file}, ${where}: ${problem}. The form: '${programName()} help scripted-model'.`,
    );
  };
  const { entries, loop, continues } = repliesIn(text.replace(/^\uFEFF/, ""), complain);
  if (entries.length === 0) complain("line 1", 'there are no replies; write for example [{"text": "Hello"}]');
  const replies = entries.map((entry) => readReply(entry, complain));
  if (replies.every(({ summary, aside }) => summary || aside))
    complain("line 1", 'every reply is a "summary" or "aside", so none is an answer');
  return { replies, loop, continues };
}

type ReplyEntries = Omit<Script, "replies"> & { entries: ReplyEntry[] };

/** Reads the three forms of a script: an array, an object with `replies`, or one reply per line. */
function repliesIn(text: string, complain: ReportProblem): ReplyEntries {
  const plain = { loop: false, continues: false };
  if (text.trim() === "") complain("line 1", "the file is empty");
  const whole = wholeValue(text, complain);
  if (whole === undefined) return { ...plain, entries: parseReplyLines(text, complain) };
  const { value } = whole;
  if (Array.isArray(value)) return { ...plain, entries: placed(value, text, 1) };
  if (value === null || typeof value !== "object") {
    complain(
      "line 1",
      `a script is an array of replies, an object with "replies", or one reply a line, not ${describeType(value)}`,
    );
  }
  if (!("replies" in (value as object))) return { ...plain, entries: [{ value, where: "line 1" }] };
  const object = fields({ value, where: "line 1" }, ["replies", "loop", "continue"], complain);
  if (!Array.isArray(object.replies))
    complain("line 1", `"replies" must be an array, not ${describeType(object.replies)}`);
  for (const field of ["loop", "continue"] as const) {
    if (object[field] !== undefined && typeof object[field] !== "boolean")
      complain("line 1", `"${field}" must be true or false, not ${describeType(object[field])}`);
  }
  const entries = placed(object.replies as unknown[], text, 2);
  return { entries, loop: object.loop === true, continues: object.continue === true };
}

/** Parses the file as one value, with comments; returns undefined if its first line is a value of its own. */
function wholeValue(text: string, complain: ReportProblem): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    const first = text.split("\n").find((line) => line.trim() !== "");
    if (tryParse(first!) !== undefined) return undefined;
  }
  try {
    return { value: parseJsonc(text) };
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    return complain(`line ${error.line}, column ${error.column}`, `this is not JSON: ${error.message}`);
  }
}

function parseReplyLines(text: string, complain: ReportProblem): ReplyEntry[] {
  const lines = text.split("\n").map((line, index) => ({ line: line.trim(), where: `line ${index + 1}` }));
  return lines
    .filter(({ line }) => line !== "")
    .map(({ line, where }) => {
      try {
        return { value: JSON.parse(line) as unknown, where };
      } catch (error) {
        return complain(
          where,
          `this is not JSON: ${(error as Error).message}; in a script of lines every line is one reply`,
        );
      }
    });
}

/** Finds the lines of the elements: an element starts where a brace opens at the depth of the array. */
function placed(values: unknown[], text: string, depth: number): ReplyEntry[] {
  const lines: number[] = [];
  let level = 0;
  let line = 1;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === "\n") line += 1;
    else if (quoted) {
      if (character === "\\") at += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === "{" || character === "[") {
      if (level === depth && character === "{") lines.push(line);
      level += 1;
    } else if (character === "}" || character === "]") level -= 1;
  }
  // Elements that are not objects have no brace, so the counts may differ: then only the number is reported.
  const known = lines.length === values.length;
  return values.map((value, index) => ({
    value,
    where: `reply ${index + 1}${known ? ` (line ${lines[index]})` : ""}`,
  }));
}

const contentFields = ["delayMs", "thinking", "text", "calls", "error"] as const;
const replyFields = [...contentFields, "steps", "usage", "expect", "summary", "aside"] as const;
const stepFields = ["delayMs", "thinking", "text", "call", "error"] as const;
const usageFields = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"] as const;

function readReply(entry: ReplyEntry, complain: ReportProblem): ScriptedReply {
  const reply = fields(entry, replyFields, complain);
  const { where } = entry;
  const inside = (field: string): string => `${where}, "${field}"`;
  const steps: ScriptedStep[] = [];
  if (reply.steps !== undefined) {
    const beside = contentFields.find((field) => reply[field] !== undefined);
    if (beside) complain(where, `"steps" and "${beside}" cannot be combined; move "${beside}" into the steps`);
    list(reply.steps, inside("steps"), complain).forEach((step, index) => {
      steps.push(readStep({ value: step, where: `${inside("steps")}, step ${index + 1}` }, complain));
    });
  } else {
    if (reply.delayMs !== undefined)
      steps.push({ type: "delay", ms: duration(reply.delayMs, inside("delayMs"), complain) });
    if (reply.thinking !== undefined)
      steps.push({ type: "thinking", deltas: texts(reply.thinking, inside("thinking"), complain) });
    if (reply.text !== undefined) steps.push({ type: "text", deltas: texts(reply.text, inside("text"), complain) });
    if (reply.calls !== undefined) {
      list(reply.calls, inside("calls"), complain).forEach((call, index) => {
        steps.push({
          type: "call",
          call: readCall({ value: call, where: `${inside("calls")}, call ${index + 1}` }, complain),
        });
      });
    }
    if (reply.error !== undefined)
      steps.push({ type: "error", error: readError({ value: reply.error, where: inside("error") }, complain) });
  }
  const expect = reply.expect === undefined ? [] : texts(reply.expect, inside("expect"), complain);
  for (const field of ["summary", "aside"] as const) {
    if (reply[field] !== undefined && typeof reply[field] !== "boolean")
      complain(inside(field), `expected true or false, not ${describeType(reply[field])}`);
  }
  const usage = readUsage({ value: reply.usage ?? {}, where: inside("usage") }, complain);
  return { steps, usage, expect, summary: reply.summary === true, aside: reply.aside === true };
}

function readStep(entry: ReplyEntry, complain: ReportProblem): ScriptedStep {
  const step = fields(entry, stepFields, complain);
  const given = stepFields.filter((field) => step[field] !== undefined);
  if (given.length !== 1)
    complain(entry.where, `a step has exactly one of ${stepFields.join(", ")}; this one has ${given.length}`);
  const [field] = given;
  const where = `${entry.where}, "${field}"`;
  switch (field!) {
    case "delayMs":
      return { type: "delay", ms: duration(step.delayMs, where, complain) };
    case "thinking":
    case "text":
      return { type: field as "text" | "thinking", deltas: texts(step[field!], where, complain) };
    case "call":
      return { type: "call", call: readCall({ value: step.call, where }, complain) };
    case "error":
      return { type: "error", error: readError({ value: step.error, where }, complain) };
  }
}

function readCall(entry: ReplyEntry, complain: ReportProblem): ScriptedCall {
  const { name, args = {}, id } = fields(entry, ["name", "args", "id"], complain);
  if (typeof name !== "string" || name === "")
    complain(entry.where, `"name" must be the name of a tool, not ${describeType(name)}`);
  if (id !== undefined && (typeof id !== "string" || id === ""))
    complain(entry.where, `"id" must be a string, not ${describeType(id)}`);
  if (typeof args !== "string" && (args === null || typeof args !== "object" || Array.isArray(args))) {
    complain(
      entry.where,
      `"args" must be an object, or a string to play malformed arguments, not ${describeType(args)}`,
    );
  }
  return { name: name as string, args, ...(id !== undefined && { id: id as string }) };
}

function readError(entry: ReplyEntry, complain: ReportProblem): ScriptedError {
  const { code, message, retryAfterMs } = fields(entry, ["code", "message", "retryAfterMs"], complain);
  const codes = Object.keys(errorCodes);
  if (typeof code !== "string" || !codes.includes(code)) {
    const near = typeof code === "string" ? nearestName(code, codes) : undefined;
    const known = codes.filter((one) => one.startsWith("MODEL_")).join(", ");
    complain(
      entry.where,
      `"code" ${code === undefined ? "is missing" : `${JSON.stringify(code)} is unknown`}${near ? ` (did you mean ${near}?)` : ""}; for example ${known}`,
    );
  }
  if (message !== undefined && typeof message !== "string")
    complain(entry.where, `"message" must be a string, not ${describeType(message)}`);
  return {
    code: code as ErrorCode,
    message: (message as string | undefined) ?? `${code} (played by a script)`,
    ...(retryAfterMs !== undefined && {
      retryAfterMs: duration(retryAfterMs, `${entry.where}, "retryAfterMs"`, complain),
    }),
  };
}

function readUsage(entry: ReplyEntry, complain: ReportProblem): Usage {
  const given = fields(entry, usageFields, complain);
  const counts = usageFields.map((field) => {
    const count = given[field] ?? 0;
    if (!Number.isInteger(count) || (count as number) < 0)
      complain(entry.where, `"${field}" must be an integer, not ${JSON.stringify(count)}`);
    return [field, count];
  });
  return Object.fromEntries(counts) as Usage;
}

function fields<Field extends string>(
  entry: ReplyEntry,
  allowed: readonly Field[],
  complain: ReportProblem,
): Partial<Record<Field, unknown>> {
  const { value, where } = entry;
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    return complain(where, `expected an object with any of ${allowed.join(", ")}, not ${describeType(value)}`);
  }
  for (const key of Object.keys(value)) {
    if ((allowed as readonly string[]).includes(key)) continue;
    const near = nearestName(key, allowed);
    complain(where, `"${key}" is not known${near ? ` (did you mean "${near}"?)` : ""}; allowed: ${allowed.join(", ")}`);
  }
  return value as Partial<Record<Field, unknown>>;
}

function list(value: unknown, where: string, complain: ReportProblem): unknown[] {
  return Array.isArray(value) ? value : complain(where, `expected an array, not ${describeType(value)}`);
}

function texts(value: unknown, where: string, complain: ReportProblem): string[] {
  if (typeof value === "string") return [value];
  const isTexts = Array.isArray(value) && value.every((item) => typeof item === "string");
  return isTexts
    ? (value as string[])
    : complain(where, `expected a string or an array of strings, not ${describeType(value)}`);
}

function duration(value: unknown, where: string, complain: ReportProblem): number {
  const isMs = typeof value === "number" && value >= 0 && value <= 2_147_483_647;
  return isMs ? value : complain(where, `expected a number of milliseconds, not ${JSON.stringify(value)}`);
}

function describeType(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
