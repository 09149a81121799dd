// ServedScript: plays the replies of scriptedModel() over a vendor's API, for agents of other vendors.
import { readScript } from "../../model/scripted.ts";
import type { ErrorCode } from "../../protocol/error-codes.ts";
import type { RunResult } from "../../sdk/outcome.ts";
import type { ModelAnswer, RecordedRequest } from "./model-server.ts";
import type { ScriptedModel } from "./models.ts";
import { type Asked, askedIn, offeredName } from "./wires/asked.ts";

type Reply = ReturnType<typeof readScript>["replies"][number];

/** Gives one reply per turn of the model, and records what did not fit. */
export class ServedScript {
  readonly #replies: readonly Reply[];
  /** Replies for requests that are not part of the conversation. */
  readonly #asides: Reply[];
  readonly #isLoop: boolean;
  #given = 0;
  #fault: string | undefined;

  constructor({ replies, loop }: Pick<ScriptedModel, "replies" | "loop">) {
    const script = readScript(JSON.stringify({ replies, loop }), "of scriptedModel()");
    this.#replies = script.replies.filter(({ aside, summary }) => !aside && !summary);
    this.#asides = script.replies.filter(({ aside, summary }) => aside || summary);
    this.#isLoop = script.loop;
  }

  answer(request: RecordedRequest): ModelAnswer {
    const asked = askedIn(request);
    if (!isTurn(request) || !asked) {
      const aside = this.#asides.shift();
      return aside && asked ? scriptedAnswer(aside, asked) : { text: "ok" };
    }
    const all = this.#replies;
    const last = all.at(-1);
    // Repeat a scripted error for as long as the agent retries.
    const repeated = last?.steps.some(({ type }) => type === "error") ? last : undefined;
    const reply = (this.#isLoop ? all[this.#given % all.length] : all[this.#given]) ?? repeated;
    if (!reply) return this.#refuse(`The script has ${counted(all.length)}, and the agent asked for one more.`);
    this.#given += 1;
    const news = asked.messages.slice(asked.messages.findLastIndex(({ role }) => role === "assistant") + 1);
    const missing = reply.expect.find((part) => !news.some(({ text }) => text.includes(part)));
    if (missing === undefined) return scriptedAnswer(reply, asked);
    const shown = JSON.stringify(news.map(({ text }) => text).join("\n"));
    const said = shown.length > 600 ? `…${shown.slice(-600)}` : shown;
    return this.#refuse(`Reply ${this.#given} expects ${JSON.stringify(missing)}, but the agent sent: ${said}`);
  }

  /** Throws if the run did not use the replies of the script as expected. */
  check(outcome: RunResult<unknown>): void {
    if (this.#fault !== undefined) throw new Error(this.#fault);
    const left = this.#isLoop ? 0 : this.#replies.length - this.#given;
    const how = outcome.outcome === "success" ? "It ended well." : `It ended with: ${outcome.error.message}`;
    if (left > 0) throw new Error(`The run ended with ${left} of ${counted(this.#replies.length)} left over. ${how}`);
  }

  /** Refuses a request with a status after which no agent retries. */
  #refuse(fault: string): ModelAnswer {
    this.#fault ??= fault;
    return failure(400, this.#fault);
  }
}

/** Returns whether a request is part of the conversation. Requests without tools are not: for a title, or a warm-up. */
export function isTurn({ json }: RecordedRequest): boolean {
  return Array.isArray(json?.tools) && json.tools.length > 0;
}

function counted(replies: number): string {
  return replies === 1 ? "1 reply" : `${replies} replies`;
}

function scriptedAnswer({ steps, usage }: Reply, { tools }: Asked): ModelAnswer {
  const offered = tools.map(({ name }) => name);
  const text: string[] = [];
  const thinking: string[] = [];
  const toolCalls: NonNullable<ModelAnswer["toolCalls"]>[number][] = [];
  let delayMs = 0;
  for (const step of steps) {
    if (step.type === "error") return { ...scriptedFailure(step.error), delayMs };
    if (step.type === "delay") delayMs += step.ms;
    else if (step.type === "text") text.push(...step.deltas);
    else if (step.type === "thinking") thinking.push(...step.deltas);
    else if (step.type === "call")
      toolCalls.push({ ...step.call, name: offeredName(step.call.name, offered) ?? step.call.name });
  }
  const { inputTokens: input, outputTokens: output, cacheReadTokens, cacheWriteTokens } = usage;
  const counts = { input, output, cacheRead: cacheReadTokens, cacheWrite: cacheWriteTokens };
  const isCounted = Object.values(counts).some((count) => count > 0);
  return { text, thinking: thinking.join(""), toolCalls, delayMs, ...(isCounted && { usage: counts }) };
}

const statuses: Partial<Record<ErrorCode, number>> = {
  MODEL_AUTH_ERROR: 401,
  MODEL_UNKNOWN: 404,
  MODEL_TIMEOUT: 408,
  MODEL_RATE_LIMIT: 429,
  MODEL_SERVER_ERROR: 500,
  MODEL_OVERLOADED: 529,
};

function scriptedFailure({ code, message, retryAfterMs }: { code: ErrorCode; message: string; retryAfterMs?: number }) {
  if (code === "MODEL_UNREACHABLE") return { hangUp: true } as const;
  const made = failure(statuses[code] ?? 400, code === "MODEL_OVERFLOW" ? `prompt is too long: ${message}` : message);
  return { ...made, ...(retryAfterMs && { headers: { "retry-after": String(Math.ceil(retryAfterMs / 1000)) } }) };
}

function failure(code: number, message: string): ModelAnswer {
  const type = code === 400 ? "invalid_request_error" : "api_error";
  return { status: code, body: { type: "error", error: { type, message, code } } };
}
