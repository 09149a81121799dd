// What is wrong with a CLI that is to answer behind the turn contract: it is run as the adapter would, and looked at.
import { type ProgramRequest, runProgram } from "../process/run-program.ts";
import { createRedactor } from "../redact/redact.ts";
import { secretValues } from "../redact/secret-names.ts";
import { redactedStart } from "../redact/shorten.ts";
import { cliInput } from "./cli-input.ts";
import { type Finding, findings, type Trials } from "./findings.ts";

type DoctorRequest = {
  /** The CLI with its arguments, without a prompt. */
  command: readonly string[];
  /** How it gets a turn; without it, by `-p` or `--print` among its arguments. */
  style?: "argument" | "stdin";
  /** Put before a prompt that is an argument. */
  headlessFlags?: readonly string[];
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** For each of its runs; default 30 s. */
  timeoutMs?: number;
  signal?: AbortSignal;
};

export type DoctorReport = {
  ok: boolean;
  command: readonly string[];
  style: "argument" | "stdin";
  findings: Finding[];
  /** How each run of it went. */
  runs: {
    name: keyof Trials;
    exitCode: number | null;
    signal: string;
    ms: number;
    stdoutBytes: number;
    stderr: string;
  }[];
};

/** The least that is a turn. */
const minimalTurn = {
  type: "turn" as const,
  turnId: "t1",
  messages: [{ role: "user", content: "hi" }],
  tools: [],
};

const usualTimeoutMs = 30_000;
/** A whole stream must be kept to be judged. */
const keepBytes = 2 ** 26;
/** How long a program that waits at a terminal is watched. */
const terminalMs = 4000;

export async function examine(request: DoctorRequest): Promise<DoctorReport> {
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
      // What answers at all has had time to; what waits for the end of its input never does.
      const limit = Math.min(timeoutMs, trials.pipe.timedOut ? 3000 : 3 * trials.pipe.durationMs + 3000);
      trials.open = await run({ input: line, keepOpen: true, timeoutMs: limit });
    }
    const terminal = atTerminal(words);
    const limit = Math.min(timeoutMs, terminalMs);
    if (terminal) trials.terminal = await run({ command: terminal, input: "", keepOpen: true, timeoutMs: limit });
  }
  const { redact } = createRedactor({ values: secretValues(env) });
  const found = findings(trials, { style, command, headlessFlags }).map((finding) => ({
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

/** The same at a terminal, by way of script(1). Undefined where that is not known to be there. */
function atTerminal(words: readonly string[]): string[] | undefined {
  if (process.platform === "linux") return ["script", "-qefc", words.map(quoted).join(" "), "/dev/null"];
  return process.platform === "darwin" ? ["script", "-q", "/dev/null", ...words] : undefined;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
