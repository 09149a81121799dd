// Fills in the parts of an answer before it is formatted for a vendor.

import { tryOr } from "../../../text/try-or.ts";
import type { ModelAnswer, RecordedRequest } from "../model-server.ts";

/** The server side of a vendor's API. */
export interface WireFormat {
  /** Returns an answer as server-sent events, one string for each. */
  stream(answer: ModelAnswer, request: RecordedRequest): string[];
  /** Returns an answer as one body, for clients that do not stream. */
  whole(answer: ModelAnswer, request: RecordedRequest): object;
  /** Returns the default error body for an HTTP status. */
  failure(status: number): object;
}

/** The same for every answer, so that no test depends on when it runs. */
export const createdAt = 1_760_000_000;

export function deltasOf({ text }: ModelAnswer): string[] {
  return typeof text === "string" ? [text].filter(Boolean) : [...(text ?? [])];
}

export type SaidCall = { id: string; name: string; args: unknown; json: string };

/**
 * Gives every call of a server its own id, because programs treat equal ids as the same call, and Claude Code an id with an
 * underscore and a number at its end as a part of another call.
 */
export function callsOf({ toolCalls = [] }: ModelAnswer, { number }: Pick<RecordedRequest, "number">): SaidCall[] {
  return toolCalls.map(({ id, name, args }, index) => ({
    id: id ?? `call_${number}${index === 0 ? "" : `-${index + 1}`}`,
    name,
    args,
    json: typeof args === "string" ? args : JSON.stringify(args ?? {}),
  }));
}

export function answerUsage({ usage }: ModelAnswer): Required<NonNullable<ModelAnswer["usage"]>> {
  return { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, ...usage };
}

/** Splits arguments into two deltas, as real APIs do. */
export function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter(Boolean);
}

/** Arguments as an object, for APIs that do not send text; invalid JSON stays a string. */
export function argsOf({ args }: SaidCall): unknown {
  if (typeof args !== "string") return args ?? {};
  return tryOr(() => JSON.parse(args), args);
}

const namesOfStatus: Readonly<Record<number, string>> = {
  400: "bad request",
  401: "the key is not valid",
  403: "not permitted",
  404: "not found",
  413: "the request is too large",
  429: "too many requests",
  529: "overloaded",
};

export function failureText(status: number): string {
  return `model server: ${namesOfStatus[status] ?? `status ${status}`}`;
}
