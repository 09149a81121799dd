// `hooks doctor`: reports what is wrong with the hooks here, each finding with its place and advice.
import { visible } from "../../../text/visible.ts";
import { counted } from "../../../view/numbers.ts";
import type { Invocation } from "../../main.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { type FoundFile, findHooks } from "./all-hooks.ts";
import { commandProblems } from "./check-command.ts";
import { hostFindings } from "./check-hosts.ts";
import { type HooksContext, hooksContext, shownFile } from "./context.ts";

/** A finding about a hook. A `problem` keeps the hook from working; a `note` is only information. */
export type HookFinding = {
  kind: "problem" | "note";
  file?: string;
  entry?: string;
  /** Further entries of the file with the same fault, since one script is often in several. */
  also?: string[];
  message: string;
  advice: string;
};

export async function checkHooks(invocation: Invocation): Promise<number> {
  const context = hooksContext(invocation);
  const files = findHooks(context);
  const findings = withoutRepeats([
    ...files.flatMap((file) => [...stateFindings(file, invocation.name), ...entryFindings(file, context)]),
    ...files.flatMap(duplicates),
    ...twiceInCursor(files),
    ...(await hostFindings(files, context)),
  ]);
  const problems = findings.filter(({ kind }) => kind === "problem").length;
  const hooks = files.reduce((sum, file) => sum + file.hooks.length, 0);
  const code = wantsJson(invocation)
    ? await answerJson({ files: files.length, hooks, problems, findings })
    : await answer(findingsText(findings, hooks, context));
  return code === 0 && problems > 0 ? 1 : code;
}

function withoutRepeats(findings: readonly HookFinding[]): HookFinding[] {
  const findingsByText = new Map<string, HookFinding>();
  for (const { entry, ...finding } of findings) {
    const key = JSON.stringify(finding);
    const first = findingsByText.get(key);
    if (!first) findingsByText.set(key, { ...finding, ...(entry !== undefined && { entry }) });
    else if (entry !== undefined && first.entry !== entry) first.also = [...(first.also ?? []), entry];
  }
  return [...findingsByText.values()];
}

function stateFindings({ file, state, problem, warnings }: FoundFile, name: string): HookFinding[] {
  const found: HookFinding[] = [];
  const add = (message: string, advice: string) => found.push({ kind: "problem", file, message, advice });
  if (problem !== undefined) {
    const message = problem.replace(`${file} `, "").replace(`${file}: `, "");
    add(message, "Runs stop here until the file is correct, because it may contain guards.");
  }
  for (const warning of warnings) add(warning.replace(`${file}: `, ""), "Fix it in the file.");
  const look = `Look at the file, then type: ${name} --trust`;
  if (state === "untrusted") add("Its hooks do not run: this workspace is not trusted.", look);
  if (state === "not approved") add("Its hooks do not run: it is new, or has changed since it was approved.", look);
  return found;
}

function entryFindings({ file, hooks, host }: FoundFile, context: HooksContext): HookFinding[] {
  return hooks.flatMap((hook) => {
    const found = hook.command === undefined ? [] : commandProblems({ command: hook.command, cwd: hook.cwd }, context);
    if (hook.matcher !== undefined && !isPattern(hook.matcher))
      found.push({
        message: `The matcher ${hook.matcher} is not a valid regular expression.`,
        advice: host === "cursor" ? "The hook runs as if it had none. Fix it." : "Fix it.",
      });
    return found.map((each): HookFinding => ({ kind: "problem", file, entry: hook.entry, ...each }));
  });
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}

function duplicates({ file, hooks }: FoundFile): HookFinding[] {
  return hooks.flatMap((hook, index): HookFinding[] => {
    const first = hooks.findIndex(
      (other) =>
        other.event === hook.event &&
        other.command === hook.command &&
        other.prompt === hook.prompt &&
        other.matcher === hook.matcher,
    );
    if (first === index) return [];
    const message = `It is already in ${hooks[first]!.entry}, and runs twice.`;
    return [{ kind: "problem", file, entry: hook.entry, message, advice: "Delete one of the two." }];
  });
}

/** Cursor reads the files of two hosts, so a script that is in both is called twice. */
function twiceInCursor(files: readonly FoundFile[]): HookFinding[] {
  const scripts = new Map<string, Set<string>>();
  for (const { host, state, hooks } of files) {
    if (state === "codex only" || state === "gemini only") continue;
    for (const { command } of hooks) {
      const script = /([^/"' ]+)["']? --host (?:cursor|claude)$/.exec(command ?? "")?.[1];
      if (script !== undefined) scripts.set(script, (scripts.get(script) ?? new Set()).add(host));
    }
  }
  return [...scripts]
    .filter(([, hosts]) => hosts.size > 1)
    .map(([script]) => ({
      kind: "note",
      message: `${script} is in the files of Cursor and of Claude. Cursor reads both and calls it twice; Courser calls it once.`,
      advice: "The strictest answer wins, so it does no harm; it costs the time of one more call.",
    }));
}

function findingsText(findings: readonly HookFinding[], hooks: number, context: HooksContext): string {
  const checked = counted(hooks, "hook");
  const problems = findings.filter(({ kind }) => kind === "problem").length;
  const rows = findings.map(({ kind, file, entry, also, message, advice }) => {
    const entries = also ? `${entry} and ${also.length} more` : (entry ?? "");
    const where = [file === undefined ? "" : shownFile(file, context), entries].filter(Boolean).join(" ");
    return `${kind === "problem" ? "✗" : "·"} ${where === "" ? "" : `${where}: `}${message}\n  ${advice}`;
  });
  const end = problems === 0 ? `✓ ${checked}, no problems found.` : `${checked}, ${problems} to fix.`;
  return `${[...rows, end].map(visible).join("\n")}\n`;
}
