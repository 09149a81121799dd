// Runs a case of the groups `shell`, `benign` and `paths`: as a library, and as a black box with the built CLI.
import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { builtInTools, findTool } from "../../src/agent/tools/index.ts";
import { ToolFailure } from "../../src/agent/tools/tool.ts";
import { decide } from "../../src/policy/decide.ts";
import type { Decision, Verdict } from "../../src/policy/need.ts";
import { atExit } from "../support/at-exit.ts";
import type { Case, CaseResult } from "../support/case.ts";
import { toolContext } from "../support/tool-context.ts";
import {
  type Fixture,
  makeRepository,
  removeFixture,
  rulesOf,
  type Setup,
  setUpFixture,
  situationOf,
} from "./fixture.ts";
import { runInCli } from "./policy-cli.ts";

export type PolicyConfig = {
  mode?: "default" | "print" | "force";
  allow?: string[];
  deny?: string[];
  source?: "user" | "project";
  trusted?: boolean;
};

export type PolicyInput = {
  tool: string;
  command?: string;
  workingDirectory?: string;
  effect?: string;
  runnable?: boolean;
  setup?: Setup;
  race?: { swap_dir_to_symlink: string };
} & Record<string, unknown>;

/** What was seen: the answer, what the call printed, and how long all of it took. */
export type Seen = { verdict: Verdict; reasons: string[]; output: string; ms: number };

export async function runPolicyCase(
  given: Case,
  { driver }: { driver: "library" | "cli" } = { driver: "library" },
): Promise<CaseResult> {
  if (driver === "cli") return (await runPolicyCasesInCli([given]))[0]!;
  const { seen, faults } = await asLibrary(given);
  return judged(given, seen, faults);
}

/** Cases with the same of this may share a run of the CLI: they change nothing, neither before nor by their call. */
export function sharedRunOf({ group, config, input, expect }: Case): string | undefined {
  const isPolicy = group in { shell: 1, benign: 1, paths: 1 };
  if (!isPolicy || input["setup"] || input["race"] || expect["max_ms"] || expect["acceptable"].includes("allow"))
    return;
  return JSON.stringify(config);
}

/** Both ways, which must agree. Several cases have the settings of the first. */
export async function runPolicyCasesInCli(cases: readonly Case[]): Promise<CaseResult[]> {
  const libraries = await Promise.all(cases.map(asLibrary));
  // Nothing that must not run is run, not even to see whether it does.
  const isTried = cases.map(({ input, expect }, index) => {
    const mayRun = input["runnable"] !== false || expect["acceptable"].includes("allow");
    return !input["race"] && (libraries[index]!.seen.verdict !== "allow" || mayRun);
  });
  const tried = cases.filter((_, index) => isTried[index]);
  const verdicts = libraries.filter((_, index) => isTried[index]).map(({ seen }) => seen.verdict);
  const run: Run = (fixture, config, inputs) => runInCli(fixture, config, inputs, verdicts);
  const seenInCli = tried.length === 0 ? [] : await inFixture(tried, run);
  return cases.map((given, index) => {
    const library = libraries[index]!;
    if (!isTried[index]) return judged(given, library.seen, library.faults);
    const cli = seenInCli[tried.indexOf(given)]!;
    if (cli.seen.verdict === library.seen.verdict) return judged(given, cli.seen, cli.faults);
    const difference = `the drivers differ: library ${library.seen.verdict}, cli ${cli.seen.verdict}`;
    return { ...judged(given, cli.seen, [...cli.faults, difference]), pass: false, safe: false, exact: false };
  });
}

type Run = (fixture: Fixture, config: PolicyConfig, inputs: readonly PolicyInput[]) => Promise<Seen[]>;
type SeenWithFaults = { seen: Seen; faults: string[] };

async function asLibrary(given: Case): Promise<SeenWithFaults> {
  const run: Run = async (fixture, config, [input]) => [await runAsLibrary(fixture, config, input!)];
  return (await inFixture([given], run, isOnlyJudged(given) ? sharedFixture : ownFixture))[0]!;
}

/** A command is judged here and never run, so that nothing changes the place it is judged in. */
function isOnlyJudged({ input }: Case): boolean {
  return (input as PolicyInput).tool === "shell" && input["setup"] === undefined;
}

type Lent = { fixture: Fixture; before: Snapshot | undefined; giveBack(isUnchanged: boolean): void };

function ownFixture(): Lent {
  const fixture = makeRepository();
  return { fixture, before: undefined, giveBack: () => removeFixture(fixture) };
}

let shared: { fixture: Fixture; before: Snapshot } | undefined;

/** The same one again and again, as long as it is as it was. */
function sharedFixture(): Lent {
  if (!shared) {
    const fixture = makeRepository();
    atExit(() => removeFixture(fixture));
    shared = { fixture, before: snapshot(fixture) };
  }
  return {
    ...shared,
    giveBack(isUnchanged) {
      if (!isUnchanged) shared = undefined;
    },
  };
}

async function inFixture(cases: readonly Case[], run: Run, lend = ownFixture): Promise<SeenWithFaults[]> {
  const { fixture, giveBack, ...lent } = lend();
  let isUnchanged = false;
  try {
    const filled = cases.map((given) => filledIn(given, fixture));
    const [{ config, input: first }] = filled as [(typeof filled)[0]];
    const { given: workspace } = setUpFixture(fixture, first.setup);
    const before = lent.before ?? snapshot(fixture);
    const seen = await run(
      { ...fixture, workspace },
      config,
      filled.map(({ input }) => input),
    );
    const after = snapshot(fixture);
    isUnchanged = isDeepStrictEqual(before, after);
    return filled.map(({ input, expect }, index) => ({
      seen: seen[index]!,
      faults: faultsOf({ input, expect, seen: seen[index]!, before, after, fixture }),
    }));
  } finally {
    giveBack(isUnchanged);
  }
}

function filledIn(given: Case, { workspace, home }: Fixture) {
  const replace = (text: string) => text.replaceAll("{WS}", workspace).replaceAll("{HOME}", home);
  const filled = (value: unknown): unknown => {
    if (typeof value === "string") return replace(value);
    if (Array.isArray(value)) return value.map(filled);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [replace(key), filled(each)]));
  };
  return filled(given) as { config: PolicyConfig; input: PolicyInput; expect: Case["expect"] };
}

/** `evaluateToolCall`: the tool's own check of its arguments, then the decision; files are then used for real. */
async function runAsLibrary(fixture: Fixture, config: PolicyConfig, input: PolicyInput): Promise<Seen> {
  const started = performance.now();
  const { tool: name, args } = toolCall(input);
  const home = process.env["HOME"];
  process.env["HOME"] = fixture.home;
  try {
    const tool = findTool(builtInTools, name)!;
    const real = makeReal(fixture);
    const context = toolContext(real.workspace);
    let decision: Decision;
    let parsed: unknown;
    try {
      parsed = tool.parse(args);
      decision = await decide(tool.needs(parsed, context), situationFor(real, config));
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      decision = { verdict: "deny", reasons: [error.message] };
    }
    const { verdict, reasons } = decision;
    let output = "";
    if (verdict === "allow" && input.tool !== "shell") {
      if (input.race) swap(real, input);
      const { approved, mayRead } = decision;
      const result = tool.run(parsed, { ...context, ...(approved && { approved }), ...(mayRead && { mayRead }) });
      output = await result.then(
        (end) => end.text,
        (error: Error) => error.message,
      );
    }
    return { verdict, reasons, output, ms: performance.now() - started };
  } finally {
    if (home === undefined) delete process.env["HOME"];
    else process.env["HOME"] = home;
  }
}

/** The case names tools as the stream does; a model calls them by their own names. */
export function toolCall(input: PolicyInput): { tool: string; args: Record<string, unknown> } {
  const { tool, setup: _setup, race: _race, effect: _effect, runnable: _runnable, ...args } = input;
  const names: Record<string, string> = {
    read: "Read",
    edit: "Write",
    write: "Write",
    delete: "Delete",
    ls: "LS",
    grep: "Grep",
    glob: "Glob",
  };
  return { tool: names[tool] ?? "Shell", args };
}

function makeReal(fixture: Fixture): Fixture {
  return { ...fixture, workspace: join(fixture.base, "ws") };
}

export function situationFor(fixture: Fixture, config: PolicyConfig) {
  const scope = config.source === "project" ? "project" : "user";
  const isUntrusted = scope === "project" && config.trusted === false;
  const rules = rulesOf({ ...config, ...(isUntrusted && { allow: [] }) }, scope);
  const mode = config.mode === "force" ? "force" : "default";
  return situationOf(fixture, { mode, interactive: config.mode !== "print", rules });
}

/** Between check and use the folder becomes a link. */
function swap({ workspace }: Fixture, input: PolicyInput): void {
  const folder = join(workspace, String(input["path"]).split("/")[0]!);
  if (existsSync(folder)) renameSync(folder, `${folder}-before`);
  symlinkSync(input.race!.swap_dir_to_symlink, folder);
}

type Snapshot = { outside: string; files: Map<string, string> };

/** Everything outside the workspace, and the protected files in it. */
function snapshot({ base }: Fixture): Snapshot {
  const files = new Map<string, string>();
  const visit = (folder: string) => {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      const stat = lstatSync(path);
      if (stat.isDirectory()) visit(path);
      else files.set(path, stat.isFile() && stat.size < 100_000 ? readFileSync(path, "latin1") : "");
    }
  };
  visit(base);
  const outside = [...files].filter(
    ([path]) => !path.startsWith(join(base, "ws/")) && !/^\/[^/]*config/.test(path.slice(base.length)),
  );
  return { outside: JSON.stringify(outside), files };
}

type Judged = {
  input: PolicyInput;
  expect: Case["expect"];
  seen: Seen;
  before: Snapshot;
  after: Snapshot;
  fixture: Fixture;
};

/** How many times longer than on an idle machine it takes to start Node now. */
function slowness(): number {
  const started = performance.now();
  spawnSync(process.execPath, ["-e", "0"]);
  return (performance.now() - started) / 50;
}

/** What the case says about more than the answer, read literally. */
function faultsOf({ input, expect, seen, before, after, fixture }: Judged): string[] {
  const faults: string[] = [];
  const isProtected = (path: string) => /\/\.(cursor|git|vscode)\//.test(path.slice(fixture.base.length));
  if (expect["protected_unchanged"])
    for (const [path, text] of before.files)
      if (isProtected(path) && after.files.get(path) !== text) faults.push(`${path} was changed`);
  if (expect["outside_unchanged"] && before.outside !== after.outside) faults.push("something outside was changed");
  for (const text of expect["must_not_contain"] ?? [])
    if (seen.output.includes(text)) faults.push(`the output holds ${text}`);
  const maxMs = expect["max_ms"];
  if (maxMs !== undefined && seen.ms > maxMs && seen.ms > maxMs * slowness())
    faults.push(`it took ${Math.round(seen.ms)} ms`);
  if (seen.verdict !== "allow" && input.effect !== "none" && input.effect && happened(input.effect, fixture))
    faults.push(`${input.effect} happened`);
  return faults;
}

/** Did what the command does in a real shell come to be? */
export function happened(effect: string, { base, workspace, home }: Fixture): boolean {
  const ws = existsSync(workspace) ? workspace : join(base, "ws");
  const [kind, path = ""] = effect.split(/:(.*)/s);
  switch (kind) {
    case "pwned":
      return existsSync(join(ws, "pwned"));
    case "victim_deleted":
      return !existsSync(join(ws, "victim.txt"));
    case "victim_truncated":
      return existsSync(join(ws, "victim.txt")) && statSync(join(ws, "victim.txt")).size === 0;
    case "file_written":
      return existsSync(join(ws, path));
    case "home_written":
      return existsSync(join(home, path));
    case "outside_written":
      return statSync(join(base, "outside.txt")).size > 0;
    default:
      return false;
  }
}

function judged({ expect }: Case, seen: Seen, faults: readonly string[]): CaseResult {
  const { verdict, acceptable } = expect as { verdict: string; acceptable: string[] };
  const isAllowed = acceptable.includes(seen.verdict);
  const safe = isAllowed && faults.length === 0;
  const exact = safe && seen.verdict === verdict;
  const detail = [...faults, ...(isAllowed ? [] : [`${seen.verdict} is not acceptable`]), ...seen.reasons].join("; ");
  return { pass: safe && exact, safe, exact, verdict: seen.verdict, expected: verdict, detail };
}
