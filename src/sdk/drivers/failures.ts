// Maps error messages of CLIs to error codes, both from their stream and from stderr.
import { isObject, tryParse } from "../../json/object.ts";
import { codeNamedIn, type ErrorCode } from "../../protocol/error-codes.ts";
import { causeIn } from "../../text/cause.ts";

export type FailureRow = { pattern: RegExp; code: ErrorCode };

/** Error codes for the HTTP statuses of model vendors. */
const statuses: Readonly<Record<number, ErrorCode>> = {
  401: "MODEL_AUTH_ERROR",
  402: "MODEL_AUTH_ERROR",
  403: "MODEL_AUTH_ERROR",
  404: "MODEL_UNKNOWN",
  408: "MODEL_TIMEOUT",
  413: "MODEL_OVERFLOW",
  429: "MODEL_RATE_LIMIT",
  529: "MODEL_OVERLOADED",
};

export function codeOfStatus(status: number): ErrorCode {
  return statuses[status] ?? (status >= 500 ? "MODEL_SERVER_ERROR" : "MODEL_BAD_REQUEST");
}

/** Error messages of model vendors, which every CLI passes on. */
const vendorRows: readonly FailureRow[] = [
  {
    pattern: /model_not_found|model\b.{0,80}\b(?:does not exist|not found|may not exist)|^models\/\S+ is not found/i,
    code: "MODEL_UNKNOWN",
  },
  {
    pattern: /(?:invalid|incorrect)\b.{0,12}\bapi[ -]?key|\bunauthenticated\b|authentication_/i,
    code: "MODEL_AUTH_ERROR",
  },
  { pattern: /rate[ _-]?limit|too many requests|resource_exhausted|quota/i, code: "MODEL_RATE_LIMIT" },
  { pattern: /(?:credit )?balance is too low|insufficient balance|payment required/i, code: "MODEL_AUTH_ERROR" },
  { pattern: /overloaded|high demand/i, code: "MODEL_OVERLOADED" },
  {
    pattern:
      /prompt is too long|context_length|context (?:length|window|size)|maximum (?:prompt|input) (?:length|token)|input token count.{0,40}exceeds|too many (?:input )?tokens/i,
    code: "MODEL_OVERFLOW",
  },
  {
    pattern: /ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|fetch failed|error sending request|stream disconnected/i,
    code: "MODEL_UNREACHABLE",
  },
];

const statusWords = /(?:^|\b(?:status(?: code)?|error|code|rejected)["']?[\s:=(]{1,3})([45]\d\d)\b/i;

/** Returns the error code that a CLI's message implies, or undefined. Its words are more specific than an HTTP status of 400. */
export function codeIn(text: string, rows: readonly FailureRow[]): ErrorCode | undefined {
  const named = codeNamedIn(text) ?? rows.find(({ pattern }) => pattern.test(text))?.code;
  if (named !== undefined) return named;
  const status = statusWords.exec(text)?.[1];
  const code = status === undefined ? undefined : codeOfStatus(Number(status));
  if (code !== undefined && code !== "MODEL_BAD_REQUEST") return code;
  return vendorRows.find(({ pattern }) => pattern.test(text))?.code ?? code;
}

/** Explains a reported failure: extracts the cause, and finds the code in the message or on stderr. */
export function explainedFailure(
  { message, code }: { message: string; code?: string | undefined },
  stderr: string,
  rows: readonly FailureRow[],
): { message: string; code: string } {
  const cause = plainMessage(message);
  const isExact = code !== undefined && code !== "MODEL_BAD_REQUEST";
  const found = isExact ? code : (codeIn(message, rows) ?? code ?? codeIn(stderr, rows));
  return { message: cause, code: found ?? "CLI_FAILED" };
}

/** Removes what surrounds the vendor's message: brackets, and the JSON it came in. */
function plainMessage(message: string): string {
  const [, inner = message, rest = ""] = /^\[API Error: (.*?)\](\n.*)?$/s.exec(message.trim()) ?? [];
  const parsed = tryParse(inner.replace(/^\d{3}:?\s+(?=\{)/, ""));
  const error = isObject(parsed) && isObject(parsed.error) ? parsed.error : parsed;
  const reported = isObject(error) && typeof error.message === "string" ? error.message : inner;
  return causeIn(reported + rest) || message;
}
