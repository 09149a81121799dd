// Processor time beside an agent that does nothing but the turn (floor-agent.mjs): a turn with one call, each further call; and a
// background run beside the same run in print mode.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { modelServer } from "../src/testing/kit/model-server.ts";
import { median, type Program, processorTime, runOnce } from "./measure.ts";

type Place = { workspace: string; config: string; env: Record<string, string> };

/** Ratios of processor time. */
export type FloorFigures = { toolTurn: number; furtherCall: number; background: number; floorMs: number };

const many = 100;
const maxWaitMs = 30_000;

export async function floorFigures(cli: string, place: Place, rounds: number): Promise<FloorFigures> {
  const server = await modelServer(({ path, json }) => {
    const wanted = Number(/^\/(\d+)\//.exec(path)?.[1]);
    const { messages } = json as { messages: { role: string }[] };
    const done = messages.filter(({ role }) => role === "tool").length;
    return done < wanted ? { toolCalls: [{ name: "Shell", args: { command: `echo hi ${done}` } }] } : { text: "4" };
  });
  const node = (...args: string[]): Program => ({
    command: process.execPath,
    args,
    cwd: place.workspace,
    env: place.env,
  });
  const ours = (calls: number, ...mode: string[]) =>
    node(cli, ...mode, "--force", "-e", `${server.url}/${calls}/v1`, "--model", "bench", "go");
  const floor = (calls: number) => {
    const session = join(place.config, "session.jsonl");
    return node(join(import.meta.dirname, "floor-agent.mjs"), `${server.url}/${calls}/v1`, session);
  };
  const inPrint = (calls: number) => ours(calls, "-p", "--output-format", "stream-json");
  const inBackground = ours(1, "-b");
  // This process stands in for the service, which is started once for any number of runs.
  writeFileSync(join(place.config, "serve.json"), JSON.stringify({ pid: process.pid, port: 1, token: "none" }));
  const times: Record<string, number[]> = {};
  const add = (name: string, ms: number) => (times[name] ??= []).push(ms);
  try {
    for (let round = -1; round < rounds; round++) {
      const taken = {
        floor: await processorTime(floor(1)),
        floorMany: await processorTime(floor(many)),
        turn: await processorTime(inPrint(1)),
        turnMany: await processorTime(inPrint(many)),
        print: await ownTime(inPrint(1), place, 1),
        background: await ownTime(inBackground, place, 2),
      };
      if (round >= 0) for (const [name, ms] of Object.entries(taken)) add(name, ms);
    }
  } finally {
    await server.stop();
  }
  const of = (name: string) => median(times[name]!);
  return {
    toolTurn: of("turn") / of("floor"),
    furtherCall: (of("turnMany") - of("turn")) / (of("floorMany") - of("floor")),
    background: of("background") / of("print"),
    floorMs: of("floor"),
  };
}

/** Of so many processes of Node, one of which may outlive the program; without the commands that they run. */
async function ownTime(program: Program, { config }: Place, processes: number): Promise<number> {
  const file = join(config, "usage.txt");
  rmSync(file, { force: true });
  const preload = join(import.meta.dirname, "own-usage.cjs");
  const env = { ...program.env, COURSER_BENCH_USAGE: file, NODE_OPTIONS: `--require=${preload}` };
  const { exit, stderr } = await runOnce({ ...program, env });
  if (exit !== 0) throw new Error(`${program.args.join(" ")} ended with ${exit}: ${stderr.slice(0, 500)}`);
  for (let waited = 0; waited < maxWaitMs; waited += 20) {
    const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
    if (lines.length >= processes) return lines.reduce((sum, line) => sum + Number(line.split(" ")[1]), 0);
    await sleep(20);
  }
  throw new Error(`${program.args.join(" ")} did not end`);
}
