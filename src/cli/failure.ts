// Reports a failure: one line on stderr, and the same as JSON on stdout if the output format is JSON.
import { resolve } from "node:path";
import {
  type ErrorCode,
  exitCodeOf,
  explainError,
  resultText,
  type UserError,
  usageError,
} from "../protocol/error-codes.ts";
import { type ProfileName, profileNames } from "../protocol/profiles.ts";
import { encodeEvent } from "../protocol/stream-json.ts";
import { noSpending } from "../protocol/usage.ts";
import { UnknownOption } from "./flags.ts";
import { type OutputFormat, outputs } from "./outputs.ts";
import { openStdout, outputFault, withoutSecrets, writeStderr } from "./stdout.ts";

/** `answer` is the JSON of a command that is not a run, such as `permissions list --format json`. */
type FailureFormat = OutputFormat | "answer";

/**
 * Reports a failure before the run started, with exactly one result. An `init` comes first if an existing session was to be
 * resumed and only the run could not start (its model is unknown, or has no key). Only the trust gate leaves stdout empty, as
 * the original does: programs that ask for trust and start again would take a result for the end.
 */
export async function failedBeforeRun(given: unknown, format: FailureFormat, program: string): Promise<number> {
  const chat = chatIdFromArguments(process.argv.slice(2));
  const error = given instanceof UnknownOption ? await withHint(given) : given;
  const { code, message } = explainFailure(error);
  writeStderr(errorLine(message, code) + (code === "USAGE" ? `Try '${program} --help'.\n` : ""));
  const isGate = code === "UNTRUSTED" && format !== "answer";
  if (format !== "text" && !isGate) {
    const stdout = openStdout();
    const init = format === "stream-json" && code !== "USAGE" && chat !== "" ? await initLine(chat) : "";
    const answer = { is_error: true, error_code: code, error: message };
    stdout.write(
      `${init}${format === "answer" ? JSON.stringify(answer, null, 2) : failedResult(message, code, chat)}\n`,
    );
    await stdout.flush();
  }
  return exitCodeOf(code);
}

async function withHint({ message, written, known }: UnknownOption): Promise<UserError> {
  const { flagHint } = await import("./habits.ts");
  const hint = flagHint(written, known) || " Put a prompt that starts with a dash after --.";
  return usageError(`${message}${hint}`);
}

/** Returns the exit code: that of a failed write if there was one, unless a signal ended the program. */
export function checkOutput(exitCode: number): number {
  const fault = outputFault();
  if (!fault) return exitCode;
  writeStderr(errorLine(fault.message, fault.code));
  return exitCode > 128 ? exitCode : exitCodeOf(fault.code);
}

function failedResult(message: string, code: ErrorCode, chat: string): string {
  const event = {
    type: "fail" as const,
    message: resultText(message),
    code,
    durationMs: 0,
    apiDurationMs: 0,
    usage: noSpending,
  };
  return JSON.stringify(encodeEvent({ ...event, requestId: crypto.randomUUID() }, chat, { compat: compatOf() }));
}

function compatOf(): ProfileName | undefined {
  return profileNames.find((name) => name === process.env["COURSER_COMPAT"]);
}

/** The `init` line of a run that resumes this session, or "" if there is no such session. */
async function initLine(sessionId: string): Promise<string> {
  const [{ configDir }, { isTaken }] = await Promise.all([
    import("../store/config-dir.ts"),
    import("../store/chats/list-chats.ts"),
  ]);
  if (!isTaken(configDir(process.env), sessionId)) return "";
  const argv = process.argv.slice(2);
  const model = flagIn(argv, "model") ?? "unknown";
  const cwd = resolve(flagIn(argv, "workspace") ?? ".");
  const event = { type: "init", sessionId, cwd, model, permissionMode: "default", apiKeySource: "none" } as const;
  return `${JSON.stringify(encodeEvent(event, sessionId, { compat: compatOf() }))}\n`;
}

/** The chat to resume, if the command line has its full id; otherwise "". */
function chatIdFromArguments(argv: readonly string[]): string {
  const statedId = flagIn(argv, "resume|resume-or-new|session-id", (value) => isUuid.test(value));
  return statedId?.toLowerCase() ?? "";
}

/** Reads a flag without the parser, because it may be the parser that failed. */
function flagIn(argv: readonly string[], names: string, fits = (_value: string) => true): string | undefined {
  const pattern = new RegExp(`^--(?:${names})(?:=(.*))?$`, "s");
  const end = argv.indexOf("--");
  const found = argv.slice(0, end < 0 ? undefined : end).flatMap((token, index) => {
    const match = pattern.exec(token);
    return match ? [match[1] ?? argv[index + 1] ?? ""] : [];
  });
  return found.findLast(fits);
}

const isUuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

export function errorLine(message: string, code: ErrorCode): string {
  return `Error: ${message} [${code}]\n`;
}

/** Returns the error's code and its message for people. Anything but a UserError is a bug and is shown with its stack. */
export function explainFailure(error: unknown): { code: ErrorCode; message: string } {
  const { code, message } = explainError(error);
  return { code, message: withoutSecrets(message) };
}

export function formatOf(argv: readonly string[]): FailureFormat {
  if (flagIn(argv, "format", (value) => value === "json") !== undefined) return "answer";
  return (
    (flagIn(argv, "output-format", (value) => Object.hasOwn(outputs, value)) as OutputFormat | undefined) ?? "text"
  );
}
