// `hooks list`: prints the hooks of all levels, where they are defined, what they match and whether they run.
import { type Hook, repeatedBy } from "../../../store/hook-files.ts";
import { visible } from "../../../text/visible.ts";
import type { Invocation } from "../../main.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { type FoundFile, findHooks, type HookState } from "./all-hooks.ts";
import { type HooksContext, hooksContext, shownFile } from "./context.ts";
import { shortenForTrace } from "./trace.ts";

export async function listHooks(invocation: Invocation): Promise<number> {
  const context = hooksContext(invocation);
  const files = findHooks(context);
  const running = files.flatMap(({ state, hooks }) => (state === "runs" ? hooks : []));
  if (wantsJson(invocation)) {
    const { workspace, trusted } = context;
    return answerJson({ workspace, trusted, files: files.map((file) => jsonOf(file, running)) });
  }
  if (files.length === 0) return answer(`There are no hooks here. To write one: ${invocation.name} hooks init\n`);
  return answer(`${files.map((file) => hookFileText(file, { context, name: invocation.name, running })).join("\n")}`);
}

function jsonOf({ level, file, host, state, hooks, warnings, problem }: FoundFile, running: readonly Hook[]): object {
  return {
    level,
    file,
    host,
    state,
    hooks: hooks.map((hook) => {
      const { event, entry, command, prompt, matcher, timeoutMs, failClosed, loopLimit } = hook;
      const instead = repeatedBy(hook, running);
      const repeats = instead && `${instead.file} ${instead.entry}`;
      return { event, entry, command, prompt, matcher, timeoutMs, failClosed, loopLimit, repeats };
    }),
    warnings,
    problem,
  };
}

const states: Record<HookState, (name: string) => string> = {
  runs: () => "",
  "not approved": (name) => `: does not run, it is new or has changed. Look at it, then type: ${name} --trust`,
  untrusted: (name) => `: does not run, this workspace is not trusted. Look at it, then type: ${name} --trust`,
  "codex only": () => ": read by Codex only, which runs what you trusted there with /hooks",
  "gemini only": () => ": read by Gemini CLI only",
};

type ListContext = { context: HooksContext; name: string; running: readonly Hook[] };

function hookFileText(found: FoundFile, { context, name, running }: ListContext): string {
  const { level, file, state, hooks, warnings, problem } = found;
  const width = Math.max(0, ...hooks.map(({ event }) => event.length));
  const rows = hooks.map((hook) => {
    const { event, command, prompt, matcher, failClosed } = hook;
    const instead = repeatedBy(hook, running);
    const notes = [
      matcher === undefined ? "" : `matcher ${matcher}`,
      failClosed ? "fails closed" : "",
      instead ? `runs once, from ${shownFile(instead.file, context)}` : "",
    ].filter(Boolean);
    const what = command === undefined ? `asks a model: ${shortenForTrace(prompt!)}` : shortenForTrace(command);
    return `  ${event.padEnd(width)}  ${what}${notes.length > 0 ? `  (${notes.join(", ")})` : ""}`;
  });
  const lines = [
    `${level}, ${shownFile(file, context)}${states[state](name)}`,
    ...rows,
    ...(problem === undefined ? [] : [`  ${problem}`]),
    ...warnings.map((warning) => `  Warning: ${warning}`),
  ];
  return `${lines.map(visible).join("\n")}\n`;
}
