// `npm run cases -- FILE|DIR… [--driver library|cli] [--json] [--long]`: runs cases in the format of test/cases, also ones it has never seen.
// Exit 0 only when every answer is safe and at least 95 % are exact.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { runFrameCaseByAdapter } from "./adapter/frames-player.ts";
import { runModelCaseByAdapter } from "./adapter/model-player.ts";
import { runHookCase } from "./agent/hooks-driver.ts";
import { runMcpCase } from "./agent/mcp-driver.ts";
import { runProcessCase } from "./agent/process-driver.ts";
import { runSandboxCase } from "./agent/sandbox-driver.ts";
import { sandboxMissing } from "./agent/sandbox-fixture.ts";
import { runBridgeCase } from "./bridge/bridge-driver.ts";
import { runModelCase } from "./cli/model-cases-driver.ts";
import { runSsrfCase } from "./net/ssrf-driver.ts";
import { namespaceMissing } from "./net/ssrf-namespace.ts";
import { runConfigCase } from "./policy/config-driver.ts";
import { runPolicyCase } from "./policy/policy-driver.ts";
import { type FrameCase, runFrameCase } from "./protocol/frames-driver.ts";
import { runSecretsCase } from "./redact/secrets-driver.ts";
import { runWebuiCase } from "./serve/webui-driver.ts";
import { runStoreCase } from "./store/store-driver.ts";
import { type Case, type CaseDriver, type CaseResult, casesIn } from "./support/case.ts";

/** One driver for each group. A new group is a new row. */
export const drivers: Record<string, CaseDriver> = {
  frames: (given, { driver }) =>
    driver === "cli"
      ? runFrameCaseByAdapter(given as unknown as FrameCase)
      : runFrameCase(given as unknown as FrameCase),
  hooks: runHookCase,
  mcp: runMcpCase,
  process: runProcessCase,
  sandbox: runSandboxCase,
  config: runConfigCase,
  model: async (given, options) => {
    const direct = await runModelCase(given);
    const isForAdapter = "authProfiles" in given.config || "fallbackModels" in given.config;
    return isForAdapter && options.driver === "cli" && direct.pass ? runModelCaseByAdapter(given) : direct;
  },
  ssrf: runSsrfCase,
  secrets: runSecretsCase,
  shell: runPolicyCase,
  benign: runPolicyCase,
  paths: runPolicyCase,
  store: runStoreCase,
  webui: runWebuiCase,
  "hooks-bridge": runBridgeCase,
};

/** What this machine lacks for the cases of a group: such cases are skipped. */
export function missingFor(group: string, driver: "library" | "cli"): string | undefined {
  if (group === "sandbox") return sandboxMissing();
  return group === "ssrf" && driver === "cli" ? namespaceMissing() : undefined;
}

const usage = "Usage: npm run cases -- FILE|DIR… [--driver library|cli] [--json] [--long]";

export async function main(argv: readonly string[]): Promise<number> {
  const paths: string[] = [];
  let driver: "library" | "cli" = "library";
  let json = false;
  let long = false;
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index]!;
    if (word === "--json") json = true;
    else if (word === "--long") long = true;
    else if (word === "--driver" && /^(library|cli)$/.test(argv[index + 1] ?? ""))
      driver = argv[++index] as typeof driver;
    else if (word.startsWith("-")) return fail(`unknown or incomplete option ${word}`);
    else paths.push(word);
  }
  if (paths.length === 0) return fail("no file given");

  const results: (CaseResult & { id: string })[] = [];
  for (const file of paths.flatMap(filesAt)) {
    for (const given of casesIn(file)) {
      const result = await runCase(given, driver, long);
      results.push({ id: given.id, ...result });
      if (!json)
        console.log(
          `${mark(result)} ${given.id}  ${result.skipped ?? `${result.verdict} (expected ${result.expected})`}${result.pass ? "" : `  ${result.detail}`}`,
        );
    }
  }
  const ran = results.filter((result) => !result.skipped);
  const safe = ran.filter((result) => result.safe).length;
  const exact = ran.filter((result) => result.exact).length;
  const passed = ran.length > 0 && safe === ran.length && exact >= 0.95 * ran.length;
  const summary = { cases: results.length, skipped: results.length - ran.length, safe, exact, passed };
  if (json) console.log(JSON.stringify({ summary, results }, undefined, 2));
  else console.log(`\n${ran.length} run, ${summary.skipped} skipped: ${safe} safe, ${exact} exact`);
  return passed ? 0 : 1;
}

export async function runCase(given: Case, driver: "library" | "cli", long: boolean): Promise<CaseResult> {
  const run = drivers[given.group];
  if (!run)
    return {
      pass: false,
      safe: true,
      exact: false,
      verdict: "-",
      expected: "-",
      detail: "",
      skipped: `there is no driver for the group '${given.group}' yet`,
    };
  try {
    return await run(long ? given : shortened(given), { driver, long });
  } catch (error) {
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { pass: false, safe: false, exact: false, verdict: "driver failed", expected: "-", detail };
  }
}

/** The short form waits a part of the time, asks a refusing model less often and gives quick hooks time. How long it may take at most stays as it is. */
function shortened(given: Case): Case {
  const { config, expect } = given;
  if (given.group === "sandbox" && / after \d/.test(JSON.stringify(expect))) {
    const delay = /\b(sleep[ (]|after )(\d+(?:\.\d+)?)/g;
    return JSON.parse(JSON.stringify(given).replace(delay, (_, word, seconds) => `${word}${Number(seconds) / 3}`));
  }
  if (given.group === "hooks") return withTimeToAnswer(given);
  if (!["process", "model"].includes(given.group)) return given;
  const limits = ["timeout_ms", "idle_ms", "grace_ms"].filter((name) => config[name] !== undefined);
  const short = {
    ...given,
    config: { ...config, ...Object.fromEntries(limits.map((name) => [name, config[name] / 2])) },
  };
  const spared = "attempts_max" in expect ? Math.max(0, (config["retries"] ?? 0) - 3) : 0;
  if (spared === 0) return short;
  short.config["retries"] -= spared;
  return { ...short, expect: { ...expect, attempts_max: expect["attempts_max"] - spared } };
}

/** A hook that answers at once is not about its time limit, which a busy machine would exceed. */
function withTimeToAnswer(given: Case): Case {
  const { config, input } = given;
  const hooks = [input["hook"], input["second"]].filter((hook) => hook !== undefined);
  const waits = hooks.some((hook) => "delay_ms" in hook || "stubborn" in hook || "stdout_gen" in hook);
  const entry = config["hook_entry"];
  if (waits || entry?.timeout === undefined) return given;
  return { ...given, config: { ...config, hook_entry: { ...entry, timeout: Math.max(entry.timeout, 30) } } };
}

function filesAt(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((name) => join(path, name));
}

function mark(result: CaseResult): string {
  if (result.skipped) return "skip";
  return result.pass ? "ok  " : result.safe ? "MISS" : "FAIL";
}

function fail(message: string): number {
  console.error(`${message}\n${usage}`);
  return 2;
}
