// A script that was installed for Cursor and for Claude Code stands in both files, and both are read here: it runs once.
import { cursorToolNames, renamedTools } from "../protocol/hook-events.ts";
import type { Hook } from "./hook-files.ts";

export function withoutRepeats(hooks: readonly Hook[]): Hook[] {
  return hooks.filter((hook) => !repeatedBy(hook, hooks));
}

/** The entry of Cursor's that does all that this one of Claude's would do. */
export function repeatedBy(hook: Hook, running: readonly Hook[]): Hook | undefined {
  if (hook.format !== "claude") return undefined;
  const script = scriptOf(hook);
  if (script === undefined) return undefined;
  return running.find((other) => other.format === "cursor" && scriptOf(other) === script && covers(other, hook));
}

/** One that runs less often, or is milder when it fails, takes nobody's place. */
function covers(other: Hook, hook: Hook): boolean {
  const hears = other.matcher === undefined || other.matcher === matcherOf(hook);
  return other.event === hook.event && hears && (other.failClosed || !hook.failClosed);
}

function matcherOf({ matcher }: Hook): string | undefined {
  return matcher === undefined ? undefined : renamedTools(matcher, cursorToolNames);
}

/** `X --host cursor` and `X --host claude` are the same script. Undefined: who calls it was not said. */
function scriptOf({ command, format, cwd }: Hook): string | undefined {
  const end = ` --host ${format}`;
  if (!command?.endsWith(end)) return undefined;
  const script = command.slice(0, -end.length).replace(/^("\$CLAUDE_PROJECT_DIR"|\$CLAUDE_PROJECT_DIR|\.)\//, "");
  return /^['"]?\//.test(script) ? script : `${cwd}/${script}`;
}
