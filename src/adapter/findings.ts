// Evaluates the trial runs of a CLI: a list of findings, each with a remedy if something is wrong.

import { isObject, tryParse } from "../json/object.ts";
import type { ProgramEnd } from "../process/run-program.ts";
import { FrameParser } from "../protocol/frames.ts";
import { supportedVersions } from "../protocol/turn-contract.ts";
import { redactedStart } from "../redact/shorten.ts";
import { codeOfWords, refusedFlag } from "./failure.ts";

export type Finding = {
  check: string;
  status: "ok" | "warning" | "problem" | "skipped";
  message: string;
  /** What the user can do about it. */
  remedy?: string;
};

/** The results of trial runs: in `pipe` stdin ends after the turn, in `open` it stays open, `terminal` is one. */
export type Trials = { pipe: ProgramEnd; open?: ProgramEnd; terminal?: ProgramEnd };

type DoctorCase = { style: "argument" | "stdin"; command: readonly string[]; headlessFlags: readonly string[] };

export function findingsFrom(trials: Trials, doctorCase: DoctorCase): Finding[] {
  const { pipe } = trials;
  if (pipe.failure)
    return [
      failedCheck("program", pipe.failure.message, "Give the full path of the CLI, or add its directory to PATH."),
    ];
  const output = summariseOutput(pipe);
  return [
    passedCheck("program", `${doctorCase.command[0]} starts.`),
    exitFinding(pipe, output, doctorCase),
    ...stderrFinding(pipe),
    ...outputFindings(pipe, output, doctorCase),
    ...(trials.open ? [openFinding(trials.open, output)] : []),
    terminalFinding(trials, output),
  ];
}

type OutputSummary = {
  /** The types of its frames, in order. */
  types: string[];
  version?: unknown;
  text: string;
  fault?: { code: string; message: string };
  /** The type of the frame that ended the turn, or "exit". */
  end?: string;
  failure?: { code: string; message: string };
  isBlank: boolean;
};

function summariseOutput({ stdout, exitCode, signal }: ProgramEnd): OutputSummary {
  const parser = new FrameParser({ framing: "auto" });
  const frames = parser.push(stdout);
  const ending = parser.end({ exit: exitCode, signal: signal || null });
  const all = [...frames, ...ending.frames];
  const texts = all.map(({ type, value }) => {
    if (type === "assistant_delta") return String((value.data as { content: string }).content);
    if (type !== "assistant") return "";
    return (value.message as { content: { text?: string }[] }).content.map(({ text = "" }) => text).join("");
  });
  const terminal = parser.terminal;
  const data = terminal?.value.data as { code?: string; message?: string } | undefined;
  const isError = terminal?.type === "error" || terminal?.value.is_error === true;
  const message = data?.message ?? String(terminal?.value.result ?? "");
  const isOwnEnd = ending.error && /^(CLI_EXIT|NO_OUTPUT|CLI_TIMEOUT)$/.test(ending.error.code);
  return {
    types: all.map(({ type }) => type),
    version: versionIn(stdout),
    text: texts.join(""),
    ...(ending.error && !isOwnEnd && { fault: ending.error }),
    end: terminal?.type ?? (ending.outcome === "ok" ? "exit" : undefined),
    ...(isError && {
      failure: { code: data?.code ?? String(terminal?.value.error_code ?? codeOfWords(message) ?? ""), message },
    }),
    isBlank: stdout.toString("utf8").trim() === "",
  };
}

/** The handshake is not among the frames, so look for its line. */
function versionIn(stdout: Buffer): unknown {
  for (const line of stdout.toString("utf8").split("\n").slice(0, 20)) {
    const value = tryParse(line);
    if (isObject(value) && value.type === "protocol" && isObject(value.data)) return value.data.version;
  }
  return undefined;
}

function exitFinding(
  { exitCode, signal, timedOut, durationMs }: ProgramEnd,
  output: OutputSummary,
  { style }: DoctorCase,
): Finding {
  const check = "exit code";
  if (timedOut && output.end)
    return warning(
      check,
      "It answers, but does not exit.",
      "It is killed after its result, which delays every turn: make it exit.",
    );
  if (timedOut)
    return failedCheck(
      check,
      `It did not exit within ${durationMs} ms.`,
      "It may be waiting for something that never comes: a key press, a login, an answer to a question. Run it by hand, without a terminal.",
    );
  if (signal !== "")
    return failedCheck(
      check,
      `It was killed by ${signal}.`,
      "It crashed, or something on this machine killed it: check stderr.",
    );
  if (exitCode === 0) return passedCheck(check, "It exits with code 0.");
  if (output.end !== undefined && output.end !== "exit")
    return warning(check, `It exits with code ${exitCode} after its result; the result counts.`);
  const why =
    style === "stdin"
      ? "Either it does not work without a terminal, or it fails before it reads stdin: a missing variable, the wrong directory, or a wrapper that does not pass stdin on."
      : "It may not work without a terminal, or may be missing a variable or a login.";
  return failedCheck(
    check,
    `It exits with code ${exitCode}${output.isBlank ? " and prints nothing on stdout" : ""}.`,
    output.isBlank ? `${why} It inherits the environment of this shell.` : "Check its stderr.",
  );
}

const logIn = "Log in with the CLI, or set its key in the environment or in a profile.";

function stderrFinding({ stderr, exitCode }: ProgramEnd): Finding[] {
  const text = stderr.trim();
  if (text === "") return exitCode === 0 ? [] : [warning("stderr", "It prints nothing on stderr either.")];
  const finding = warning(
    "stderr",
    `It says: ${redactedStart(text, 400)}`,
    codeOfWords(text) === "MODEL_AUTH_ERROR" ? logIn : undefined,
  );
  return [exitCode === 0 ? { ...finding, status: "ok" } : finding];
}

function outputFindings(pipe: ProgramEnd, output: OutputSummary, doctorCase: DoctorCase): Finding[] {
  const flag = doctorCase.style === "argument" ? refusedFlag(pipe.stderr, doctorCase.headlessFlags) : undefined;
  if (flag !== undefined)
    return [
      failedCheck(
        "headless flags",
        `It does not take ${flag}.`,
        'Set "headlessFlags" of the model to what it takes ([] for none).',
      ),
    ];
  if (output.isBlank) {
    const how =
      doctorCase.style === "argument"
        ? "--output-format stream-json"
        : "the flag that makes it write one JSON object per line";
    return [
      failedCheck("output", "Nothing is printed on stdout.", `It must write its events there. Is ${how} missing?`),
    ];
  }
  if (output.fault) {
    const isVersion = output.fault.code === "FRAME_VERSION";
    const remedy = isVersion
      ? `Supported: ${supportedVersions.join(", ")}. Update the CLI, or make it omit the protocol line.`
      : "Stdout must contain only frames: notes and progress belong on stderr.";
    return [failedCheck(isVersion ? "version" : "frames", `${output.fault.message} [${output.fault.code}]`, remedy)];
  }
  const counts = new Map<string, number>();
  for (const type of output.types) counts.set(type, (counts.get(type) ?? 0) + 1);
  const list = [...counts].map(([type, count]) => (count === 1 ? type : `${count} ${type}`)).join(", ");
  return [
    passedCheck("frames", `It says: ${list}.`),
    passedCheck(
      "version",
      output.version === undefined
        ? "It reports no version, which is fine."
        : `It speaks version ${String(output.version)}.`,
    ),
    endFinding(output),
  ];
}

function endFinding({ end, failure, text }: OutputSummary): Finding {
  const check = "end of stream";
  if (failure) {
    const isAuth =
      codeOfWords(`${failure.code} ${failure.message}`) === "MODEL_AUTH_ERROR" || /AUTH/.test(failure.code);
    const code = failure.code ? ` [${failure.code}]` : "";
    const message = `The turn ends in an error: ${redactedStart(failure.message, 400)}${code}`;
    return failedCheck(check, message, isAuth ? logIn : "Fix what it reports, and try again.");
  }
  if (end === undefined)
    return failedCheck(
      check,
      "The turn never ends.",
      "It must write done or result, or exit with code 0 after an answer.",
    );
  const what = end === "exit" ? "exit code 0 after an answer, without done or result" : end;
  if (text === "") return warning(check, `The turn ends with ${what}, but there was no text.`);
  return passedCheck(check, `The turn ends with ${what}; the answer begins: ${redactedStart(text, 60)}`);
}

function openFinding(open: ProgramEnd, inPipe: OutputSummary): Finding {
  const check = "open stdin";
  const output = summariseOutput(open);
  if (output.end) return passedCheck(check, "It answers while its stdin stays open, so it can be told to cancel.");
  if (!inPipe.end) return { check, status: "skipped", message: "It does not answer with a closed stdin either." };
  return warning(
    check,
    "It answers only after its stdin is closed.",
    'It waits in every turn until its stdin is closed ("closeStdinAfterMs", 2000 unless set), and cannot be cancelled: make it read a single line.',
  );
}

function terminalFinding({ pipe, terminal }: Trials, inPipe: OutputSummary): Finding {
  const check = "terminal";
  if (!terminal || terminal.failure)
    return { check, status: "skipped", message: "It could not be run in a terminal here: script(1) is missing." };
  if (!inPipe.isBlank) return passedCheck(check, "It needs none.");
  // At a terminal, stdout and stderr cannot be told apart.
  if (pipe.stderr.trim() !== "") return { check, status: "skipped", message: "Fix what it says on stderr first." };
  if (terminal.stdout.toString("utf8").trim() !== "")
    return failedCheck(
      check,
      "It writes to a terminal, but nothing to a pipe.",
      "It must work without a terminal: look for a headless or print mode.",
    );
  return failedCheck(
    check,
    "It prints nothing in a terminal either.",
    "It may be missing configuration or variables: run it by hand in this shell.",
  );
}

function passedCheck(check: string, message: string): Finding {
  return { check, status: "ok", message };
}

function warning(check: string, message: string, remedy?: string): Finding {
  return { check, status: "warning", message, ...(remedy !== undefined && { remedy }) };
}

function failedCheck(check: string, message: string, remedy: string): Finding {
  return { check, status: "problem", message, remedy };
}
