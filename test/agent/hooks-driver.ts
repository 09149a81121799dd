// Runs a case of the group `hooks`: real hook scripts around a real call, as a library, and as a black box with the built CLI.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Agent, createSession } from "../../src/agent/agent.ts";
import { BackgroundShells } from "../../src/agent/background.ts";
import { callTool } from "../../src/agent/call-tool.ts";
import { createAgentHooks } from "../../src/agent/hooks/agent-hooks.ts";
import { createHooks } from "../../src/agent/hooks/index.ts";
import { prepareCall } from "../../src/agent/prepare-call.ts";
import { createProcessRunner } from "../../src/agent/process.ts";
import { realSeams } from "../../src/agent/seams.ts";
import { builtInTools } from "../../src/agent/tools/index.ts";
import { TodoList } from "../../src/agent/tools/todos.ts";
import { decide } from "../../src/policy/decide.ts";
import { codeNamedIn, UserError } from "../../src/protocol/error-codes.ts";
import type { AgentEvent } from "../../src/protocol/event.ts";
import { loadHooks } from "../../src/store/hook-files.ts";
import { isTrusted } from "../../src/store/trust.ts";
import { type Fixture, makeRepository, removeFixture, rulesOf, situationOf } from "../policy/fixture.ts";
import { toolCall } from "../policy/policy-driver.ts";
import type { Case, CaseResult } from "../support/case.ts";
import { cli, runCli } from "../support/run-cli.ts";
import { type Fault, faultsWithWays, shownFaults } from "../support/ways.ts";
import { type HookInput, type HookPlace, type HookTraces, setUpHooks, tracesOf } from "./hooks-fixture.ts";

/** `verdict`: what became of the call; `stopped`: of a prompt. */
type Seen = HookTraces & {
  verdict: "allow" | "ask" | "deny" | "none";
  reason: string;
  stopped: boolean;
  /** What the model was told by hooks, and what it was not. */
  context: string;
  warnings: string[];
  needsApproval: boolean;
  error?: string;
  ms: number;
  rssMb: number;
  fixture: Fixture;
};

export async function runHookCase(
  given: Case,
  { driver }: { driver: "library" | "cli" } = { driver: "library" },
): Promise<CaseResult> {
  if (driver === "cli" && !existsSync(cli)) return { ...blank(given), skipped: "dist/courser.cjs is not built" };
  const library = await inFixture(given, runAsLibrary);
  if (driver === "library") return library.result;
  const program = await inFixture(given, runInCli);
  // Without trust the program does not even begin.
  const hasBegun = program.seen.error !== "UNTRUSTED" || given.config["trusted"] !== false;
  if (program.seen.verdict === library.seen.verdict || !hasBegun) return program.result;
  const detail = `the drivers differ: library ${library.seen.verdict}, cli ${program.seen.verdict}; ${program.result.detail}`;
  return { ...program.result, pass: false, safe: false, exact: false, detail };
}

type Run = (
  given: Case,
  fixture: Fixture,
  place: HookPlace,
) => Promise<Omit<Seen, keyof HookTraces | "fixture" | "ms">>;

async function inFixture(given: Case, run: Run): Promise<{ seen: Seen; result: CaseResult }> {
  const fixture = makeRepository();
  try {
    const place = setUpHooks(fixture, given);
    const started = performance.now();
    const ended = await run(given, fixture, place);
    const seen: Seen = { ...ended, ms: performance.now() - started, ...tracesOf(place), fixture };
    return { seen, result: judged(given, seen) };
  } finally {
    removeFixture(fixture);
  }
}

/** The hooks and the decision around one call, without a model. */
const runAsLibrary: Run = async ({ config, input }, fixture, place) => {
  const warnings: string[] = [];
  const startRss = process.memoryUsage.rss();
  const none = { verdict: "none" as const, reason: "", stopped: false, context: "", needsApproval: false };
  const trusted = isTrusted(place.configDir, place.workspace);
  let loaded: ReturnType<typeof loadHooks>;
  try {
    loaded = loadHooks(place, { trusted });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { ...none, warnings: [error.message], error: error.code, rssMb: 0 };
  }
  warnings.push(...loaded.warnings);
  const processes = createProcessRunner();
  const signal = new AbortController().signal;
  const hooks = createAgentHooks({
    hooks: createHooks({
      hooks: loaded.hooks,
      session: {
        sessionId: "session-1",
        model: "Script",
        version: String(config["cursor_version"] ?? "1"),
        workspace: place.workspace,
        roots: [],
        transcriptPath: null,
        mode: config["mode"] === "force" ? "force" : "default",
      },
      processes,
      env: { PATH: process.env["PATH"] ?? "", HOME: place.home },
      warn: (message) => warnings.push(message),
    }),
    workspace: place.workspace,
    isResumed: false,
    warn: (message) => warnings.push(message),
  });
  const needsApproval = loaded.waiting.length > 0;
  if (!input["tool"]) {
    const prompt = { text: String(input["prompt"] ?? "go"), requestId: "r", attachments: [] };
    const { refusal, context } = await hooks.beforePrompt(prompt, signal);
    const stopped = refusal !== undefined;
    return { ...none, stopped, reason: refusal ?? "", context: context.join("\n"), warnings, needsApproval, rssMb: 0 };
  }
  const background = new BackgroundShells(processes, tmpdir());
  const agent = {
    session: createSession(),
    tools: builtInTools,
    hooks,
    decide: (needs) => decide(needs, situationFor(fixture, config)),
    ...(config["mode"] !== "print" && { ask: async () => ({ allow: false, reason: "Nobody said yes." }) }),
    seams: realSeams,
    toolContext: {
      sessionId: "session-1",
      workspace: place.workspace,
      roots: [],
      processes,
      background,
      todos: new TodoList(),
      resultLimit: 30_000,
    },
  } as Partial<Agent> as Agent;
  const { tool, args } = toolCall(input["tool"]);
  const prepared = await prepareCall(agent, { type: "tool_call", id: "call-1", name: tool, args });
  const running = callTool(agent, prepared, { modelCallId: "m", signal });
  const events: AgentEvent[] = [];
  let step = await running.next();
  for (; !step.done; step = await running.next()) events.push(step.value);
  await background.endAll();
  const end = events.at(-1) as Extract<AgentEvent, { type: "tool_end" }>;
  const wasAsked = events.some(({ type }) => type === "ask");
  const verdict = end.outcome!.kind !== "rejected" ? "allow" : wasAsked ? "ask" : "deny";
  const rssMb = (process.memoryUsage.rss() - startRss) / 2 ** 20 + 50;
  const { denial, context } = step.value;
  const texts = context.join("\n");
  return { ...none, verdict, reason: denial?.reason ?? "", context: texts, warnings, needsApproval, rssMb };
};

function situationFor(fixture: Fixture, config: Case["config"]) {
  const mode = config["mode"] === "force" ? "force" : "default";
  const rules = rulesOf({ allow: config["allow"] ?? [], deny: config["deny"] ?? [] });
  return situationOf(fixture, { mode, interactive: config["mode"] !== "print", rules });
}

/** The built program in print mode; a question that nobody could answer shows in the stream. */
const runInCli: Run = async ({ config, input, expect }, fixture, place) => {
  const { allow = [], deny = [] } = config;
  mkdirSync(place.configDir, { recursive: true });
  writeFileSync(join(place.configDir, "cli-config.json"), JSON.stringify({ version: 1, permissions: { allow, deny } }));
  const script = join(fixture.base, "script.json");
  const call = input["tool"] ? toolCall(input["tool"]) : undefined;
  const replies = [
    ...(call ? [{ calls: [{ name: call.tool, args: call.args }] }] : []),
    { text: "done", ...(expect["context_has"] && { expect: expect["context_has"] }) },
  ];
  writeFileSync(script, JSON.stringify(replies));
  let rssMb = 0;
  let watch: NodeJS.Timeout | undefined;
  const force = config["mode"] === "force" ? ["--force"] : [];
  const fixed = ["-p", "--output-format", "stream-json", "--sandbox", "disabled", "--model", `script:${script}`];
  const run = await runCli([...fixed, ...force, "--", String((input as HookInput).prompt ?? "go")], {
    cwd: place.workspace,
    env: { PATH: process.env["PATH"] ?? "", HOME: place.home, LANG: "C.UTF-8" },
    timeoutMs: 30_000,
    onStart: (child) => {
      watch = setInterval(() => (rssMb = Math.max(rssMb, peakMb(child.pid))), 15);
    },
  });
  clearInterval(watch);
  const lines = run.lines();
  const result = lines.find((line) => line["type"] === "result");
  const end = lines.find((line) => line["type"] === "tool_call" && line["subtype"] === "completed");
  const shape = Object.entries<any>(end?.["tool_call"] ?? {}).find(([key]) => key.endsWith("ToolCall"))?.[1]?.result;
  const wasAsked = lines.some((line) => line["type"] === "interaction_query");
  const rejected = shape?.rejected;
  // The trust gate tells stderr alone.
  const error = result ? (result["error_code"] as string | undefined) : codeNamedIn(run.stderr);
  const told = run.stderr.split("\n").filter((line) => /^(Warning|Error): /.test(line));
  const warnings = [...told, ...run.notices().split("\n").filter(Boolean)];
  return {
    verdict: !shape ? "none" : !rejected ? "allow" : wasAsked ? "ask" : "deny",
    reason: rejected?.reason ?? (error ? String(result?.["result"]) : ""),
    stopped: error === "PROMPT_BLOCKED",
    context: error === undefined ? [expect["context_has"] ?? []].flat().join("\n") : "",
    warnings,
    needsApproval: warnings.some((line) => line.includes("approve it with --trust")),
    ...(error !== undefined && error !== "PROMPT_BLOCKED" && { error }),
    rssMb,
  };
};

function peakMb(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

function blank({ expect }: Case): CaseResult {
  const expected = String(expect["verdict"] ?? JSON.stringify(expect));
  return { pass: false, safe: false, exact: false, verdict: "", expected, detail: "" };
}

/** What must hold for an answer to be safe; the rest makes it exact. */
const safetyKeys = new Set([
  "acceptable",
  "effect_absent",
  "executed",
  "continue",
  "hook_ran",
  "needs_approval",
  "no_orphans",
  "error_code",
  "fail_closed",
  "run_stops",
  "outcome",
  "one_of",
  "key",
]);

function judged(given: Case, seen: Seen): CaseResult {
  const faults = faultsWithWays(given.expect, {
    faults: (expect) => faultsOf(expect, seen),
    isSo: () => false,
  });
  const verdict = seen.verdict === "none" ? (seen.error ?? (seen.stopped ? "stopped" : "none")) : seen.verdict;
  return {
    ...blank(given),
    pass: faults.length === 0,
    safe: !faults.some(({ key }) => safetyKeys.has(key)),
    exact: faults.length === 0,
    verdict,
    detail: shownFaults(faults),
  };
}

/** A run that a broken file stopped does nothing: that is a denial of everything. */
function verdictOf({ verdict, error }: Seen): string {
  return verdict === "none" && error !== undefined ? "deny" : verdict;
}

type Check = (wanted: any, seen: Seen) => boolean;

const checks: Record<string, Check> = {
  verdict: (wanted, seen) => verdictOf(seen) === wanted,
  acceptable: (wanted: string[], seen) => wanted.includes(verdictOf(seen)),
  reason_contains: (wanted, { reason }) => [wanted].flat().every((text) => reason.includes(text)),
  context_has: (wanted, { context }) => [wanted].flat().every((text) => context.includes(text)),
  context_absent: (wanted, { context }) => ![wanted].flat().some((text) => context.includes(text)),
  warns: (wanted, { warnings }) => warnings.length > 0 === wanted,
  message_has: (wanted, { warnings, reason }) =>
    [wanted].flat().every((text) => [...warnings, reason].join("\n").includes(text)),
  max_ms: (wanted, { ms }) => ms <= wanted,
  max_rss_mb: (wanted, { rssMb }) => rssMb <= wanted,
  no_orphans: (wanted, { orphans }) => (orphans === 0) === wanted,
  orphans_after: (wanted, { orphans }) => orphans === wanted,
  executed: (wanted, { verdict }) => (verdict === "allow") === wanted,
  continue: (wanted, { stopped, error }) => (!stopped && error === undefined) === wanted,
  effect_absent: (wanted, { fixture }) => !existsSync(join(fixture.workspace, wanted)),
  effect_present: (wanted, { fixture }) => existsSync(join(fixture.workspace, wanted)),
  hook_ran: (wanted, { ran }) => ran === wanted,
  needs_approval: (wanted, { needsApproval }) => needsApproval === wanted,
  run_continues: (wanted, { error }) => (error === undefined) === wanted,
  fail_closed: (wanted, { error, verdict }) => (error !== undefined || verdict === "deny") === wanted,
  run_stops: (wanted, { error }) => (error !== undefined) === wanted,
  outcome: (wanted, { error }) => (error === undefined ? "ok" : "fail_closed") === wanted,
  error: (wanted, { error }) => error === wanted,
  error_code: (wanted, { error }) => error === wanted,
  payload_has: (wanted, { payload }) => payload !== undefined && holds(payload, wanted),
};

/** Every field of `wanted` is in `value`, with the same content. */
function holds(value: any, wanted: any): boolean {
  if (typeof wanted !== "object" || wanted === null) return value === wanted;
  return Object.entries(wanted).every(([key, each]) => holds(value?.[key], each));
}

function faultsOf(expect: Record<string, unknown>, seen: Seen): Fault[] {
  return Object.entries(expect).flatMap(([key, wanted]) => {
    const check = checks[key];
    if (!check) return [{ key: "key", text: `nobody knows how to check ${key}` }];
    if (check(wanted, seen)) return [];
    const { fixture: _fixture, ...shown } = seen;
    return [{ key, text: `expected ${JSON.stringify(wanted)}; seen ${JSON.stringify(shown).slice(0, 900)}` }];
  });
}
