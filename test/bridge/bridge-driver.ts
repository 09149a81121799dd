// Runs a case of the group `hooks-bridge`: one payload, one answer of a handler, what the host reads.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  type BridgeEvent,
  defineHook,
  type HookHandlers,
  hookNames,
  type RunOptions,
  run,
} from "../../src/bridge/index.ts";
import type { Case, CaseResult } from "../support/case.ts";
import { repository } from "../support/run-cli.ts";

type Input = { stdin: unknown; returns?: unknown; throws?: string; no_handler?: true };
type Expected = { stdout: unknown; exit_code: number; stderr: string; unified?: Record<string, unknown> };
type Seen = { stdout: string; exit_code: number; stderr: string; event?: Record<string, unknown> };

const library = join(repository, "dist/lib/hooks.js");

export async function runBridgeCase(given: Case, { driver }: { driver: "library" | "cli" }): Promise<CaseResult> {
  const input = given.input as Input;
  const expected = given.expect as Expected;
  const blank = { pass: false, safe: true, exact: false, verdict: "-", expected: shown(expected), detail: "" };
  if (driver === "cli" && !existsSync(library)) return { ...blank, skipped: "dist/lib/hooks.js is not built" };
  const options = given.config["options"] as RunOptions;
  const seen = driver === "cli" ? runProgram(input, options) : await runHere(input, options);
  const faults = faultsOf(expected, input, seen);
  const blocks = expected.exit_code === 2 || /"(deny|block)"|"continue":false/.test(JSON.stringify(expected.stdout));
  return {
    ...blank,
    pass: faults.length === 0,
    exact: faults.length === 0,
    safe: faults.length === 0 || !blocks,
    verdict: shown({ ...seen, stdout: parsed(seen.stdout) }),
    detail: faults.join("\n"),
  };
}

async function runHere(input: Input, options: RunOptions): Promise<Seen> {
  const seen: Seen = { stdout: "", stderr: "", exit_code: -1 };
  await run(
    handlersFor(input, (event) => (seen.event = event as Record<string, unknown>)),
    {
      argv: [],
      env: {},
      ...options,
      stdin: JSON.stringify(input.stdin),
      write: (chunk) => (seen.stdout += chunk),
      writeError: (chunk) => (seen.stderr += chunk),
      exit: (code) => (seen.exit_code = code),
    },
  );
  return seen;
}

function handlersFor({ returns, throws, no_handler }: Input, take: (event: BridgeEvent) => void): HookHandlers {
  if (no_handler) return {};
  const handler = (event: BridgeEvent) => {
    take(event);
    if (throws !== undefined) throw new Error(throws);
    return returns ?? undefined;
  };
  return defineHook(Object.fromEntries(hookNames.map((name) => [name, handler])) as HookHandlers);
}

/** As hosts do it: a program of its own, the payload on its stdin. */
function runProgram(input: Input, { argv = [], env = {}, ...options }: RunOptions): Seen {
  const program = `
    import { defineHook, hookNames, run } from ${JSON.stringify(library)};
    const { returns, throws, no_handler } = ${JSON.stringify({ ...input, stdin: undefined })};
    const handler = () => { if (throws !== undefined) throw new Error(throws); return returns ?? undefined; };
    const names = no_handler ? [] : hookNames;
    await run(defineHook(Object.fromEntries(names.map((name) => [name, handler]))), ${JSON.stringify(options)});
  `;
  const child = spawnSync(process.execPath, ["--input-type=module", "-e", program, "--", ...argv], {
    input: JSON.stringify(input.stdin),
    encoding: "utf8",
    env: env as Record<string, string>,
    timeout: 20_000,
  });
  return { stdout: child.stdout, stderr: child.stderr, exit_code: child.status ?? -1 };
}

function faultsOf(expected: Expected, input: Input, seen: Seen): string[] {
  const faults: string[] = [];
  const compare = (what: string, found: unknown, wanted: unknown) => {
    if (!isDeepStrictEqual(found, wanted))
      faults.push(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
  };
  compare("stdout", parsed(seen.stdout), expected.stdout);
  compare("exit code", seen.exit_code, expected.exit_code);
  compare("stderr", seen.stderr, expected.stderr);
  if (seen.stdout !== "" && !/^[^\n]+\n$/.test(seen.stdout)) faults.push("stdout is not one line");
  const { event } = seen;
  if (event) compare("_native", event["_native"], input.stdin);
  for (const [key, value] of event ? Object.entries(expected.unified ?? {}) : []) compare(key, event![key], value);
  return faults;
}

/** Nothing printed is null, as no JSON that is an object can be. */
function parsed(stdout: string): unknown {
  return stdout === "" ? null : JSON.parse(stdout);
}

function shown({ stdout, exit_code }: { stdout: unknown; exit_code: number }): string {
  return `${JSON.stringify(stdout)}, exit ${exit_code}`;
}
