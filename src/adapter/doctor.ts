// Diagnoses a CLI that is to answer behind the turn contract: runs it as the adapter would, and checks the results.
import { type ProgramRequest, runProgram } from "../process/run-program.ts";
import { createRedactor } from "../redact/redact.ts";
import { secretValues } from "../redact/secret-names.ts";
import { redactedStart } from "../redact/shorten.ts";
import { cliInput } from "./cli-input.ts";
import { type Finding, findingsFrom, type Trials } from "./findings.ts";

type DoctorRequest = {
  /** The CLI with its arguments, without a prompt. */
  command: readonly string[];
  /** How the CLI gets a turn. Default: "argument" if its arguments include `-p` or `--print`, else "stdin". */
  style?: "argument" | "stdin";
  /** Flags placed before a prompt that is passed as an argument. */
  headlessFlags?: readonly string[];
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** The time limit of each run. Default: 30 s. */
  timeoutMs?: number;
  signal?: AbortSignal;
};

export type DoctorReport = {
  ok: boolean;
  command: readonly string[];
  style: "argument" | "stdin";
  findings: Finding[];
  /** The outcome of each trial run. */
  runs: {
    name: keyof Trials;
    exitCode: number | null;
    signal: string;
    ms: number;
    stdoutBytes: number;
    stderr: string;
  }[];
};

const minimalTurn = {
  type: "turn" as const,
  turnId: "t1",
  messages: [{ role: "user", content: "hi" }],
  tools: [],
};

const usualTimeoutMs = 30_000;
/** How many bytes of output are kept: enough for a whole stream, which is needed to judge it. */
const keepBytes = 2 ** 26;
/** For how many milliseconds a program that waits at a terminal is observed. */
const terminalMs = 4000;

export async function diagnoseCli(request: DoctorRequest): Promise<DoctorReport> {
  const { command, env = process.env, cwd = process.cwd(), timeoutMs = usualTimeoutMs, signal } = request;
  const headlessFlags = request.headlessFlags ?? ["--approve-mcps", "--force"];
  const style = request.style ?? (command.some((word) => word === "-p" || word === "--print") ? "argument" : "stdin");
  const [program = "", ...args] = command;
  const input = cliInput(
    { command: program, args, promptAsArg: style === "argument", headlessFlags, closeStdinAfterMs: 0 },
    minimalTurn,
  );
  const words = [program, ...(input.args ?? []), ...(input.prompt === undefined ? [] : [input.prompt])];
  const line = style === "stdin" ? `${JSON.stringify(minimalTurn)}\n` : undefined;
  const run = (more: Partial<ProgramRequest>) =>
    runProgram({ command: words, cwd, env, timeoutMs, graceMs: 1000, keepBytes, signal, ...more });

  const trials: Trials = { pipe: await run({ input: line }) };
  if (trials.pipe.failure === undefined && signal?.aborted !== true) {
    if (style === "stdin") {
      // A CLI that answers at all has had time to; one that waits for the end of its input never does.
      const limit = Math.min(timeoutMs, trials.pipe.timedOut ? 3000 : 3 * trials.pipe.durationMs + 3000);
      trials.open = await run({ input: line, keepOpen: true, timeoutMs: limit });
    }
    const terminal = atTerminal(words);
    const limit = Math.min(timeoutMs, terminalMs);
    if (terminal) trials.terminal = await run({ command: terminal, input: "", keepOpen: true, timeoutMs: limit });
  }
  const { redact } = createRedactor({ values: secretValues(env) });
  const found = findingsFrom(trials, { style, command, headlessFlags }).map((finding) => ({
    ...finding,
    message: redact(finding.message),
  }));
  return {
    ok: found.every(({ status }) => status !== "problem"),
    command,
    style,
    findings: found,
    runs: Object.entries(trials).map(([name, end]) => ({
      name: name as keyof Trials,
      exitCode: end.exitCode,
      signal: end.signal,
      ms: end.durationMs,
      stdoutBytes: end.stdout.length,
      stderr: redactedStart(end.stderr, 2000, redact),
    })),
  };
}

/** The same command at a terminal, through script(1). Undefined on systems where script(1) is not known to exist. */
function atTerminal(words: readonly string[]): string[] | undefined {
  if (process.platform === "linux") return ["script", "-qefc", words.map(quoteForShell).join(" "), "/dev/null"];
  return process.platform === "darwin" ? ["script", "-q", "/dev/null", ...words] : undefined;
}

function quoteForShell(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
