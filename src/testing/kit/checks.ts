// The checks that a test can make on a run. Each says whether it holds, and shows what there was instead.
import { isObject } from "../../json/object.ts";
import type { ErrorCode } from "../../protocol/error-codes.ts";
import { isEnding } from "../../protocol/run.ts";
import type { RunEvent } from "../../sdk/run-event.ts";
import { unifiedToolName } from "../../sdk/tool-names.ts";
import { firstLines } from "../../text/first-of.ts";
import type { AgentRun } from "./agent.ts";
import type { Change, ChangedFile } from "./changes.ts";
import { isMatch, shown } from "./match.ts";
import { type CliRun, questionsIn, type ToolUse, toolCallsIn } from "./run-cli.ts";
import { type ModelRequest, offeredName } from "./wires/asked.ts";

/** A run of `runCli` or of an agent, events from elsewhere (the SDK's, a stored stream), or a request that an agent made. */
export type CheckedRun = CliRun | AgentRun | readonly RunEvent[] | ModelRequest;

/** The result of a check. `sentence` continues "Expected the run to" or "not to"; `actual` contains lines of text. */
export type Finding = { pass: boolean; sentence: string; actual: readonly string[] };

type Subject = Pick<CliRun, "events" | "result" | "toolCalls" | "questions"> &
  Partial<CliRun> & { requests?: readonly ModelRequest[] };

type Check<Given extends unknown[]> = (run: Subject, ...given: Given) => Finding;

const checks = {
  /** The run ended by itself with a success result and, if known, exit code 0. */
  toHaveSucceeded(run) {
    const pass = run.result?.type === "done" && (run.exitCode === undefined || run.exitCode === 0) && !run.timedOut;
    return { pass, sentence: "have succeeded", actual: describeEnding(run) };
  },

  /** Checks that the run failed; `code` is the error code it must have. */
  toHaveFailed(run, code?: ErrorCode | (string & {})) {
    const failed = run.result?.type === "fail" || (run.exitCode !== undefined && run.exitCode !== 0);
    const said = run.result?.type === "fail" ? run.result.code : /\[([A-Z_]+)\]\s*$/.exec(run.stderr ?? "")?.[1];
    const pass = failed && (code === undefined || said === code);
    return { pass, sentence: `have failed${code === undefined ? "" : ` with ${code}`}`, actual: describeEnding(run) };
  },

  /** Checks the final answer; `text` is a part of it, or a pattern. */
  toHaveAnswered(run, text: string | RegExp) {
    const answer = run.result?.type === "done" ? run.result.text : undefined;
    const pass = answer !== undefined && contains(answer, text);
    return { pass, sentence: `have answered ${shown(text)}`, actual: describeEnding(run) };
  },

  /**
   * Checks that a tool was called. `name` may also be the model's name for it, such as `Shell`. `args` are some of the arguments: paths
   * may be relative to the run's folder, a pattern matches text, a function tests a value. `times` is the exact number of calls.
   */
  toHaveCalledTool(run, name: string, args?: unknown, { times, outcome }: { times?: number; outcome?: string } = {}) {
    const found = run.toolCalls.filter((call) => {
      const given = argumentsAs(name, call);
      const isMeant = given !== undefined && (args === undefined || isMatch(args, given.args, run.cwd));
      return isMeant && (outcome === undefined || call.outcome === outcome);
    });
    const pass = times === undefined ? found.length > 0 : found.length === times;
    const words = [
      `have called ${name}`,
      ...(args === undefined ? [] : [`with ${shown(args)}`]),
      ...(outcome === undefined ? [] : [`that ended in ${outcome}`]),
      ...(times === undefined ? [] : [times === 1 ? "once" : `${times} times`]),
    ];
    return { pass, sentence: words.join(" "), actual: listLines("It called", run.toolCalls.map(callLine)) };
  },

  /** Checks that tools were called in this order, with any other calls in between. */
  toHaveCalledInOrder(run, names: readonly string[]) {
    let next = 0;
    for (const call of run.toolCalls) if (next < names.length && argumentsAs(names[next]!, call)) next += 1;
    const actual = listLines("It called", run.toolCalls.map(callLine));
    return { pass: next === names.length, sentence: `have called ${names.join(", then ")}`, actual };
  },

  /** The model was offered the tool, in this request or in any of the run. */
  toHaveTool(run, name: string) {
    if (!run.requests) throw new TypeError("toHaveTool needs a run of agent(), or one of its requests.");
    const names = [...new Set(run.requests.flatMap(({ tools }) => tools.map((each) => each.name)))];
    return {
      pass: offeredName(name, names) !== undefined,
      sentence: `have the tool ${name}`,
      actual: listLines("It had", names),
    };
  },

  /** Exactly these files: names, or names with the kind of change. Without any: at least one file. */
  toHaveChangedFiles(run, files?: readonly string[] | Readonly<Record<string, Change>>) {
    if (!run.changedFiles) throw new TypeError("toHaveChangedFiles needs a run of runCli(): events do not tell it.");
    const changed = run.changedFiles;
    const actual = listLines("It changed", changed.map(changeLine));
    if (files === undefined) return { pass: changed.length > 0, sentence: "have changed files", actual };
    const wanted = Array.isArray(files)
      ? (files as readonly string[]).map((path) => ({ path, change: undefined }))
      : Object.entries(files as Record<string, Change>).map(([path, change]) => ({ path, change }));
    const fits = ({ path, change }: ChangedFile) =>
      wanted.some((each) => each.path === path && (each.change ?? change) === change);
    const pass = changed.length === wanted.length && changed.every(fits);
    const names = wanted.map(({ path, change }) => (change ? `${path} (${change})` : path));
    return { pass, sentence: `have changed ${names.join(", ") || "no files"}`, actual };
  },

  /** The run asked a person, answered or not. `text` occurs in the question. */
  toHaveAsked(run, text?: string | RegExp) {
    const pass = run.questions.some((question) => text === undefined || contains(question.text, text));
    const asked = run.questions.map(({ kind, text }) => `${kind}: ${text}`);
    return {
      pass,
      sentence: text === undefined ? "have asked" : `have asked ${shown(text)}`,
      actual: listLines("It asked", asked),
    };
  },

  /** A call was refused. `tool` is its name. `why` occurs in the reason or the rule. */
  toHaveBeenDenied(run, tool?: string, why?: string | RegExp) {
    const denials = denialsOf(run);
    const pass = denials.some(
      ({ name, tool: cliName, reason, rule = "" }) =>
        (tool === undefined || tool === cliName || name === unifiedToolName("cursor", tool)) &&
        (why === undefined || contains(reason, why) || contains(rule, why)),
    );
    const words = ["have been denied", ...(tool ? [tool] : []), ...(why ? [`because of ${shown(why)}`] : [])];
    const lines = denials.map(({ name, reason }) => `${name}: ${reason}`);
    return { pass, sentence: words.join(" "), actual: listLines("It was denied", lines) };
  },
} satisfies Record<string, Check<never[]>>;

export type Checks = typeof checks;
export type CheckName = keyof Checks;
/** The arguments of a check, besides the run. */
export type Given<Name extends CheckName> = Checks[Name] extends (run: Subject, ...given: infer Args) => Finding
  ? Args
  : never;

export const checkNames = Object.keys(checks) as CheckName[];

export function check(name: CheckName, received: unknown, given: readonly unknown[]): Finding {
  const run = subjectOf(received);
  if (!run)
    throw new TypeError(
      `${name} needs what runCli() or agent() gave, or a list of events; it was given ${shown(received)}.`,
    );
  const finding = (checks[name] as (run: Subject, ...given: readonly unknown[]) => Finding)(run, ...given);
  // Add how the run ended, which helps to find the cause.
  const isTold = isRequest(received) || run.result?.type === "done" || finding.actual.includes(describeEnding(run)[0]!);
  return isTold ? finding : { ...finding, actual: [...finding.actual, ...describeEnding(run)] };
}

export function failureMessage({ sentence, actual }: Finding, isNot: boolean): string {
  return [`Expected the run ${isNot ? "not " : ""}to ${sentence}.`, ...actual].join("\n");
}

function isRequest(received: unknown): received is ModelRequest {
  return isObject(received) && Array.isArray(received["tools"]) && Array.isArray(received["messages"]);
}

function subjectOf(received: unknown): Subject | undefined {
  if (isRequest(received)) return { events: [], result: undefined, toolCalls: [], questions: [], requests: [received] };
  if (Array.isArray(received)) {
    const events = received as RunEvent[];
    const result = events.findLast(isEnding) as CliRun["result"];
    return { events, result, toolCalls: toolCallsIn(events), questions: questionsIn(events) };
  }
  const isRun = typeof received === "object" && received !== null && "events" in received && "toolCalls" in received;
  return isRun ? (received as CliRun) : undefined;
}

type NamedDenial = { name: string; tool: string; reason: string; rule?: string };

function denialsOf({ denials, result }: Subject): readonly NamedDenial[] {
  const deniedCalls = result?.denials ?? [];
  return denials ?? deniedCalls.map((denial) => ({ ...denial, name: unifiedToolName("cursor", denial.tool) }));
}

/** Returns the arguments if the call is of the tool with this name. */
function argumentsAs(name: string, call: ToolUse): { args: unknown } | undefined {
  const ofServer = serverCall(call);
  if (ofServer?.names.includes(name)) return ofServer;
  return call.cliName === name || call.name === unifiedToolName("cursor", name) ? call : undefined;
}

/** A call of a server's tool, whose arguments are within those of the call. Its names: `server-tool` and `mcp__server__tool`. */
function serverCall({ args }: ToolUse): { names: string[]; args: unknown } | undefined {
  if (!isObject(args) || typeof args["toolName"] !== "string" || typeof args["name"] !== "string") return undefined;
  return {
    names: [args["name"], `mcp__${String(args["providerIdentifier"])}__${args["toolName"]}`],
    args: args["args"],
  };
}

function contains(text: string, part: string | RegExp): boolean {
  return typeof part === "string" ? text.includes(part) : part.test(text);
}

function describeEnding(run: Subject): string[] {
  const { result, exitCode, signal, timedOut, stderr, stdout } = run;
  const lines: string[] = [];
  if (result?.type === "done") lines.push(`It answered ${shown(result.text)}.`);
  else if (result) lines.push(`It failed${result.code ? ` with ${result.code}` : ""}: ${result.message}`);
  else if (exitCode === 0 && stdout !== undefined && run.events.length === 0)
    lines.push("It said no result, which only --output-format json and stream-json do.");
  else lines.push("It ended without a result.");
  if (timedOut) lines.push("It took too long and was stopped.");
  else if (exitCode === null) lines.push(`It was ended by ${signal}.`);
  else if (exitCode !== undefined) lines.push(`Its exit code was ${exitCode}.`);
  for (const [name, text] of Object.entries({ stderr, ...(!result && { stdout }) }))
    if (text?.trim()) lines.push(`${name}: ${ends(text.trim())}`);
  return lines;
}

/** Shortens a long text from the beginning, since its end is the most useful part. */
function ends(text: string): string {
  return text.length > 600 ? `…${text.slice(-600)}` : text;
}

function listLines(words: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [`${words} nothing.`.replace("It was denied nothing.", "Nothing was denied.")];
  return [`${words}:`, ...firstLines(lines, 20)];
}

function callLine(call: ToolUse): string {
  const { names, args } = serverCall(call) ?? { names: [call.name], args: call.args };
  return `${call.name === "Mcp" ? names[0] : call.name} ${shown(args)} → ${call.outcome ?? "no end"}`;
}

function changeLine({ path, change }: ChangedFile): string {
  return `${path} (${change})`;
}
