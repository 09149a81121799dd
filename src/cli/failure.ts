// How a failure is told: one line on stderr, and its JSON twin where the output format is JSON.
import { type ErrorCode, exitCodeOf, explainError, resultText, UserError } from "../protocol/error-codes.ts";
import { profileNames } from "../protocol/profiles.ts";
import { encodeEvent } from "../protocol/stream-json.ts";
import { noSpending } from "../protocol/usage.ts";
import { UnknownOption } from "./flags.ts";
import { type OutputFormat, outputs } from "./outputs.ts";
import { openStdout, outputFault, withoutSecrets, writeStderr } from "./stdout.ts";

/** `answer`: of a command such as `permissions list --format json`, which is not a run. */
type FailureFormat = OutputFormat | "answer";

/**
 * A failure before there was a run: no session, no `init`, but still exactly one result. The trust gate alone leaves
 * stdout empty, as the original does: programs that ask for trust and start again would take a result for the end.
 */
export async function failedBeforeRun(
  given: unknown,
  format: FailureFormat,
  program: string,
  chat = chatOf(process.argv.slice(2)),
): Promise<number> {
  const error = given instanceof UnknownOption ? await withHint(given) : given;
  const { code, message } = explainFailure(error);
  writeStderr(errorLine(message, code) + (code === "USAGE" ? `Try '${program} --help'.\n` : ""));
  const isGate = code === "UNTRUSTED" && format !== "answer";
  if (format !== "text" && !isGate) {
    const stdout = openStdout();
    stdout.write(`${format === "answer" ? failedAnswer(message, code) : failedResult(message, code, chat)}\n`);
    await stdout.flush();
  }
  return exitCodeOf(code);
}

async function withHint({ message, written, known }: UnknownOption): Promise<UserError> {
  const { flagHint } = await import("./habits.ts");
  const hint = flagHint(written, known) || " Put a prompt that starts with a dash after --.";
  return new UserError("USAGE", `${message}${hint}`);
}

/** The exit code. Where something could not be written that is what it says, unless a signal ended the program. */
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
  const compat = profileNames.find((name) => name === process.env["COURSER_COMPAT"]);
  return JSON.stringify(encodeEvent({ ...event, requestId: crypto.randomUUID() }, chat, { compat }));
}

/** The chat that was to be resumed, as far as the command line has its whole id; else there is none yet. */
function chatOf(argv: readonly string[]): string {
  for (const [index, token] of argv.entries()) {
    if (token === "--") break;
    const [, flag, given = argv[index + 1]] = /^--(resume|resume-or-new|session-id)(?:=(.*))?$/.exec(token) ?? [];
    if (flag !== undefined && given !== undefined && isUuid.test(given)) return given.toLowerCase();
  }
  return "";
}

const isUuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

function failedAnswer(message: string, code: ErrorCode): string {
  return JSON.stringify({ is_error: true, error_code: code, error: message }, null, 2);
}

export function errorLine(message: string, code: ErrorCode): string {
  return `Error: ${message} [${code}]\n`;
}

/** What happened, for people and by name. Anything but a UserError is a bug and is shown with its stack. */
export function explainFailure(error: unknown): { code: ErrorCode; message: string } {
  const { code, message } = explainError(error);
  return { code, message: withoutSecrets(message) };
}

/** The format that was asked for, read without the parser: it may be the parser that failed. */
export function formatOf(argv: readonly string[]): FailureFormat {
  let format: FailureFormat = "text";
  for (const [index, token] of argv.entries()) {
    if (token === "--") break;
    const [, flag, given = argv[index + 1]] = /^--(output-format|format)(?:=(.*))?$/.exec(token) ?? [];
    if (flag === "output-format" && given !== undefined && Object.hasOwn(outputs, given))
      format = given as OutputFormat;
    if (flag === "format" && given === "json") format = "answer";
  }
  return format;
}
