// Runs a case of the group `process`: real children, and what is seen is compared with `expect`, key by key.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { CaseResult } from "../support/case.ts";
import { codeIn, type Fault, faultsWithWays, listOf, shownFaults } from "../support/ways.ts";
import { maxOf, probe } from "./process-bundle.ts";
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

/** `long`: sizes and counts as the case gives them; else a tenth or so, enough to see the rule at work. */
export type DriverOptions = { long?: boolean };

export async function runProcessCase(given: ProcessCase, options: DriverOptions = {}): Promise<CaseResult> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "courser-case-")));
  try {
    if (given.input.scenario !== undefined) {
      const seen = await runScenario(given.input.scenario, given.config, { folder, long: options.long ?? false });
      if (typeof seen === "string") return { ...resultOf(given, []), pass: false, skipped: seen };
      return resultOf(given, judged(seen, given));
    }
    const faults: Fault[] = [];
    for (const through of spawnersFor(given)) {
      const seen = await probe(jobOf(given, through, folder, options), folder, given.expect["no_tty"] === true);
      const found = typeof seen === "string" ? [{ key: "never", text: seen }] : judged(seen, given);
      faults.push(...found.map(({ key, text }) => ({ key, text: `${through}: ${text}` })));
    }
    return resultOf(given, faults);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function judged(seen: AllSeen, given: ProcessCase): Fault[] {
  return faultsWithWays(given.expect, {
    faults: (expect) => faultsOf(expect, seen, given),
    isSo: (sentence) => isSo(sentence, seen),
  });
}

/** A late or differently worded end is not exact; these alone would do harm. */
const harmless = /_ms(_max)?$|^ms_max$|^(stdout|stderr|stages|via|message_|unknown)/;

function resultOf(given: ProcessCase, faults: Fault[]): CaseResult {
  const pass = faults.length === 0;
  const expected = JSON.stringify(given.expect);
  return {
    pass,
    safe: faults.every(({ key }) => harmless.test(key)),
    exact: pass,
    verdict: pass ? "as expected" : "different",
    expected,
    detail: shownFaults(faults),
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
  if (input.child_script !== undefined) return scriptOf(input.child_script);
  const child = input.child ?? "true";
  return ["bash", "-c", long ? child : child.replace(/\d{9,}/g, (size) => String(Math.floor(Number(size) / 8)))];
}

/** A program in its own language, or one made from the words. */
function scriptOf(script: string): string[] {
  const [, language = "node", text = script] = /^(node|javascript|python3?|bash|sh):\s*(.*)$/s.exec(script) ?? [];
  if (/^(ba)?sh$/.test(language) && /\bread\b.*;/s.test(text)) return [language, "-c", text];
  if (language.startsWith("python") && /^(import|from) /m.test(text)) return ["python3", "-c", text];
  return [process.execPath, "-e", /\bprocess\.|require\(/.test(text) ? text : listenerOf(text)];
}

/** A program that does on `cancel` what the words say: nothing, or exit with a code, after a time. */
function listenerOf(words: string): string {
  const [, onTerm] = /on SIGTERM\W{0,3}(?:it )?exits?(?: with)?(?: code)? (\d+)/i.exec(words) ?? [];
  const code = /exit(?:s)?(?: with)?(?: code)? (\d+)/.exec(words)?.[1] ?? "0";
  const [, figure = "0", unit = "ms"] = /(\d+(?:\.\d+)?) ?(ms|s\b|sec)/.exec(words) ?? [];
  const delay = Number(figure) * (unit === "ms" ? 1 : 1000);
  const isDeaf = /\bignor\w*\b[^.;]*cancel|cancel[^.;]*\bignored|never reads/i.test(words);
  const isStubborn = /\bignor\w*\b[^.;]*SIGTERM|SIGTERM[^.;]*\bignored|traps? (SIG)?TERM/i.test(words);
  return `
    ${isStubborn ? 'process.on("SIGTERM", () => {});' : onTerm ? `process.on("SIGTERM", () => process.exit(${onTerm}));` : ""}
    let text = "";
    process.stdin.setEncoding("utf8").on("data", (chunk) => {
      const lines = (text += chunk).split("\\n");
      text = lines.pop();
      for (const line of lines)
        if (JSON.parse(line).type === "cancel" && !${isDeaf}) setTimeout(() => process.exit(${code}), ${delay});
    });
    process.stdin.on("end", () => setInterval(() => {}, 1000));`;
}

type AllSeen = Partial<Seen> & ScenarioSeen;
type Check = (wanted: any, seen: AllSeen, given: ProcessCase) => boolean;

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
  no_orphans: (wanted, seen) => (seen.orphans === 0) === wanted,
  spilled: (wanted, seen) => (seen.spilledBytes ?? 0) > 0 === wanted,
  stdout_bytes_max: (most, seen) => Buffer.byteLength(seen.stdout ?? "") <= most,
};

/** Other words for the same. */
const synonyms: Record<string, string> = {
  code: "error_code",
  error: "error_code",
  exit_status: "exit",
  ms_max: "max_ms",
  exits_ms_max: "max_ms",
  rss_mb_max: "max_rss_mb",
  orphans: "orphans_after",
  survivors: "orphans_after",
  zombies_after: "zombies",
  fds_growth_max: "open_fds_growth_max",
  stdout_valid_utf8: "valid_utf8",
  result: "result_emitted",
};

function faultsOf(expect: Record<string, unknown>, seen: AllSeen, given: ProcessCase): Fault[] {
  const faults: Fault[] = [];
  for (const [key, wanted] of Object.entries(expect)) {
    const check = checks[key] ?? checks[synonyms[key] ?? ""];
    if (key === "never") {
      for (const one of listOf(wanted)) {
        const happened =
          typeof one === "string"
            ? isSo(one, seen)
            : faultsOf(one as Record<string, unknown>, seen, given).length === 0;
        if (happened) faults.push({ key, text: `${JSON.stringify(one)} happened` });
      }
      // A sentence alone shows nothing: the rest of the case must say what is right.
      if (Object.keys(expect).length === 1) faults.push({ key: "unknown", text: "nothing else is expected" });
    } else if (!check) faults.push({ key: "unknown", text: `nobody knows how to check ${key}` });
    else if (!check(wanted, seen, given))
      faults.push({ key, text: `should be ${JSON.stringify(wanted)}: ${shown(seen)}` });
  }
  return faults;
}

/** A code, a signal, an exit code, or what was left behind. */
function isSo(sentence: string, seen: AllSeen): boolean {
  const code = codeIn(sentence);
  if (code !== undefined) return seen.errorCode === code;
  const signal = /\bSIG[A-Z]+\b/.exec(sentence)?.[0];
  if (signal !== undefined) return seen.killedBy === signal;
  const exit = /\bexits?(?: with)?(?: code)? (\d+)/.exec(sentence)?.[1];
  if (exit !== undefined) return seen.exit === Number(exit);
  if (/orphan|surviv|left behind|outlive/i.test(sentence)) return (seen.orphans ?? 0) > 0;
  if (/zombie/i.test(sentence)) return (seen.zombies ?? 0) > 0;
  if (/terminal|\btty\b|password|prompted/i.test(sentence)) return seen.hasTerminal === true;
  if (/replacement|U\+FFFD/i.test(sentence)) return seen.stdout?.includes("\ufffd") === true;
  if (/\blost|loss/i.test(sentence)) return (seen.lost ?? 0) > 0;
  if (/option|flag/i.test(sentence)) return seen.delivered === "changed";
  return false;
}

function shown(seen: object): string {
  return maxOf(
    JSON.stringify(seen, (_key, value) => (typeof value === "string" ? maxOf(value, 100) : value)),
    700,
  );
}
