// `courser-hook SCRIPT [arguments…]`: runs a hook script in TypeScript. Loads nothing of the
// agent, because a hook runs at every tool call.
import { resolve } from "node:path";
import { runScript } from "./modules.ts";

declare const __VERSION__: string;

const [file, ...rest] = process.argv.slice(2);
if (file === "--version" || file === "-v") writeTo(`${__VERSION__}\n`, 1);
else if (file === undefined || file === "--help" || file === "-h") {
  writeTo(
    "Usage: courser-hook SCRIPT [--host cursor|claude|codex]\n\nRuns a hook script that 'courser hooks init' made.\n",
    2,
  );
  process.exitCode = file === undefined ? 2 : 0;
} else {
  const path = resolve(file);
  // Set argv as if Node had been started with the script.
  process.argv.splice(1, process.argv.length - 1, path, ...rest);
  runScript(path, __VERSION__).catch((error: unknown) => fail(path, error));
}

function writeTo(text: string, stream: 1 | 2): void {
  process.getBuiltinModule("node:fs").writeSync(stream, text);
}

/**
 * Handles a script that failed, so that the hook decided nothing. Exit code 2 refuses, for every host; for events that have
 * nothing to refuse it would only make the agent go on and on, so those exit 1.
 */
function fail(path: string, error: unknown): void {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  writeTo(`[courser-hook] ${path}: ${stack}\n`, 2);
  const gate = asksForPermission();
  if (gate) writeTo("Refused, because the hook could not be asked.\n", 2);
  process.exit(gate ? 2 : 1);
}

/** Returns whether the payload asks for permission. If it cannot be parsed, assumes that it does. */
function asksForPermission(): boolean {
  if (process.getBuiltinModule("node:tty").isatty(0)) return true;
  try {
    const payload = JSON.parse(process.getBuiltinModule("node:fs").readFileSync(0, "utf8")) as {
      hook_event_name?: unknown;
    };
    return /^(pre(?!Compact)|before|permission|userPrompt|subagentStart)/i.test(String(payload.hook_event_name));
  } catch {
    return true;
  }
}
