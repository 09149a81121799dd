// Classifies why an attempt failed, and so what may help: another auth profile, another model, or nothing.
import type { ErrorCode } from "../protocol/error-codes.ts";

/**
 * `auth` and `limit` concern the account: another profile may work. The others concern the CLI or its model: another model
 * may work. `final`: the turn itself is at fault, or was cancelled.
 */
export type FailureKind = "auth" | "limit" | "transport" | "timeout" | "model" | "final";

const kinds: Partial<Record<ErrorCode, FailureKind>> = {
  NOT_AUTHENTICATED: "auth",
  MODEL_AUTH_ERROR: "auth",
  MODEL_RATE_LIMIT: "limit",
  MODEL_TIMEOUT: "timeout",
  CLI_TIMEOUT: "timeout",
  NO_OUTPUT: "transport",
  NO_RESULT: "transport",
  TOOL_UNKNOWN: "model",
  TOOL_ARGUMENTS: "model",
  CLI_FAILED: "model",
  INTERNAL: "model",
  UNTRUSTED: "model",
  MODEL_BAD_REQUEST: "model",
};

const final: ReadonlySet<string> = new Set<ErrorCode>([
  "INTERRUPTED",
  "CWD_MISSING",
  "USAGE",
  "CONFIG_INVALID",
  "CONFIG_UNREADABLE",
  "CONFIG_TOO_LARGE",
  "PROMPT_BLOCKED",
]);

/** Returns the kind of a failure by its error code, or for codes of other CLIs by the message. */
export function failureKind(code: string, message = ""): FailureKind {
  const known = kinds[code as ErrorCode];
  if (known) return known;
  if (final.has(code)) return "final";
  if (/^(CLI|FRAME)_/.test(code)) return "transport";
  if (/^MODEL_/.test(code)) return "model";
  const meant = codeOfWords(`${code.replaceAll("_", " ")} ${message}`);
  return meant ? (kinds[meant] ?? "model") : "model";
}

// Underscores count as part of words here, as in invalid_api_key.
const authThing = "(?<![a-z])(api[ _-]?keys?|tokens?|credentials?)(?![a-z])";
const authFault = "(?<![a-z])(invalid|missing|expired|wrong|bad|required|revoked|rejected|refused)(?![a-z])";

const words: readonly [pattern: RegExp, code: ErrorCode][] = [
  [
    new RegExp(
      [
        String.raw`\bnot (authenticated|authori[sz]ed|logged in|signed in)|\bun(authori[sz]ed|authenticated)\b|\b(log|sign) ?in\b`,
        String.raw`\bauth(entication|ori[sz]ation)?[ _-](failed|failure|required|error|expired|denied|rejected)`,
        String.raw`\b(failed to|unable to|could not) (authenticate|authori[sz]e)|\baccess denied\b|\b40[13]\b`,
        `${authThing}.{0,40}${authFault}|${authFault}.{0,40}${authThing}`,
      ].join("|"),
      "i",
    ),
    "MODEL_AUTH_ERROR",
  ],
  [/rate.?limit|too many requests|usage limit|quota|out of credits|\b429\b/i, "MODEL_RATE_LIMIT"],
  [/overloaded|\b(503|529)\b|service unavailable/i, "MODEL_OVERLOADED"],
  [/timed? ?out|deadline exceeded/i, "MODEL_TIMEOUT"],
  [/ECONNREFUSED|ENOTFOUND|ECONNRESET|EAI_AGAIN|network error|fetch failed/i, "MODEL_UNREACHABLE"],
];

/** Guesses the error code for a CLI that reports failures only in words. */
export function codeOfWords(text: string): ErrorCode | undefined {
  return words.find(([pattern]) => pattern.test(text))?.[1];
}

/** Finds the flag that a CLI refused, if it ended because of an unknown flag. */
export function refusedFlag(stderr: string, flags: readonly string[]): string | undefined {
  if (
    !/(unknown|unrecogni[sz]ed|unexpected|invalid|no such|not a valid|bad) (option|argument|flag|switch)|flag provided but not defined/i.test(
      stderr,
    )
  )
    return undefined;
  const bare = stderr.toLowerCase();
  return flags.find((flag) => bare.includes(flag.replace(/^-+/, "").toLowerCase()));
}

/** Recognizes the system's messages for a command line that is too long. */
export function isTooLong(text: string): boolean {
  return /\bE2BIG\b|\bENAMETOOLONG\b|argument list too long|command line is too long/i.test(text);
}
