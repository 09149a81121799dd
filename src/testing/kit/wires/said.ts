// What an answer says, filled in, before it is put into a vendor's words.
import type { Answer, RecordedRequest } from "../model-server.ts";

/** An API from the side that answers. */
export interface WireFormat {
  /** Server-sent events, one text each. */
  stream(answer: Answer, request: RecordedRequest): string[];
  /** The body for a client that does not stream. */
  whole(answer: Answer, request: RecordedRequest): object;
  /** The body of an error that the test says nothing more of. */
  failure(status: number): object;
}

/** The same for every answer: nothing in a test depends on when it ran. */
export const createdAt = 1_760_000_000;

export function deltasOf({ text }: Answer): string[] {
  return typeof text === "string" ? [text].filter(Boolean) : [...(text ?? [])];
}

export type SaidCall = { id: string; name: string; args: unknown; namespace: string | undefined; json: string };

/** No two answers of a server have one id: programs take what has the same for one thing. */
export function callsOf({ toolCalls = [] }: Answer, { number }: Pick<RecordedRequest, "number">): SaidCall[] {
  return toolCalls.map(({ id, name, args, namespace }, index) => ({
    id: id ?? `call_${number}${index === 0 ? "" : `_${index + 1}`}`,
    name,
    args,
    namespace,
    json: typeof args === "string" ? args : JSON.stringify(args ?? {}),
  }));
}

export function usageOf({ usage }: Answer): Required<NonNullable<Answer["usage"]>> {
  return { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, ...usage };
}

/** Arguments come in two pieces, as they do in life. */
export function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter(Boolean);
}

/** Arguments as an object, for APIs that send no text; what is not JSON stays as it is. */
export function argsOf({ args }: SaidCall): unknown {
  if (typeof args !== "string") return args ?? {};
  try {
    return JSON.parse(args);
  } catch {
    return args;
  }
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
