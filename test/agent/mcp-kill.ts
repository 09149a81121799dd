// `npm run test:mcp-kill -- --rounds N`: runs with three servers, one of which ignores every signal, are killed at random
// moments. Nothing of them may be left.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createWorkspace, repository, type Workspace } from "../support/run-cli.ts";

const fixture = join(repository, "test/support/mcp-server.mjs");
const signals = ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"] as const;

/** Rounds, how many of them saw a server, and the processes that outlived their run by more than two seconds. */
export async function killRuns(rounds: number): Promise<{ rounds: number; served: number; survivors: string[] }> {
  const place = createWorkspace();
  const survivors: string[] = [];
  let served = 0;
  try {
    for (let round = 0; round < rounds; round++) {
      const mark = `round=${process.pid}-${round}`;
      const seen = await killOne(place, mark, signals[round % signals.length]!);
      if (seen) served++;
      survivors.push(...(await left(mark)));
    }
  } finally {
    place.remove();
  }
  return { rounds, served, survivors };
}

async function killOne(place: Workspace, mark: string, signal: NodeJS.Signals): Promise<boolean> {
  const demo = (...modes: string[]) => ({ command: process.execPath, args: [fixture, mark, ...modes] });
  const wrapped = { command: "sh", args: ["-c", `${process.execPath} ${fixture} ${mark} & wait`] };
  const mcpServers = { one: demo(), two: demo("stay"), three: wrapped };
  writeFileSync(join(place.home, "mcp.json"), JSON.stringify({ mcpServers }));
  const script = [
    {
      calls: [
        { name: "one-slow", args: {} },
        { name: "two-slow", args: {} },
      ],
    },
    { text: "ok" },
  ];
  let seen = false;
  await place.play(script, ["--mcp-config", join(place.home, "mcp.json")], {
    onStart: (child) => {
      setTimeout(() => {
        seen = alive(mark).length > 0;
        child.kill(signal);
      }, Math.random() * 1200);
    },
  });
  return seen;
}

/** Those that are still there after two seconds. */
async function left(mark: string): Promise<string[]> {
  for (let wait = 0; wait < 100; wait++) {
    if (alive(mark).length === 0) return [];
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return alive(mark);
}

function alive(mark: string): string[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
      return command.includes(fixture) && command.includes(mark) ? [`${name}: ${command}`] : [];
    } catch {
      return [];
    }
  });
}

export async function main(argv: readonly string[]): Promise<number> {
  const at = argv.indexOf("--rounds");
  const { rounds, served, survivors } = await killRuns(at === -1 ? 100 : Number(argv[at + 1]));
  console.log(`${rounds} runs killed, ${served} of them with servers running: ${survivors.length} processes left`);
  for (const survivor of survivors) console.log(survivor);
  return survivors.length === 0 ? 0 : 1;
}
