// `npm run long -- try-agents DIR`: real agent CLIs, from npm, driven through the SDK on a model on loopback. DIR holds them: what is
// missing there is installed, which needs the network.
//   npm run long -- try-agents DIR [--only claude,codex] [--scenario text,tool] [--write]
// `--write` puts the table into docs/sdk/agents.md.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { documentedTest } from "./agents/documented-test.ts";
import { type Peer, peers } from "./agents/peers.ts";
import { scenarios } from "./agents/scenarios.ts";
import { type PeerCli, Trial } from "./agents/trial.ts";
import { installed, newerNode } from "./support/peer-cli.ts";

const page = resolve(import.meta.dirname, "../docs/sdk/agents.md");

type Cell = { problem?: string | undefined; limit?: string | undefined };
type Column = { tool: string; version: string; cells: Map<string, Cell> };

export async function main(argv: readonly string[]): Promise<number> {
  const [folder] = argv;
  if (folder === undefined || folder.startsWith("-")) {
    console.error("Which folder holds the CLIs? npm run long -- try-agents DIR");
    return 2;
  }
  const value = (name: string) => (argv.includes(name) ? argv[argv.indexOf(name) + 1]!.split(",") : undefined);
  const only = value("--only");
  const wanted = value("--scenario");
  const columns: Column[] = [];
  for (const [tool, peer] of Object.entries(peers) as [PeerCli["tool"], Peer][])
    if (!only || only.includes(tool)) columns.push(await tried({ tool, peer, folder: resolve(folder), wanted }));
  if (argv.includes("--write")) writeTable(columns);
  const isDocumented = (!only || only.includes("claude")) && (!wanted || wanted.includes("docs/testing.md"));
  const problem = isDocumented ? await documentedTest(join(resolve(folder), "claude/node_modules/.bin")) : undefined;
  if (isDocumented) console.log(`docs/testing.md, claude.test.ts: ${problem ?? "right"}`);
  const all = columns.flatMap(({ cells }) => [...cells.values()]);
  const wrong = all.filter(({ problem, limit }) => (problem === undefined) !== (limit === undefined));
  console.log(
    `${all.length} trials, ${all.filter(({ limit }) => limit).length} documented limits, ${wrong.length} wrong`,
  );
  return wrong.length > 0 || problem !== undefined ? 1 : 0;
}

type Wanted = { tool: PeerCli["tool"]; peer: Peer; folder: string; wanted: readonly string[] | undefined };

async function tried({ tool, peer, folder, wanted }: Wanted): Promise<Column> {
  const node22 = peer.node22 ? await newerNode(join(folder, "node22")) : undefined;
  const program = await installed(peer.package, peer.program, join(folder, tool), node22);
  const cli: PeerCli = { tool, peer, program, node22 };
  const cells = new Map<string, Cell>();
  for (const [name, scenario] of Object.entries(scenarios)) {
    if (wanted && !wanted.includes(name)) continue;
    await using trial = await Trial.begin(cli);
    const before = performance.now();
    const problem = await scenario(trial).catch((error: Error) => error.stack ?? String(error));
    const limit = peer.limits?.[name] ?? (problem === undefined ? undefined : peer.occasionalLimits?.[name]);
    cells.set(name, { problem, limit });
    const time = `${Math.round(performance.now() - before)} ms`;
    if (problem === undefined)
      console.log(`${tool} ${name}: ${limit ? `WRONG, the limit is gone: ${limit}` : "right"} (${time})`);
    else console.log(`${tool} ${name}: ${limit ? `limit, ${limit}` : `WRONG, ${problem}`} (${time})`);
  }
  return { tool, version: /@([\d.]+)$/.exec(peer.package)?.[1] ?? "", cells };
}

/** Between the two comments of the page: what works everywhere in a line, the rest with its limits; what could not be tried stays out. */
function writeTable(columns: readonly Column[]): void {
  const cell = ({ cells }: Column, name: string) => {
    const { problem, limit } = cells.get(name) ?? { problem: "not tried" };
    return problem === undefined ? "✓" : (limit ?? "✗");
  };
  const rows = Object.keys(scenarios).map((name) => [name, ...columns.map((column) => cell(column, name))]);
  const isLimited = (row: string[]) => row.slice(1).some((each) => each !== "✓");
  const everywhere = rows.filter((row) => !isLimited(row)).map(([name]) => name);
  const head = ["", ...columns.map(({ tool, version }) => `${tool} ${version}`)];
  const table = [head, head.map(() => "---"), ...rows.filter(isLimited)].map((row) => `| ${row.join(" | ")} |`);
  const text = [`✓ with all: ${everywhere.join(", ")}.`, "", ...table].join("\n");
  const [before, after] = readFileSync(page, "utf8").split(/<!-- table -->[\s\S]*<!-- \/table -->/);
  writeFileSync(page, `${before}<!-- table -->\n\n${text}\n\n<!-- /table -->${after}`);
}
