// Runs a case of the group `process`: real children, and what is seen is compared with `expect`, key by key.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { mostOf, probe } from "./process-bundle.ts";
import type { ProbeJob, Seen } from "./process-probe.ts";
import { runScenario, type ScenarioSeen } from "./process-scenarios.ts";

export type ProcessCase = {
  id: string;
  config: { timeout_ms?: number; idle_ms?: number; grace_ms?: number; env?: Record<string, string> };
  input: {
    child?: string;
    child_script?: string;
    child_binary?: string;
    cwd?: string;
    stdin?: string;
    scenario?: string;
  };
  expect: Record<string, unknown>;
};

export type CaseResult = {
  pass: boolean;
  safe: boolean;
  exact: boolean;
  skipped?: string;
  verdict: string;
  expected: string;
  detail: string;
};

/** `long`: sizes and counts as the case gives them; else a tenth or so, enough to see the rule at work. */
export type DriverOptions = { long?: boolean };

export async function runProcessCase(given: ProcessCase, options: DriverOptions = {}): Promise<CaseResult> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "courser-case-")));
  try {
    if (given.input.scenario !== undefined) {
      const seen = await runScenario(given.input.scenario, given.config, { folder, long: options.long ?? false });
      if (typeof seen === "string") return { ...resultOf(given, []), pass: false, skipped: seen };
      return resultOf(given, faultsOf(given.expect, seen, given));
    }
    const faults: string[] = [];
    for (const through of spawnersFor(given)) {
      const seen = await probe(jobOf(given, through, folder, options), folder, given.expect["no_tty"] === true);
      const found = typeof seen === "string" ? [seen] : faultsOf(given.expect, seen, given);
      faults.push(...found.map((fault) => `${through}: ${fault}`));
    }
    return resultOf(given, faults);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function resultOf(given: ProcessCase, faults: string[]): CaseResult {
  const pass = faults.length === 0;
  const expected = JSON.stringify(given.expect);
  return {
    pass,
    safe: pass,
    exact: pass,
    verdict: pass ? "as expected" : "different",
    expected,
    detail: faults.join("; "),
  };
}

/** Both spawners must stop in stages and name what is missing; what a command prints is the tools' business alone. */
function spawnersFor({ input, expect }: ProcessCase): ProbeJob["through"][] {
  if (input.child_script !== undefined) return ["cli"];
  const both = "stages" in expect || "killed_by" in expect || "error_code" in expect;
  const aboutOutput = "stdout" in expect || "truncated" in expect || "spilled_to_file" in expect;
  return both && !aboutOutput ? ["tools", "cli"] : ["tools"];
}

function jobOf(given: ProcessCase, through: ProbeJob["through"], folder: string, options: DriverOptions): ProbeJob {
  const { config, input } = given;
  const cwd = join(folder, "work");
  mkdirSync(cwd, { recursive: true });
  return {
    through,
    command: commandOf(input, options),
    cwd: input.cwd === undefined ? cwd : join(folder, input.cwd),
    mark: `CASE_${basename(folder).replace(/\W/g, "_")}_${through}`,
    ...(config.env && { env: config.env }),
    timeoutMs: config.timeout_ms,
    idleMs: config.idle_ms,
    graceMs: config.grace_ms,
    listens: input.child_script !== undefined,
  };
}

function commandOf(input: ProcessCase["input"], { long }: DriverOptions): string[] {
  if (input.child_binary !== undefined) return [input.child_binary];
  if (input.child_script !== undefined) return [process.execPath, "-e", listenerOf(input.child_script)];
  const child = input.child ?? "true";
  return ["bash", "-c", long ? child : child.replace(/\d{9,}/g, (size) => String(Math.floor(Number(size) / 8)))];
}

/** A program that does on `cancel` what the words say: exit with a code, after a time. */
function listenerOf(words: string): string {
  const code = /exit(?:s)?(?: with)?(?: code)? (\d+)/.exec(words)?.[1] ?? "0";
  const delay = /(?:after|in) (\d+) ?ms/.exec(words)?.[1] ?? "0";
  return `
    let text = "";
    process.stdin.setEncoding("utf8").on("data", (chunk) => {
      const lines = (text += chunk).split("\\n");
      text = lines.pop();
      for (const line of lines) if (JSON.parse(line).type === "cancel") setTimeout(() => process.exit(${code}), ${delay});
    });
    process.stdin.on("end", () => setInterval(() => {}, 1000));`;
}

type Check = (wanted: any, seen: Partial<Seen> & ScenarioSeen, given: ProcessCase) => boolean;

const within: Check = (most, seen) => (seen.ms ?? 0) <= most;

const checks: Record<string, Check> = {
  killed_by: (wanted, seen) => seen.killedBy === wanted,
  exit: (wanted, seen) => seen.exit === wanted,
  exit_code: (wanted, seen) => seen.exit === wanted,
  signal: (wanted, seen) => (seen.killedBy ?? "") === (wanted ?? ""),
  stages: (wanted, seen) => isDeepStrictEqual(seen.stages, wanted),
  total_ms_max: within,
  result_ms_max: within,
  max_ms: within,
  timed_out: (wanted, seen) => seen.timedOut === wanted,
  stdout: (wanted, seen) => seen.stdout === wanted,
  stderr: (wanted, seen) => seen.stderr === wanted,
  stdout_contains: (wanted, seen) => seen.stdout?.includes(wanted) === true,
  stderr_contains: (wanted, seen) => seen.stderr?.includes(wanted) === true,
  orphans_after: (wanted, seen) => seen.orphans === wanted,
  max_rss_mb: (most, seen) => seen.maxRssMb! <= most,
  truncated: (wanted, seen) => seen.truncated === wanted,
  spilled_to_file: (wanted, seen) => (seen.spilledBytes ?? 0) > 0 === wanted,
  event_loop_lag_ms_max: (most, seen) => seen.lagMs! <= most,
  frames_valid_utf8: (wanted, seen) => seen.validUtf8 === wanted,
  valid_utf8: (wanted, seen) => seen.validUtf8 === wanted,
  no_crash: () => true, // a crash left nothing to compare
  no_tty: (wanted, seen) => seen.hasTerminal === !wanted,
  error_code: (wanted, seen) => seen.errorCode === wanted,
  message_names_binary: (wanted, seen, { input }) => seen.message?.includes(input.child_binary ?? "\0") === wanted,
  message_names_cwd: (wanted, seen, { input }) => seen.message?.includes(input.cwd ?? "\0") === wanted,
  zombies: (wanted, seen) => seen.zombies === wanted,
  open_fds_growth_max: (most, seen) => seen.descriptorGrowth! <= most,
  cli_exits_ms_max: within,
  cli_lives_on: (wanted, seen) => seen.livesOn === wanted,
  cli_max_rss_mb: (most, seen) => seen.maxRssMb! <= most,
  no_loss: (wanted, seen) => (seen.lost === 0) === wanted,
  tool: (wanted, seen) => seen.tool === wanted,
  result_emitted: (wanted, seen) => (seen.results === 1) === wanted,
  results: (wanted, seen) => seen.results === wanted,
  delivered: (wanted, seen) => seen.delivered === wanted,
  via: (wanted, seen) => seen.via === wanted,
};

function faultsOf(expect: Record<string, unknown>, seen: Partial<Seen> & ScenarioSeen, given: ProcessCase): string[] {
  const faults: string[] = [];
  for (const [key, wanted] of Object.entries(expect)) {
    if (key === "one_of" || key === "either" || key === "acceptable_instead") {
      const ways = Array.isArray(wanted) ? (wanted as Record<string, unknown>[]) : [wanted as Record<string, unknown>];
      if (!ways.some((way) => faultsOf(way, seen, given).length === 0)) faults.push(`${key}: none holds`);
    } else if (key === "never") {
      if (faultsOf(wanted as Record<string, unknown>, seen, given).length === 0) faults.push("what must never be was");
    } else if (!checks[key]) faults.push(`nobody knows how to check ${key}`);
    else if (!checks[key](wanted, seen, given))
      faults.push(`${key} should be ${JSON.stringify(wanted)}: ${shown(seen)}`);
  }
  return faults;
}

function shown(seen: object): string {
  return mostOf(
    JSON.stringify(seen, (_key, value) => (typeof value === "string" ? mostOf(value, 100) : value)),
    700,
  );
}
