// The observable rules of the protocol: one row each, with the statement that it checks.
import { isObject } from "../../json/object.ts";
import { harborRules } from "./harbor.ts";
import { type Line, noteWord, prompt, sessionId, type Trial, type TrialName, type Trials } from "./trials.ts";

/** The result of a rule: undefined if it holds, otherwise what was observed, or in `skip` why it was not checked. */
export type Fault = string | { skip: string } | undefined;

export type Rule = {
  id: string;
  /** What a program that uses the CLI can rely on. */
  statement: string;
  trial: TrialName;
  check(trial: Trial, trials: Trials): Fault | Promise<Fault>;
};

const typeOf = ({ value }: Line) => [value?.["type"], value?.["subtype"]].filter(Boolean).join("/");
const quoteLine = ({ number, text }: Line) => `line ${number}: ${text.length > 200 ? `${text.slice(0, 200)}…` : text}`;
const of = ({ lines }: Trial, type: string) => lines.filter((line) => typeOf(line).startsWith(type));
const results = (trial: Trial) => of(trial, "result");
const ended = ({ exit, signal }: Trial) => (signal ? `killed by ${signal}` : `exit code ${exit}`);
const howItEnded = (trial: Trial) => `${ended(trial)}; stderr: ${trial.stderr.trim().slice(0, 200) || "empty"}`;

const assistantText = ({ value }: Line): string => {
  const message = value?.["message"];
  const content = isObject(message) && Array.isArray(message["content"]) ? message["content"] : [];
  return content.map((part) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : "")).join("");
};

/** Checks a run that must fail: by its exit code, and without a successful result line. */
function checkFailure(trial: Trial): Fault {
  if (trial.timedOut) return "it did not exit";
  const good = results(trial).find(({ value }) => value?.["is_error"] === false);
  if (good) return quoteLine(good);
  return trial.exit === 0 ? howItEnded(trial) : undefined;
}

function endsBySignal(trial: Trial, code: number): Fault {
  if (!trial.wasSignalled) return { skip: "no call had started before it ended, so no signal was sent" };
  if (trial.timedOut || trial.endMs > 15_000) return `it still ran ${Math.round(trial.endMs)} ms after the signal`;
  const good = results(trial).find(({ value }) => value?.["is_error"] === false);
  if (good) return quoteLine(good);
  if (results(trial).length > 1) return `${results(trial).length} results`;
  return trial.exit === code || trial.signal !== "" ? undefined : ended(trial);
}

function toolKeys(line: Line): string[] {
  const call = line.value?.["tool_call"];
  return isObject(call) ? Object.keys(call).filter((key) => key.endsWith("ToolCall")) : [];
}

function outcomeFault(line: Line): Fault {
  const keys = toolKeys(line);
  if (keys.length !== 1) return quoteLine(line);
  const call = (line.value!["tool_call"] as Record<string, unknown>)[keys[0]!];
  if (!isObject(call) || !isObject(call["args"])) return quoteLine(line);
  if (line.value!["subtype"] !== "completed") return undefined;
  return isObject(call["result"]) && Object.keys(call["result"]).length > 0 ? undefined : quoteLine(line);
}

export const rules: readonly Rule[] = [
  {
    id: "stream.starts",
    statement: "The program starts, and accepts -p --force --output-format stream-json and a prompt.",
    trial: "stream",
    check: (trial) => (trial.lines.length === 0 ? `nothing on stdout; ${howItEnded(trial)}` : undefined),
  },
  {
    id: "stream.ends",
    statement: "A run ends by itself once its work is done.",
    trial: "stream",
    check: (trial) =>
      trial.timedOut ? `it was still running after ${Math.round(trial.endMs / 1000)} s, and was stopped` : undefined,
  },
  {
    id: "stream.lines",
    statement: "stdout contains only JSON objects, one per line, and every line is complete.",
    trial: "stream",
    check({ lines, stdout }) {
      const wrong = lines.find(({ value }) => value === undefined);
      if (wrong) return quoteLine(wrong);
      const windows = lines.find(({ text }) => text.endsWith("\r"));
      if (windows) return `line ${windows.number} ends with \\r\\n, not with \\n`;
      return stdout === "" || stdout.endsWith("\n") ? undefined : "the last line does not end with a newline";
    },
  },
  {
    id: "stream.init",
    statement: "The first line is system/init with session_id, cwd, model, permissionMode and apiKeySource.",
    trial: "stream",
    check({ lines: [first] }) {
      if (!first || typeOf(first) !== "system/init") return first ? quoteLine(first) : "no line";
      const keys = ["session_id", "cwd", "model", "permissionMode", "apiKeySource"];
      const missing = keys.filter((key) => typeof first.value![key] !== "string");
      return missing.length === 0 ? undefined : `without ${missing.join(", ")}: ${quoteLine(first)}`;
    },
  },
  {
    id: "stream.prompt",
    statement: "The prompt is echoed as a user line before any answer, within three seconds of the first line.",
    trial: "stream",
    check({ lines }) {
      const at = lines.findIndex((line) => typeOf(line) === "user");
      if (at < 0 || assistantText(lines[at]!) !== prompt) return at < 0 ? "no user line" : quoteLine(lines[at]!);
      const early = lines.slice(0, at).find((line) => /^(assistant|tool_call|result)/.test(typeOf(line)));
      if (early) return quoteLine(early);
      const waited = Math.round(lines[at]!.atMs - lines[0]!.atMs);
      return waited > 3000 ? `it came ${waited} ms after the first line` : undefined;
    },
  },
  {
    id: "stream.session",
    statement: "Every line carries the session_id of the first.",
    trial: "stream",
    check(trial) {
      const id = sessionId(trial);
      const other = trial.lines.find(({ value }) => value && value["session_id"] !== id);
      return other && quoteLine(other);
    },
  },
  {
    id: "stream.one-result",
    statement: "There is exactly one result, and it is the last line.",
    trial: "stream",
    check(trial) {
      const all = results(trial);
      if (all.length !== 1) return `${all.length} results; ${howItEnded(trial)}`;
      return trial.lines.at(-1) === all[0] ? undefined : quoteLine(trial.lines.at(-1)!);
    },
  },
  {
    id: "stream.result-fields",
    statement: "A success has is_error false, the durations as numbers, and the answer as text.",
    trial: "stream",
    check(trial) {
      const [result] = results(trial);
      if (!result) return "no result";
      const { subtype, is_error: isError, duration_ms: ms, duration_api_ms: apiMs, result: text } = result.value!;
      const isRight =
        subtype === "success" &&
        isError === false &&
        typeof ms === "number" &&
        typeof apiMs === "number" &&
        typeof text === "string";
      return isRight ? undefined : quoteLine(result);
    },
  },
  {
    id: "stream.exit",
    statement: "The exit code is 0 if and only if the result is a success.",
    trial: "stream",
    check(trial) {
      const good = results(trial).some(({ value }) => value?.["is_error"] === false);
      return good === (trial.exit === 0) ? undefined : `${good ? "a success" : "no success"}, and ${howItEnded(trial)}`;
    },
  },
  {
    id: "stream.text",
    statement: "The text of the assistant lines, joined, is the text of the result.",
    trial: "stream",
    check(trial) {
      const [result] = results(trial);
      if (!result) return "no result";
      const spoken = of(trial, "assistant").map(assistantText).join("");
      const text = String(result.value!["result"]);
      return spoken === text ? undefined : `said ${JSON.stringify(spoken)}, result ${JSON.stringify(text)}`;
    },
  },
  {
    id: "stream.pairs",
    statement:
      "Every call that starts is completed exactly once, later, with the same call_id and tool; no call is completed that did not start.",
    trial: "stream",
    check(trial) {
      const open = new Map<unknown, string>();
      for (const line of of(trial, "tool_call")) {
        const id = line.value!["call_id"];
        const tool = toolKeys(line).join();
        const isStart = line.value!["subtype"] === "started";
        if (isStart ? open.has(id) : open.get(id) !== tool) return quoteLine(line);
        if (isStart) open.set(id, tool);
        else open.delete(id);
      }
      return open.size === 0 ? undefined : `never completed: ${[...open.keys()].join(", ")}`;
    },
  },
  {
    id: "stream.tools",
    statement: "A tool_call contains one <name>ToolCall with args; when completed, it has a result.",
    trial: "stream",
    check: (trial) =>
      of(trial, "tool_call")
        .map(outcomeFault)
        .find((fault) => fault !== undefined),
  },
  {
    id: "stream.works",
    statement: "With --force, the agent reads a file in its workspace when asked to.",
    trial: "stream",
    check: (trial) =>
      trial.stdout.includes(noteWord)
        ? undefined
        : `the word in note.txt does not appear in the output; ${howItEnded(trial)}`,
  },
  {
    id: "stream.stderr",
    statement: "A success leaves stderr empty.",
    trial: "stream",
    check: ({ exit, stderr }) => (exit === 0 && stderr.trim() !== "" ? stderr.trim().slice(0, 300) : undefined),
  },
  {
    id: "partial.deltas",
    statement:
      "With --stream-partial-output, lines with timestamp_ms and without model_call_id are deltas: joined, they are the text of the result.",
    trial: "partial",
    check(trial) {
      const [result] = results(trial);
      if (!result) return "no result";
      const deltas = of(trial, "assistant").filter(
        ({ value }) => value!["timestamp_ms"] !== undefined && value!["model_call_id"] === undefined,
      );
      const text = String(result.value!["result"]);
      if (deltas.length === 0 && text !== "") return "no deltas";
      const joined = deltas.map(assistantText).join("");
      return joined === text ? undefined : `deltas ${JSON.stringify(joined)}, result ${JSON.stringify(text)}`;
    },
  },
  {
    id: "json.one-object",
    statement: "--output-format json writes only the result, as one object.",
    trial: "json",
    check(trial) {
      const isOne = trial.lines.length === 1 && typeOf(trial.lines[0]!).startsWith("result/");
      return isOne ? undefined : `${trial.lines.length} lines; ${howItEnded(trial)}`;
    },
  },
  {
    id: "text.answer",
    statement: "--output-format text writes the answer, and nothing of the protocol.",
    trial: "text",
    check(trial) {
      if (trial.exit !== 0 || trial.stdout.trim() === "") return howItEnded(trial);
      const line = trial.lines.find(({ value }) => value?.["type"] !== undefined);
      return line && quoteLine(line);
    },
  },
  {
    id: "resume.session",
    statement: "--resume <id> continues the session: its lines carry that id.",
    trial: "resume",
    async check(trial, trials) {
      const id = sessionId(await trials.get("stream"));
      if (trial.exit !== 0) return howItEnded(trial);
      return sessionId(trial) === id ? undefined : `${sessionId(trial)}, not ${id}`;
    },
  },
  {
    id: "resume.unknown",
    statement: "Resuming an unknown session is an error, and no session is created.",
    trial: "unknownSession",
    check: checkFailure,
  },
  {
    id: "stdin.prompt",
    statement: "Without a prompt argument, the prompt is read from stdin.",
    trial: "stdin",
    check(trial) {
      const user = of(trial, "user")[0];
      if (trial.exit !== 0 || !user) return howItEnded(trial);
      return assistantText(user).trim() === prompt ? undefined : quoteLine(user);
    },
  },
  {
    id: "stdin.open",
    statement: "With a prompt argument, a stdin that stays open does not delay the run.",
    trial: "openStdin",
    check: (trial) => (trial.timedOut ? "it did not exit" : trial.exit === 0 ? undefined : howItEnded(trial)),
  },
  {
    id: "stdin.none",
    statement: "Without any prompt, the run fails and exits.",
    trial: "noPrompt",
    check: checkFailure,
  },
  {
    id: "flags.version",
    statement: "--version prints a version and exits with 0.",
    trial: "version",
    check: (trial) => (trial.exit === 0 && /\d/.test(trial.stdout) ? undefined : howItEnded(trial)),
  },
  {
    id: "flags.help",
    statement: "--help names --output-format and --resume, and exits with 0.",
    trial: "help",
    check: (trial) =>
      trial.exit === 0 && /--output-format/.test(trial.stdout) && /--resume/.test(trial.stdout)
        ? undefined
        : howItEnded(trial),
  },
  { id: "flags.unknown", statement: "An unknown flag is an error.", trial: "unknownFlag", check: checkFailure },
  {
    id: "flags.format",
    statement: "An unknown output format is an error.",
    trial: "unknownFormat",
    check: checkFailure,
  },
  {
    id: "trust.gate",
    statement: "In an untrusted directory, a run without --force writes nothing to stdout and exits with 1.",
    trial: "untrusted",
    check: (trial) =>
      trial.stdout === "" && trial.exit === 1 ? undefined : `${trial.stdout.slice(0, 200)}; ${howItEnded(trial)}`,
  },
  {
    id: "live.calls",
    statement: "Lines are written as things happen: that a call started can be read while the call runs.",
    trial: "interrupted",
    check(trial) {
      if (trial.wasSignalled) return undefined;
      const started = trial.lines.find((line) => typeOf(line) === "tool_call/started");
      if (!started) return { skip: `it called no tool; ${howItEnded(trial)}` };
      const seconds = Math.round(trial.endMs / 1000);
      if (seconds < 15) return { skip: `the call should take 20 s, and the run ended after ${seconds} s` };
      return `the start of the call was written only when the run ended, after ${seconds} s`;
    },
  },
  {
    id: "signals.int",
    statement: "SIGINT ends a run within seconds: exit code 130, at most one result, and no success.",
    trial: "interrupted",
    check: (trial) => endsBySignal(trial, 130),
  },
  {
    id: "signals.term",
    statement: "SIGTERM ends a run within seconds: exit code 143, at most one result, and no success.",
    trial: "terminated",
    check: (trial) => endsBySignal(trial, 143),
  },
  ...harborRules,
];
