// Looks at the bytes of an answer as they pass: is it a stream of events at all, and did it end as such streams do?
import type { Fetch } from "../net/fetch.ts";
import { redactedStart } from "../redact/shorten.ts";
import { collapsed } from "../text/one-line.ts";
import { hideSecrets, type RequestedModel, toModelError } from "./failure.ts";
import { ModelError } from "./provider.ts";

export type AnswerWatch = {
  fetch: Fetch;
  /** A good status arrived: from here on a broken connection is a cut answer. */
  readonly answered: boolean;
  /** `data: [DONE]` was the last that came. */
  readonly sawEndMark: boolean;
};

export function watchAnswer(ask: Fetch, asked: RequestedModel, signal: AbortSignal): AnswerWatch {
  let answered = false;
  let tail = "";
  const watched = async (...args: Parameters<typeof ask>): Promise<Response> => {
    const response = await ask(...args);
    if (!response.ok || !response.body) return response;
    answered = true;
    const type = response.headers.get("content-type") ?? "";
    if (/\b(html|json)\b/i.test(type)) throw await notStream(response, asked, signal);
    const body = passing(response.body, asked, (chunk) => {
      tail = (tail + Buffer.from(chunk.subarray(-64)).toString("latin1")).slice(-64);
    });
    return { ...response, body } as Response;
  };
  return {
    fetch: watched as Fetch,
    get answered() {
      return answered;
    },
    get sawEndMark() {
      return /data:\s*\[DONE\]\s*$/.test(tail);
    },
  };
}

/** A login page, a proxy's page, or an error that came as a success. */
async function notStream(response: Response, asked: RequestedModel, signal: AbortSignal): Promise<ModelError> {
  const text = await startOf(response.body!);
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    if (error)
      return toModelError(typeof error === "object" ? error : { message: String(error), statusCode: 500 }, asked, {
        signal,
        answered: true,
      });
  } catch {}
  return badStart(text, asked);
}

function badStart(text: string, asked: RequestedModel): ModelError {
  const hide = (said: string) => hideSecrets(said, asked.secrets);
  const shown = redactedStart(collapsed(text), 120, hide);
  const message = `${asked.vendorLabel} sent something that is not a model's stream: ${shown || "nothing"}. Is the base URL right? Is there a login page in between?`;
  return new ModelError("MODEL_BAD_RESPONSE", hide(message));
}

async function startOf(body: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of body) {
    text += Buffer.from(chunk).toString("utf8");
    if (text.length > 4_000) break;
  }
  return text.slice(0, 4_000);
}

function passing(
  body: ReadableStream<Uint8Array>,
  asked: RequestedModel,
  see: (chunk: Uint8Array) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let opening = "";
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) {
        // Words that begin like no event: a page, not a cut answer.
        return isEventStart(opening) ? controller.close() : controller.error(badStart(opening, asked));
      }
      if (opening.length < longestField) {
        opening = (opening + Buffer.from(value.subarray(0, 200)).toString("utf8")).replace(/^[\s\uFEFF]+/, "");
        // Events begin with a field name or a colon; markup and bare JSON do not.
        if (/^[<{[]/.test(opening)) {
          reader.cancel().catch(() => {});
          return controller.error(badStart(opening, asked));
        }
      }
      see(value);
      controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

const fields = [":", "data", "event", "id:", "retry"];
const longestField = 6;

/** Nothing, or as much of a field as came. */
function isEventStart(opening: string): boolean {
  return fields.some((field) => opening.startsWith(field) || field.startsWith(opening));
}
