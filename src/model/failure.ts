// Turns every failure of a vendor into a ModelError: a code, what happened, and what to type next.

import { findNetError, type NetError } from "../net/net-error.ts";
import type { ErrorCode } from "../protocol/error-codes.ts";
import { createRedactor } from "../redact/redact.ts";
import { redactedStart } from "../redact/shorten.ts";
import { collapsed } from "../text/one-line.ts";
import { ModelError } from "./provider.ts";

/** The model that was asked, for error messages. */
export type RequestedModel = {
  vendorLabel: string;
  model: string;
  local: boolean;
  /** Advice for the case that the key is refused: what to type. */
  keyAdvice: string;
  /** Whether the key was saved by `login`. */
  isLogin?: boolean;
  /** Secrets that must not appear in messages. */
  secrets: readonly string[];
  /** The name by which this program was started. */
  program: string;
};

/** The state of a request that failed. `answered` means that a successful status had arrived. */
export type HttpExchange = { signal: AbortSignal; answered: boolean };

export function toModelError(error: unknown, asked: RequestedModel, exchange: HttpExchange): ModelError {
  const modelError = findModelError(error);
  if (modelError) return modelError;
  if (exchange.signal.aborted) return new ModelError("INTERRUPTED", "The request was cancelled.", { cause: error });
  const failure = describe(error, asked, exchange);
  return new ModelError(failure.code, hideSecrets(failure.message, asked.secrets), {
    ...(failure.retryAfterMs !== undefined && { retryAfterMs: failure.retryAfterMs }),
    ...(failure.mayStillAnswer && { mayStillAnswer: true }),
    cause: error,
  });
}

/** Finds the ModelError that a package has wrapped. */
function findModelError(error: unknown): ModelError | undefined {
  let current = error;
  for (let depth = 0; depth < 8 && current instanceof Error; depth++) {
    if (current instanceof ModelError) return current;
    current = current.cause;
  }
  return undefined;
}

type Failure = { code: ErrorCode; message: string; retryAfterMs?: number | undefined; mayStillAnswer?: boolean };
type ErrorFields = {
  message?: unknown;
  type?: unknown;
  code?: unknown;
  status?: unknown;
  statusCode?: unknown;
  responseBody?: unknown;
  responseHeaders?: unknown;
  name?: unknown;
  value?: unknown;
};

function describe(error: unknown, asked: RequestedModel, exchange: HttpExchange): Failure {
  const net = findNetError(error);
  if (net) return fromNet(net, asked, exchange);
  const fields = (typeof error === "object" && error !== null ? error : { message: String(error) }) as ErrorFields;
  const body = typeof fields.responseBody === "string" ? fields.responseBody : "";
  // Anthropic's package reports an unreadable first chunk as if the server had sent it as an error.
  const name = /^\{"name":"(AI_\w+)"/.exec(body)?.[1] ?? String(fields.name ?? "");
  // A package could not parse a chunk, which may be an error of an unusual shape.
  const inside = /^AI_TypeValidationError/.test(name)
    ? (fields.value as { error?: unknown } | undefined)?.error
    : undefined;
  if (inside !== undefined) return fromStatus(httpStatus(inside as ErrorFields) ?? 500, messageIn(inside), {}, asked);
  if (/^AI_(TypeValidation|JSONParse|InvalidResponseData|EmptyResponseBody|NoContentGenerated)Error/.test(name)) {
    return {
      code: "MODEL_BAD_RESPONSE",
      message: `${asked.vendorLabel} sent something that is not a model's answer: ${shortenMessage(String(fields.message), asked)}`,
    };
  }
  if (/^AI_(UnsupportedFunctionality|InvalidPrompt|InvalidArgument)/.test(name)) {
    return {
      code: "MODEL_BAD_REQUEST",
      message: `${asked.vendorLabel} cannot be asked this: ${shortenMessage(String(fields.message), asked)}`,
    };
  }
  const status = httpStatus(fields);
  if (status === undefined && error instanceof Error && !/^AI_/.test(name)) {
    // A damaged frame from Bedrock is reported as a plain Error.
    const code = exchange.answered && name === "Error" ? "MODEL_BAD_RESPONSE" : "INTERNAL";
    return { code, message: `Asking ${asked.vendorLabel} failed: ${error.message}` };
  }
  const headers = (fields.responseHeaders ?? {}) as Record<string, string>;
  return fromStatus(status ?? 500, bodyText(body) || messageIn(fields), headers, asked, body);
}

function fromNet(net: NetError, asked: RequestedModel, exchange: HttpExchange): Failure {
  const who = asked.local
    ? `Is the server running? Start it, or choose another model with --model.`
    : `Check the network and the proxy settings (HTTPS_PROXY, NO_PROXY).`;
  switch (net.kind) {
    case "timeout":
      return {
        code: "MODEL_TIMEOUT",
        message: `${asked.vendorLabel} did not answer. ${net.message} Raise timeoutMs in courser.json if it needs longer.`,
        mayStillAnswer: asked.local,
      };
    case "idle":
      return {
        code: "MODEL_TIMEOUT",
        message: `${asked.vendorLabel} stopped in the middle of its answer. ${net.message}`,
      };
    case "reset":
      if (exchange.answered)
        return { code: "MODEL_TRUNCATED", message: `The answer of ${asked.vendorLabel} was cut off. ${net.message}` };
      return { code: "MODEL_UNREACHABLE", message: `${asked.vendorLabel} cannot be reached. ${net.message}. ${who}` };
    case "tls":
      return {
        code: "MODEL_UNREACHABLE",
        message: `${asked.vendorLabel} cannot be reached. ${net.message}. If a proxy here signs with its own certificate, name it: export NODE_EXTRA_CA_CERTS=<file>.`,
      };
    case "refused":
    case "dns":
    case "proxy":
    case "redirects":
      return {
        code: "MODEL_UNREACHABLE",
        message: `${asked.vendorLabel} cannot be reached. ${net.message.replace(/\.$/, "")}. ${who}`,
      };
  }
}

function fromStatus(
  status: number,
  text: string,
  headers: Record<string, string>,
  asked: RequestedModel,
  body = "",
): Failure {
  const { vendorLabel, model } = asked;
  const reason = shortenMessage(text, asked) || `status ${status}`;
  const all = `${text} ${body.slice(0, 4_000)}`;
  const retryAfterMs = retryAfter(headers, all);
  const answered = `${vendorLabel} answered ${status}`;
  if (
    status === 402 ||
    /insufficient_quota|insufficient balance|credit balance is too low|exceeded your current quota, please check your plan/i.test(
      all,
    )
  ) {
    return {
      code: "MODEL_AUTH_ERROR",
      message: `${answered}: the account has no credit left (${reason}). Add credit, or use another key: ${asked.keyAdvice}`,
    };
  }
  if (status === 401 || (status < 500 && status !== 429 && isKeyError(status, all))) {
    const message = asked.isLogin
      ? `Authentication failed. Please run '${asked.program} login'. ${answered}: ${reason}.`
      : `API key invalid: ${answered}: ${reason}. ${asked.keyAdvice}`;
    return { code: "MODEL_AUTH_ERROR", message };
  }
  if (status === 403)
    return {
      code: "MODEL_AUTH_ERROR",
      message: `${answered}, access denied: ${reason}. The key may not use ${model}, or not from here. ${asked.keyAdvice}`,
    };
  if (status === 413 || (status < 500 && status !== 429 && isOverflow(text, all))) {
    return { code: "MODEL_OVERFLOW", message: `The conversation is too long for ${model}: ${reason}` };
  }
  if (status < 500 && takesNoTools.test(all)) {
    return {
      code: "MODEL_BAD_REQUEST",
      message: `${model} takes no tools as ${vendorLabel} runs it, and an agent works with them (${reason}). Choose another model with --model, or start the server with tool calls (docs/models.md, Local servers).`,
    };
  }
  if (status === 404 || (status === 400 && isUnknownModel(all))) {
    return {
      code: "MODEL_UNKNOWN",
      message: `${answered}: it does not know the model ${model} (${reason}). List the models with: ${asked.program} models`,
    };
  }
  if (status === 429)
    return {
      code: "MODEL_RATE_LIMIT",
      message: `${vendorLabel} limits the rate of requests (429): ${reason}`,
      retryAfterMs,
    };
  if (status === 529 || (status >= 500 && /overloaded/i.test(all))) {
    return { code: "MODEL_OVERLOADED", message: `${vendorLabel} is overloaded (${status}): ${reason}`, retryAfterMs };
  }
  if (status === 400 && isRefusal(all)) {
    return {
      code: "MODEL_REFUSED",
      message: `${answered}: ${reason}. Rephrase it, or choose another model with --model.`,
    };
  }
  if (status === 408) return { code: "MODEL_TIMEOUT", message: `${answered}: ${reason}`, retryAfterMs };
  // 409 and 425: the server is busy with another request, or considers this one too early.
  if (status >= 500 || status === 409 || status === 425)
    return { code: "MODEL_SERVER_ERROR", message: `${answered}: ${reason}`, retryAfterMs };
  if (status >= 300 && status < 400) {
    const to = headers["location"] ? ` to ${headers["location"]}` : "";
    return {
      code: "MODEL_BAD_RESPONSE",
      message: `${answered}: it redirects${to}. If that is right, set it as the base URL.`,
    };
  }
  return { code: "MODEL_BAD_REQUEST", message: `${answered}: ${reason}` };
}

const takesNoTools =
  /does not support (?:tools|tool use|function calling)|tool(?: use|s| choice)? (?:is|are) not supported|"auto" tool choice requires|--enable-auto-tool-choice/i;

function isKeyError(status: number, text: string): boolean {
  const isSaid =
    /api[_ -]?key[_ ](not valid|invalid|is invalid)|invalid[_ ](x-)?api[_ -]?key|incorrect api key|authentication_error|invalid authentication/i;
  return isSaid.test(text) || (status === 403 && /\b(api[_ -]?key|credentials?|unauthori[sz]ed|token)\b/i.test(text));
}

const overflowWords = [
  "prompt is too long",
  "maximum context length",
  "maximum prompt length",
  "context_length_exceeded",
  "exceed_context_size",
  "context window",
  "context length",
  "context size",
  "context limit",
  "context the overflows",
  "input is too long",
  "input token count",
  "too many tokens",
  "reduce the length",
  "request too large",
  "request_too_large",
  "prompt_too_long",
];

/** Sentences with figures in them: how many tokens were sent, and what the limit is. */
const overflowSentences = [
  /\b(prompt|inputs?|messages?|conversation)\b[^.]{0,60}\btokens?\b.{0,80}\b(exceeds?|maximum|limit|at most|must be)\b/,
  /\btokens?\b.{0,30}\b(prompt|inputs?|messages?)\b.{0,60}\b(exceeds?|maximum|limit)\b/,
  /\binput length\b.{0,30}\b(should|must) be\b/,
];

function isOverflow(statedReason: string, all: string): boolean {
  const lower = all.toLowerCase();
  if (overflowWords.some((words) => lower.includes(words))) return true;
  return overflowSentences.some((sentence) => sentence.test(statedReason.toLowerCase()));
}

/** Reports whether a filter refused the request before the model saw it. */
function isRefusal(text: string): boolean {
  return /content_policy|content[_ ]filter|content management policy|responsibleaipolicy|safety system/i.test(text);
}

function isUnknownModel(text: string): boolean {
  return /model_not_found|not a valid model|unknown model|model\b.{1,100}(does not exist|not found|is not available)/i.test(
    text,
  );
}

function httpStatus(error: ErrorFields): number | undefined {
  for (const value of [error.statusCode, error.code, error.status]) {
    const status = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
    if (typeof status === "number" && status >= 300 && status < 600) return status;
  }
  const kind = `${String(error.type ?? "")} ${String(error.code ?? "")} ${String(error.status ?? "")}`.toLowerCase();
  if (/overloaded/.test(kind)) return 529;
  if (/rate_limit|insufficient_quota|resource_exhausted/.test(kind)) return 429;
  if (/authentication|unauthenticated/.test(kind)) return 401;
  if (/permission/.test(kind)) return 403;
  if (/not_found/.test(kind)) return 404;
  if (/invalid|bad_request|context_length|request_too_large/.test(kind)) return 400;
  if (/timeout/.test(kind)) return 504;
  return /error|fail/.test(kind) ? 500 : undefined;
}

/** Returns the message in an error response of any format. */
function bodyText(body: string): string {
  const trimmed = body.trim();
  if (!trimmed) return "";
  try {
    return messageIn(JSON.parse(trimmed));
  } catch {
    // For an HTML page, use its title.
    const title = /<title[^>]*>([^<]*)<\/title>/i.exec(trimmed)?.[1];
    return (title ?? trimmed.replace(/<[^>]*>/g, " ")).trim();
  }
}

function messageIn(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return messageIn(value[0]);
  if (typeof value !== "object" || value === null) return "";
  const { error, message, detail, details } = value as Record<string, unknown>;
  for (const inner of [error, message, detail, details]) {
    const text = inner === undefined ? "" : messageIn(inner);
    if (text) return text;
  }
  return "";
}

/** Matches how OpenAI and Groq say it: `try again in 7m12.5s`, or `898ms`. */
const tryAgain = /try again in (?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)(m?)s)?/i;

/** Reads Retry-After in seconds or as a date, retry-after-ms, Google's retryDelay in the body, or the words of others. */
export function retryAfter(headers: Record<string, string>, body = "", now = Date.now()): number | undefined {
  const exact = Number(headers["retry-after-ms"]);
  if (headers["retry-after-ms"] && exact >= 0) return exact;
  const retryHeader = headers["retry-after"]?.trim();
  if (retryHeader && /^\d+(\.\d+)?$/.test(retryHeader)) return Math.ceil(Number(retryHeader) * 1000);
  const date = retryHeader ? Date.parse(retryHeader) : Number.NaN;
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  const delay = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  if (delay) return Math.ceil(Number(delay) * 1000);
  const [, hours = 0, minutes = 0, seconds = 0, milli] = tryAgain.exec(body) ?? [];
  const wait = (Number(hours) * 60 + Number(minutes)) * 60_000 + Number(seconds) * (milli ? 1 : 1000);
  return wait > 0 ? Math.ceil(wait) : undefined;
}

/** Removes secrets, since servers may quote what they were sent. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  return createRedactor({ values: secrets }).redact(text);
}

function shortenMessage(text: string, { secrets }: Pick<RequestedModel, "secrets">): string {
  return redactedStart(collapsed(text).replace(/\.$/, ""), 500, (said) => hideSecrets(said, secrets));
}
