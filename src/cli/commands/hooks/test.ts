// `hooks test`: runs the hooks of an event on a payload for real, and shows each answer and its effect on a run.
import { readFileSync } from "node:fs";
import { strictestVerdict } from "../../../agent/hooks/answer.ts";
import { createHooks, type HookAnswer, toolNames } from "../../../agent/hooks/index.ts";
import { createProcessRunner, type ProcessEnd, type ProcessRunner } from "../../../agent/process.ts";
import { isObject, type JsonObject, tryParse } from "../../../json/object.ts";
import { UserError, usageError } from "../../../protocol/error-codes.ts";
import { type HookEffect, type HookEventName, hookEvents, isHookEvent } from "../../../protocol/hook-events.ts";
import { type Hook, repeatedBy } from "../../../store/hook-files.ts";
import type { HookTraceLine } from "../../../store/hook-trace.ts";
import { didYouMean } from "../../../text/nearest.ts";
import { systemErrorText } from "../../../text/system-error.ts";
import { visible } from "../../../text/visible.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { type FoundFile, findHooks, type HookState } from "./all-hooks.ts";
import { type HooksContext, hooksContext, onlyWord, shownFile } from "./context.ts";
import { sampleOf } from "./samples.ts";
import { shortenForTrace } from "./trace.ts";

/** The result of one hook. Without `line` it was not run, and `why` gives the reason. */
type TriedHook = {
  hook: Hook;
  why?: string;
  line?: HookTraceLine;
  end?: ProcessEnd;
  answer: HookAnswer;
  warnings: string[];
};

export async function testHooks(invocation: Invocation, words: readonly string[]): Promise<number> {
  const event = parseEventName(onlyWord(words, "test")!);
  const context = hooksContext(invocation);
  const { flags } = invocation.line;
  const host = flagText(flags, "host") ?? "courser";
  const payloadText = flagText(flags, "payload");
  const fields = payloadText === undefined ? sampleOf(event, context.workspace) : payloadIn(payloadText);
  const files = findHooks(context).filter((file) =>
    host === "courser" ? !file.state.endsWith(" only") : file.host === host,
  );
  const problem = files.find((file) => file.problem !== undefined)?.problem;
  if (problem !== undefined) throw new UserError("CONFIG_INVALID", problem);
  const tried = await tryAll(files, { event, fields, invocation, context });
  const outcome = answerEffect(event, mergeAnswers(tried.map((each) => each.answer)));
  const failed = tried.some(({ line }) => line?.answer === "failed");
  const sample = payloadText === undefined;
  const code = wantsJson(invocation)
    ? await answerJson({ event, host, sample, payload: fields, hooks: tried.map(jsonOf), outcome })
    : await answer(testText({ event, sample, fields, tried, outcome, context }));
  return code === 0 && failed ? 1 : code;
}

type TestContext = { event: HookEventName; fields: JsonObject; invocation: Invocation; context: HooksContext };

async function tryAll(files: readonly FoundFile[], setting: TestContext): Promise<TriedHook[]> {
  const { event, invocation, context } = setting;
  const processes = createProcessRunner({ env: invocation.env });
  const runsAll = invocation.line.flags.has("trust");
  const running = files.flatMap(({ state, hooks }) => (runsAll || whyNot[state] === undefined ? hooks : []));
  try {
    return await Promise.all(
      files.flatMap(({ state, hooks }) =>
        hooks
          .filter((hook) => hook.event === event)
          .map((hook) => {
            const instead = repeatedBy(hook, running);
            const why = instead
              ? `it runs once, from ${shownFile(instead.file, context)} ${instead.entry}`
              : runsAll
                ? undefined
                : whyNot[state];
            return why === undefined ? tryOne(hook, processes, setting) : { hook, why, answer: silent, warnings: [] };
          }),
      ),
    );
  } finally {
    await processes.endAll();
  }
}

const silent: HookAnswer = { reasons: [], messages: [], context: [] };

const whyNot: Record<HookState, string | undefined> = {
  runs: undefined,
  "codex only": undefined,
  "gemini only": undefined,
  "not approved": "it is new or has changed since it was approved (--trust runs it)",
  untrusted: "this workspace is not trusted (--trust runs it)",
};

async function tryOne(
  hook: Hook,
  processes: ProcessRunner,
  { event, fields, invocation, context }: TestContext,
): Promise<TriedHook> {
  const warnings: string[] = [];
  const tried: TriedHook = { hook, answer: silent, warnings };
  const listening: ProcessRunner = {
    ...processes,
    start(request) {
      const running = processes.start(request);
      running.ended.then((end) => (tried.end = end)).catch(() => {});
      return running;
    },
  };
  const { workspace, roots } = context;
  const hooks = createHooks({
    hooks: [hook],
    session: {
      sessionId: "00000000-0000-4000-8000-000000000000",
      model: "sample",
      version: invocation.version,
      workspace,
      roots: [...roots],
      transcriptPath: null,
      mode: "default",
    },
    processes: listening,
    env: invocation.env,
    warn: (message) => void warnings.push(message),
    trace: (line) => void (tried.line = line),
  });
  hooks.generationId = "00000000-0000-4000-8000-000000000001";
  tried.answer = await hooks.fire(event, fields, { signal: new AbortController().signal, ...payloadTool(fields) });
  if (!tried.line) tried.why = `its matcher ${hook.matcher ?? ""} does not match`;
  return tried;
}

/** Returns the tool under all of its names: a Claude payload says Bash where a Cursor payload says Shell. */
function payloadTool(fields: JsonObject): { tool?: string; names?: string[] } {
  const name = fields["tool_name"];
  if (typeof name !== "string") return {};
  const toolName = name === "Bash" ? "Shell" : name;
  return { tool: toolName, names: [...new Set([name, ...toolNames({ name: toolName }).names])] };
}

/** Finds an event by its own name or by Claude's. */
function parseEventName(word: string): HookEventName {
  const names = Object.keys(hookEvents).filter(isHookEvent);
  const lower = word.toLowerCase();
  const found = names.find((name) => name.toLowerCase() === lower || hookEvents[name].claude?.toLowerCase() === lower);
  if (found) return found;
  const hint = didYouMean(word, names, ` The events are ${names.join(", ")}.`);
  throw usageError(`unknown event '${word}'.${hint}`);
}

function payloadIn(file: string): JsonObject {
  let text: string;
  try {
    text = readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw new UserError("FILE_UNREADABLE", `The payload ${file} cannot be read: ${systemErrorText(error)}.`);
  }
  const value = tryParse(text);
  if (!isObject(value)) throw usageError(`The payload ${file} is not a JSON object.`);
  // The event was given on the command line, so ignore the one in the payload.
  const { hook_event_name: _name, ...fields } = value;
  return fields;
}

function mergeAnswers(answers: readonly HookAnswer[]): HookAnswer {
  const permission = strictestVerdict(answers.map((each) => each.permission));
  const deciding = answers.filter((each) => each.permission === permission);
  const updatedInput = answers.find((each) => each.updatedInput)?.updatedInput;
  const followup = answers.find((each) => each.followup !== undefined)?.followup;
  // Show identical messages of several hooks only once.
  const texts = (lists: readonly string[][]) => [...new Set(lists.flat())];
  return {
    ...(permission && { permission }),
    reasons: texts(deciding.map((each) => each.reasons)),
    messages: texts(answers.map((each) => each.messages)),
    context: texts(answers.map((each) => each.context)),
    ...(updatedInput && { updatedInput }),
    ...(followup !== undefined && { followup }),
  };
}

function jsonOf({ hook, why, line, end, warnings }: TriedHook): object {
  const { file, entry, level, command, prompt, matcher } = hook;
  return {
    level,
    file,
    entry,
    ...(command !== undefined && { command }),
    ...(prompt !== undefined && { prompt }),
    ...(matcher !== undefined && { matcher }),
    ...(why !== undefined && { skipped: why }),
    ...(line && { answer: line.answer, ms: line.ms, exit: line.exit, note: line.note }),
    ...(end && { stdout: end.stdout, stderr: end.stderr }),
    warnings,
  };
}

/** The combined effect that the answers of all hooks have on a run. */
type EffectText = { effect: string; happens: string } & Partial<HookAnswer>;

function answerEffect(event: HookEventName, answer: HookAnswer): EffectText {
  const { effect } = hookEvents[event];
  return { effect, happens: effects[effect](answer), ...answer };
}

const effects: Record<HookEffect, (answer: HookAnswer) => string> = {
  permit({ permission, reasons, updatedInput }) {
    const changed = updatedInput ? ` with other arguments: ${JSON.stringify(updatedInput)}` : "";
    const forModel = reasons.length > 0 ? ` The model gets: ${reasons.join(" ")}` : "";
    if (permission === "deny") return `It is refused.${forModel}`;
    if (permission === "ask") return "You are asked; in print mode it is denied.";
    return `It continues${changed}, if the permissions allow it.`;
  },
  prompt({ permission, messages, reasons }) {
    if (permission === undefined || permission === "allow") return "The prompt is sent.";
    return `The prompt is stopped. ${[...new Set([...messages, ...reasons])].join(" ")}`.trimEnd();
  },
  context: ({ context }) => (context.length > 0 ? `The model gets: ${context.join(" ")}` : "Nothing changes."),
  followup: ({ followup }) => (followup === undefined ? "The run ends." : `The run continues with: ${followup}`),
  observe: () => "Nothing changes: hooks of this event only observe.",
};

type TestReport = {
  event: HookEventName;
  sample: boolean;
  fields: JsonObject;
  tried: readonly TriedHook[];
  outcome: EffectText;
  context: HooksContext;
};

function testText({ event, sample, fields, tried, outcome, context }: TestReport): string {
  const payload = sample
    ? `${event} with a sample: ${shortenForTrace(JSON.stringify(fields))}`
    : `${event} with your payload`;
  if (tried.length === 0) return `${payload}\nNo hook is set up for ${event} here.\n`;
  const rows = tried.flatMap((each) => triedHookRows(each, context));
  return `${[payload, ...rows, `→ ${outcome.happens}`].map(visible).join("\n")}\n`;
}

function triedHookRows({ hook, why, line, end, warnings }: TriedHook, context: HooksContext): string[] {
  const what = shortenForTrace(hook.command ?? `asks a model: ${hook.prompt}`);
  const where = `    ${shownFile(hook.file, context)} ${hook.entry}`;
  if (!line) return [`- ${what}`, where, `    not asked: ${why}`];
  const exit = line.exit === null || line.exit === 0 ? "" : `, exit code ${line.exit}`;
  // The bridge prints to stderr what it could not translate.
  const losses = (end?.stderr ?? "").split("\n").filter((text) => text.trim() !== "");
  return [
    `${line.answer === "failed" ? "✗" : "✓"} ${what}`,
    where,
    `    ${line.answer}, ${line.ms} ms${exit}${line.note === "" ? "" : `: ${shortenForTrace(line.note)}`}`,
    ...losses.slice(0, 10).map((text) => `    stderr: ${shortenForTrace(text)}`),
    ...warnings.filter((text) => !line.note.includes(text)).map((text) => `    ${shortenForTrace(text)}`),
  ];
}
