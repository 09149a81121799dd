// Inspects the bytes of an answer as they pass: whether it is an event stream, within limits, and ended properly.
import type { Fetch } from "../net/fetch.ts";
import { withReaders } from "../net/response.ts";
import { ReadableStream } from "../net/streams.ts";
import { redactedStart } from "../redact/shorten.ts";
import { collapsed } from "../text/one-line.ts";
import { EventLines } from "./event-lines.ts";
import { hideSecrets, type RequestedModel, toModelError } from "./failure.ts";
import { ModelError } from "./provider.ts";

export type AnswerWatch = {
  fetch: Fetch;
  /** A successful status arrived: from here on a broken connection means a truncated answer. */
  readonly answered: boolean;
  /** Whether the last event of the stream has arrived. */
  readonly sawEndMark: boolean;
};

export function watchAnswer(ask: Fetch, asked: RequestedModel, signal: AbortSignal): AnswerWatch {
  let answered = false;
  const lines = new EventLines();
  const watched = async (...args: Parameters<typeof ask>): Promise<Response> => {
    const response = await ask(...args);
    if (!response.body) return response;
    if (!response.ok) return { ...response, ...withReaders(limitedBody(response.body)) } as unknown as Response;
    answered = true;
    const type = response.headers.get("content-type") ?? "";
    if (/\b(html|json)\b/i.test(type)) throw await notStream(response, asked, signal);
    // Bedrock uses its own framing for events, which the package checks.
    if (/amazon\.eventstream/.test(type)) return response;
    return { ...response, body: checkedBody(response.body, asked, lines) } as Response;
  };
  return {
    fetch: watched as Fetch,
    get answered() {
      return answered;
    },
    get sawEndMark() {
      return lines.isOver;
    },
  };
}

/** Builds the error for a login page, a proxy's page, or an error sent with a success status. */
async function notStream(response: Response, asked: RequestedModel, signal: AbortSignal): Promise<ModelError> {
  const text = await firstCharacters(response.body!);
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    if (error)
      return toModelError(typeof error === "object" ? error : { message: String(error), statusCode: 500 }, asked, {
        signal,
        answered: true,
      });
  } catch {}
  return notAStreamError(text, asked);
}

/** The error for input that would fill the memory. `what` is the start of its sentence. */
export function tooLong(what: string): ModelError {
  return new ModelError(
    "MODEL_TOO_LONG",
    `${what}: more than 16 MiB. Ask for less at a time, or choose another model with --model.`,
  );
}

function notAStreamError(text: string, asked: RequestedModel): ModelError {
  const hide = (said: string) => hideSecrets(said, asked.secrets);
  const shown = redactedStart(collapsed(text), 120, hide);
  const message = `${asked.vendorLabel} sent something that is not a model's stream: ${shown || "nothing"}. Is the base URL right? Is there a login page in between?`;
  return new ModelError("MODEL_BAD_RESPONSE", hide(message));
}

async function firstCharacters(body: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of body) {
    text += Buffer.from(chunk).toString("utf8");
    if (text.length > 4_000) break;
  }
  return text.slice(0, 4_000);
}

/** How many bytes of an error response are read. */
const maxOfError = 64 * 1024;

function limitedBody(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let length = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (value) controller.enqueue(value.subarray(0, maxOfError - length));
      length += value?.length ?? 0;
      if (!done && length < maxOfError) return;
      if (!done) reader.cancel().catch(() => {});
      controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** How many milliseconds to wait after a finish reason for the usage and the end mark, which usually follow at once. */
const finishMs = 3000;
/** How many milliseconds to wait for the end of the response after its last event, to reuse the connection. */
const closingMs = 250;

function checkedBody(
  body: ReadableStream<Uint8Array>,
  asked: RequestedModel,
  lines: EventLines,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let opening = "";
  const abandon = () => void reader.cancel().catch(() => {});
  const readOn = async () => {
    const next = reader.read();
    if (!lines.mayBeOver) return next;
    const silence = { done: true, value: undefined } as const;
    const received = await earlier(next, finishMs, silence);
    if (received === silence) abandon();
    return received;
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await readOn();
      if (done) {
        // Text that does not start like an event is a page, not a truncated answer.
        return isEventStart(opening) ? controller.close() : controller.error(notAStreamError(opening, asked));
      }
      if (opening.length < longestField) {
        opening = (opening + Buffer.from(value.subarray(0, 200)).toString("utf8")).replace(/^[\s\uFEFF]+/, "");
        // Events start with a field name or a colon; markup and bare JSON do not.
        if (/^[<{[]/.test(opening)) {
          abandon();
          return controller.error(notAStreamError(opening, asked));
        }
      }
      lines.push(value);
      if (lines.isTooLong) {
        abandon();
        return controller.error(tooLong(`${asked.vendorLabel} sent a line without an end`));
      }
      controller.enqueue(value);
      if (!lines.isOver) return;
      controller.close();
      // End the answer even if the server keeps the connection open.
      earlier(reader.read(), closingMs, undefined).then(
        (end) => end ?? abandon(),
        () => {},
      );
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Resolves to the event, or to `late` after the time limit. */
async function earlier<Value, Late>(event: Promise<Value>, limitMs: number, late: Late): Promise<Value | Late> {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<Late>((resolve) => {
    timer = setTimeout(() => resolve(late), limitMs);
  });
  return Promise.race([event, end]).finally(() => clearTimeout(timer));
}

const fields = [":", "data", "event", "id:", "retry"];
const longestField = 6;

/** Reports whether the text is empty or starts like a field, even if incomplete. */
function isEventStart(opening: string): boolean {
  return fields.some((field) => opening.startsWith(field) || field.startsWith(opening));
}
