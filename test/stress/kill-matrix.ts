// `npm run long -- kill-matrix --rounds N`: every signal in every state of a run, with and without the sandbox. Nothing may be
// left of it; whoever could still speak has said one result, with its exit code and the end of every call.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { uniqueSleep } from "../agent/process-support.ts";
import { chanceOf } from "../support/chance.ts";
import { repository } from "../support/run-cli.ts";
import { type FaultedRun, faultsOf } from "./faulted-run.ts";

const chance = chanceOf("stress/kill-matrix");

const signals = ["SIGKILL", "SIGQUIT", "SIGTERM", "SIGINT", "SIGHUP"] as const;
const modes = ["--force", "--trust"] as const;
const server = join(repository, "test/support/mcp-server.mjs");

type State = Pick<FaultedRun, "model" | "args" | "files" | "unchanged"> & {
  /** From the start of the run; else the signal comes when something with the token is seen. */
  withinMs?: number;
  /** Only in one of the modes. */
  mode?: (typeof modes)[number];
};

const shell = (command: string, more: object = {}) => ({
  model: { script: [{ calls: [{ name: "Shell", args: { command, ...more } }] }, { delayMs: 60_000, text: "late" }] },
});
const hook = (event: string, token: string) => ({
  "home/.cursor/hooks.json": JSON.stringify({ version: 1, hooks: { [event]: [{ command: `sleep ${token}` }] } }),
});

/** Calls that come after what holds the run up: nothing of them may happen once it was stopped. */
const queued = {
  calls: [
    { name: "Write", args: { path: "made.txt", contents: "made" } },
    { name: "Delete", args: { path: "precious.txt" } },
    { name: "Shell", args: { command: "echo ran > ran.txt" } },
  ],
  files: { "work/precious.txt": "precious" },
  unchanged: { "work/precious.txt": "precious", "work/made.txt": null, "work/ran.txt": null },
};
const task = { name: "Task", args: { description: "look", prompt: "look", subagent_type: "generalPurpose" } };

/** What a run is doing when the signal comes. */
const states: Record<string, (token: string) => State> = {
  "just started": () => ({ ...shell("true"), withinMs: 150 }),
  "anywhere at all": (token) => ({ ...shell(`sleep ${token}`), withinMs: 700 }),
  "waiting for the model": () => ({ model: { script: [{ delayMs: 60_000, text: "late" }] }, withinMs: 600 }),
  "a command": (token) => shell(`sleep ${token}`),
  "a deaf command": (token) => shell(`trap '' TERM INT HUP QUIT; sleep ${token} & sleep ${token}; wait`),
  "a session of its own": (token) => shell(`setsid sleep ${token} & wait`),
  "a double fork": (token) => shell(`(setsid nohup sleep ${token} >/dev/null 2>&1 &); sleep ${token}`),
  "an empty environment": (token) => shell(`env -i sleep ${token}`),
  "in the background": (token) => shell(`sleep ${token}`, { isBackground: true }),
  "side by side": (token) => ({
    model: {
      script: [
        { calls: [1, 2, 3].map(() => ({ name: "Shell", args: { command: `sleep ${token}` } })) },
        { text: "late" },
      ],
    },
  }),
  "a hook": (token) => ({ ...shell("true"), files: hook("beforeShellExecution", token) }),
  "a question": (token) => ({
    model: { script: [{ calls: [{ name: "Delete", args: { path: "a.txt" } }] }, { text: "late" }] },
    files: { "work/a.txt": "a" },
    args: ["--ask-command", `sleep ${token}`, "go"],
    mode: "--trust",
  }),
  "a server": (token) => ({
    model: { script: [{ calls: [{ name: "one-slow", args: {} }] }, { text: "late" }] },
    files: {
      "servers.json": JSON.stringify({
        mcpServers: {
          one: { command: process.execPath, args: [server, token] },
          two: { command: process.execPath, args: [server, token, "stay"] },
          three: { command: "sh", args: ["-c", `${process.execPath} ${server} ${token} & wait`] },
        },
      }),
    },
    args: ["--mcp-config", "BASE/servers.json", "go"],
    mode: "--force",
  }),
  "a subagent": (token) => ({
    model: {
      script: [
        { calls: [task] },
        { calls: [{ name: "Shell", args: { command: `sleep ${token}` } }] },
        { delayMs: 60_000, text: "late" },
      ],
    },
  }),
  "calls queued behind a command": (token) => ({
    ...queued,
    model: {
      script: [
        { calls: [{ name: "Shell", args: { command: `sleep ${token}` } }, ...queued.calls] },
        { delayMs: 60_000, text: "late" },
      ],
    },
  }),
  "calls that a hook decides about": (token) => ({
    ...queued,
    model: { script: [{ calls: queued.calls }, { delayMs: 60_000, text: "late" }] },
    files: { ...queued.files, ...hook("preToolUse", token) },
  }),
  "calls queued behind a question": (token) => ({
    model: {
      script: [
        { calls: ["a.txt", "b.txt"].map((path) => ({ name: "Delete", args: { path } })) },
        { delayMs: 60_000, text: "late" },
      ],
    },
    files: { "work/a.txt": "a", "work/b.txt": "b" },
    unchanged: { "work/a.txt": "a", "work/b.txt": "b" },
    args: ["--ask-command", `sleep ${token}`, "go"],
    mode: "--trust",
  }),
  "calls queued in a subagent": (token) => ({
    ...queued,
    model: {
      script: [
        { calls: [task] },
        { calls: [{ name: "Shell", args: { command: `sleep ${token}` } }, ...queued.calls] },
        { delayMs: 60_000, text: "late" },
      ],
    },
  }),
};

type Cell = { state: string; signal: (typeof signals)[number]; mode: (typeof modes)[number] };

export const cells: Cell[] = Object.entries(states).flatMap(([state, stateOf]) =>
  modes
    .filter((mode) => (stateOf("").mode ?? mode) === mode)
    .flatMap((mode) => signals.map((signal) => ({ state, signal, mode }))),
);

/** What is wrong, by its cell. */
export async function killAll(chosen: readonly Cell[], concurrency: number): Promise<string[]> {
  const faults: string[] = [];
  const left = [...chosen];
  const work = async () => {
    for (let cell = left.shift(); cell; cell = left.shift()) {
      const name = `${cell.state}, ${cell.signal}, ${cell.mode}`;
      const { faults: found } = await killOne(cell, name).catch((error: Error) => ({
        faults: [error.stack ?? error.message],
      }));
      faults.push(...found.map((fault) => `${name}: ${fault}`));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return faults;
}

function killOne({ state, signal, mode }: Cell, name: string) {
  const token = uniqueSleep();
  const { withinMs, ...run } = states[state]!(token);
  const moment =
    withinMs === undefined ? { afterMs: chance() * 20, once: "seen" as const } : { afterMs: chance() * withinMs };
  return faultsOf({ ...run, name, token, mode, signals: [{ name: signal, ...moment }] });
}

export async function main(argv: readonly string[]): Promise<number> {
  const number = (flag: string, otherwise: number) => Number(argv[argv.indexOf(flag) + 1 || -1] ?? otherwise);
  const rounds = number("--rounds", 1);
  const concurrency = number("--concurrency", 3);
  let count = 0;
  for (let round = 1; round <= rounds; round++) {
    const faults = await killAll(cells, concurrency);
    count += faults.length;
    for (const fault of faults) console.log(fault);
    console.log(`round ${round}: ${cells.length} runs killed, ${faults.length} faults. Load: ${loadNow()}`);
  }
  console.log(`${rounds * cells.length} runs killed in ${Object.keys(states).length} states: ${count} faults`);
  return count === 0 ? 0 : 1;
}

function loadNow(): string {
  try {
    return readFileSync("/proc/loadavg", "latin1").split(" ")[0]!;
  } catch {
    return "unknown";
  }
}
