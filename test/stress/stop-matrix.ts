// `npm run long -- stop-matrix --rounds N`: every way to stop a run, at every moment of a call, for every kind of tool. Nothing
// begins after the stop, and every call that was shown has exactly one end, in the stream and in the chats.
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { projectId } from "../../src/store/chats/layout.ts";
import { readChat } from "../../src/store/chats/read-chat.ts";
import { until } from "../agent/process-support.ts";
import { spawnOwned } from "../support/at-exit.ts";
import { numbersFrom, underWatch } from "../support/long-script.ts";
import { cli, createWorkspace, repository, type Workspace } from "../support/run-cli.ts";
import { type BackgroundRun, startInBackground } from "./background-door.ts";

type Call = { name: string; args: object };
type Line = Record<string, any>;

const shell = (command: string, more: object = {}): Call => ({ name: "Shell", args: { command, ...more } });
/** Hooks and commands run in folders of their own. */
const reach = 'touch "$HOME/reached"';

/** One call of each kind of tool, and how it is seen that it began. What an answer of a subagent does counts as the Task's. */
const tools: Record<string, { call: Call; hasBegun(place: Workspace): boolean }> = {
  shell: { call: shell("touch by-shell"), hasBegun: made("by-shell") },
  background: { call: shell("touch by-background", { isBackground: true }), hasBegun: made("by-background") },
  mcp: { call: { name: "one-add", args: { a: 1, b: 2 } }, hasBegun: made("by-mcp") },
  task: {
    call: { name: "Task", args: { description: "work", prompt: "work", subagent_type: "generalPurpose" } },
    hasBegun: made("by-task"),
  },
  write: { call: { name: "Write", args: { path: "folder/by-write", content: "x" } }, hasBegun: made("folder") },
  edit: {
    call: { name: "Edit", args: { path: "kept.txt", edits: [{ oldText: "kept", newText: "lost" }] } },
    hasBegun: ({ path }) => readFileSync(join(path, "kept.txt"), "utf8") !== "kept",
  },
  delete: {
    call: { name: "Delete", args: { path: "precious.txt" } },
    hasBegun: ({ path }) => !existsSync(join(path, "precious.txt")),
  },
};

/** Commands run beside each other, files beside each other, and each of them behind the other. */
const orders = {
  "commands first": ["shell", "background", "mcp", "task", "write", "edit", "delete"],
  "files first": ["write", "edit", "delete", "shell", "background", "mcp", "task"],
} as const;
type Order = keyof typeof orders;

type Situation = {
  /** The replies of the model: of the run, then of its subagents. */
  script: object[];
  hooks?: Record<string, object[]>;
  args?: readonly string[];
  /** Waits in a snapshot. */
  holdsSnapshots?: boolean;
  /** The host lets no call begin. */
  holdsCalls?: boolean;
  /** How many have come to the moment when it is reached. */
  reached?(place: Workspace): boolean;
};

const byTask = { calls: [shell("touch by-task")] };
const late = { delayMs: 60_000, text: "late" };

/** A guard that was asked to end says yes with its last breath. */
const stubborn = `${reach}; trap 'echo {\\"permission\\":\\"allow\\"}; exit 0' TERM; sleep 30 & wait; echo '{"permission":"allow"}'`;

const moments: Record<string, (calls: Call[]) => Situation> = {
  "before the hooks": (calls) => ({
    script: [{ text: "I begin.", calls }, byTask, late],
    hooks: { afterAgentResponse: [{ command: `${reach}; sleep 30` }] },
  }),
  "in a hook": (calls) => ({
    script: [{ calls }, byTask, late],
    hooks: { preToolUse: [{ command: `cat >/dev/null; ${reach}; sleep 30` }] },
  }),
  "in a hook that says yes to its end": (calls) => ({
    script: [{ calls }, byTask, late],
    hooks: { preToolUse: [{ command: `cat >/dev/null; ${stubborn}`, failClosed: false }] },
  }),
  "in the question": (calls) => ({
    script: [{ calls }, byTask, late],
    hooks: { preToolUse: [{ command: `cat >/dev/null; echo '{"permission":"ask"}'` }] },
    args: ["--force", "--ask-command", `${reach}; trap : TERM; sleep 30 & wait; echo '{"allow": true}'`],
  }),
  "in the snapshot": (calls) => ({
    script: [{ calls }, byTask, late],
    holdsSnapshots: true,
    reached: ({ config, path }) => existsSync(join(config, "courser/snapshots", projectId(path), "HEAD")),
  }),
  "behind another call": (calls) => ({
    // A file between them, so that commands wait as well.
    script: [
      { calls: [shell(`${reach}; sleep 30`), { name: "Write", args: { path: "folder/a", content: "" } }, ...calls] },
      byTask,
      late,
    ],
  }),
  "in a subagent": (calls) => ({
    script: [
      { calls: [tools["task"]!.call] },
      { calls: [shell(`${reach}; sleep 30`), { name: "Write", args: { path: "folder/a", content: "" } }, ...calls] },
      byTask,
      late,
    ],
  }),
  "in a subagent in the background": (calls) => ({
    script: [
      { calls: [{ name: "Task", args: { ...tools["task"]!.call.args, run_in_background: true } }] },
      // Whoever asks first, the run or its subagent, waits or works; the other one does the same later.
      { calls: [shell(`${reach}; sleep 30`), { name: "Write", args: { path: "folder/a", content: "" } }, ...calls] },
      { delayMs: 60_000, text: "late" },
    ],
  }),
  "held by its host": (calls) => ({
    script: [{ calls }, byTask, late],
    holdsCalls: true,
    reached: () => true,
  }),
};
type Moment = keyof typeof moments;

type Stop = {
  code: string;
  args?: readonly string[];
  env?: Record<string, string>;
  /** Prompts and control lines on stdin. */
  isHosted?: boolean;
  /** By a program between us and the run, which can be killed. */
  hasParent?: boolean;
  /** By `-b`: in the process of its host. */
  isBackground?: boolean;
  /** The host is killed: nobody is left to end calls, and what is stored is mended when the chat is continued. */
  isKilled?: boolean;
  isTimed?: boolean;
  /** Begins the reply with a subagent that spends too much. */
  spends?: boolean;
  only?: readonly Moment[];
  stop?(run: StartedRun): void;
};

const stops: Record<string, Stop> = {
  interrupt: {
    code: "INTERRUPTED",
    isHosted: true,
    stop: ({ child }) => child.stdin!.end(`${JSON.stringify({ type: "interrupt" })}\n`),
  },
  SIGINT: { code: "INTERRUPTED", stop: ({ child }) => void child.kill("SIGINT") },
  SIGTERM: { code: "TERMINATED", stop: ({ child }) => void child.kill("SIGTERM") },
  "--max-time": { code: "MAX_TIME", isTimed: true },
  "the parent is gone": {
    code: "PARENT_GONE",
    env: { COURSER_EXIT_WITH_PARENT: "1" },
    hasParent: true,
    stop: ({ child }) => void child.kill("SIGKILL"),
  },
  "the input has ended": {
    code: "INTERRUPTED",
    isHosted: true,
    only: ["held by its host"],
    stop: ({ child }) => child.stdin!.end(),
  },
  "-b: runs stop": { code: "INTERRUPTED", isBackground: true, stop: ({ background }) => background!.cancel() },
  "-b: SIGTERM of the host": {
    code: "TERMINATED",
    isBackground: true,
    stop: ({ background }) => void process.kill(background!.hostPid()!, "SIGTERM"),
  },
  "-b: SIGKILL of the host": {
    code: "TERMINATED",
    isBackground: true,
    isKilled: true,
    stop: ({ background }) => void process.kill(background!.hostPid()!, "SIGKILL"),
  },
  "-b: --max-time": { code: "MAX_TIME", isBackground: true, isTimed: true },
  "--max-cost": { code: "MAX_COST", args: ["--price", "1000000,1000000", "--max-cost", "1"], spends: true },
};

export type Cell = { stop: string; moment: Moment; order: Order };

export const cells: Cell[] = Object.entries(stops).flatMap(([stop, { only, isHosted, spends }]) =>
  Object.keys(moments)
    .filter((moment) => (only ?? [moment]).includes(moment))
    .filter((moment) => moment !== "held by its host" || isHosted)
    // Its own reply is what a run stops at, or that of a subagent.
    .filter(
      (moment) => !spends || !/snapshot|before the hooks|background/.test(moment) || moment === "before the hooks",
    )
    .flatMap((moment) => (Object.keys(orders) as Order[]).map((order) => ({ stop, moment, order }))),
);

/** What is wrong, by its cell; and how many calls were watched. */
export async function stopAll(chosen: readonly Cell[], concurrency: number, told = () => {}) {
  const faults: string[] = [];
  let calls = 0;
  const left = [...chosen];
  const work = async () => {
    for (let cell = left.shift(); cell; cell = left.shift()) {
      const name = `${cell.stop}, ${cell.moment}, ${cell.order}`;
      try {
        const found = await stopOne(cell);
        calls += found.calls;
        faults.push(...found.faults.map((fault) => `${name}: ${fault}`));
      } catch (error) {
        faults.push(`${name}: ${(error as Error).stack}`);
      }
      told();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return { faults, calls };
}

type StartedRun = {
  child: ChildProcess;
  lines: Line[];
  ended: Promise<void>;
  stderr: string;
  background?: BackgroundRun;
};

/** A limit in time that was over before the moment is tried again with more. */
async function stopOne(cell: Cell, maxTimeMs = 2500): Promise<{ faults: string[]; calls: number }> {
  const stop = stops[cell.stop]!;
  using place = createWorkspace({ "kept.txt": "kept", "precious.txt": "precious" });
  const situation = situationOf(cell, stop);
  const run = start(place, situation, stop, maxTimeMs);
  const isReached = () =>
    situation.reached ? startedCalls(run.lines) > 0 && situation.reached(place) : hasReached(place);
  const isThere = await until(() => isReached() || hasResult(run), 20_000);
  if (!isThere) run.child.kill("SIGKILL");
  const isMissed = !isReached();
  if (!isMissed) stop.stop?.(run);
  if (!(await until(() => hasResult(run), 20_000))) run.child.kill("SIGKILL");
  await run.ended;
  if (isMissed && stop.isTimed && maxTimeMs < 20_000) return stopOne(cell, maxTimeMs * 2);
  const faults = isMissed && !stop.spends ? ["the moment was not reached"] : [];
  return judge(place, run, stop, faults);
}

function situationOf({ moment, order }: Cell, { spends }: Stop): Situation {
  const calls = orders[order].map((name) => tools[name]!.call);
  const situation = moments[moment]!(calls);
  if (!spends) return situation;
  const expensive = { usage: { inputTokens: 1000 } };
  const [first, ...rest] = situation.script;
  // The reply itself is too expensive; or a subagent that works beside it.
  if (moment === "before the hooks") return { ...situation, script: [{ ...first, ...expensive }, ...rest], hooks: {} };
  if (moment === "in a subagent") {
    const [own, ...others] = rest;
    return { ...situation, script: [first!, { ...own, ...expensive }, ...others] };
  }
  const spender = { calls: [tools["task"]!.call, ...(first as { calls: Call[] }).calls] };
  const hooks = Object.entries(situation.hooks ?? {}).map(([event, list]) => [
    event,
    list.map((hook) => ({ ...hook, matcher: "Shell|Write|Delete|MCP:add" })),
  ]);
  const spending = { delayMs: 1500, calls: [shell("touch by-task")], ...expensive };
  return { ...situation, script: [spender, spending, ...rest], hooks: Object.fromEntries(hooks) };
}

function start(place: Workspace, situation: Situation, stop: Stop, maxTimeMs: number): StartedRun {
  const { script, hooks, holdsSnapshots, holdsCalls } = situation;
  const server = {
    command: process.execPath,
    args: [join(repository, "test/support/mcp-server.mjs"), `calls=${place.path}/by-mcp`],
  };
  const files: Record<string, unknown> = {
    "../script.json": script,
    "../servers.json": { mcpServers: { one: server } },
    ...(hooks && { "../home/.cursor/hooks.json": { version: 1, hooks } }),
  };
  for (const [name, content] of Object.entries(files)) place.file(name, JSON.stringify(content));
  if (holdsSnapshots) {
    // As if another process swept them just now.
    const folder = join(place.config, "courser/snapshots", projectId(place.path));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "sweeping"), "");
  }
  const args = [
    ...[cli, "--model", "script:../script.json", "--trust"],
    ...(stop.isBackground ? [] : ["-p", "--output-format", "stream-json"]),
    ...["--mcp-config", "../servers.json", "--approve-mcps"],
    ...(situation.args ?? ["--force"]),
    ...(stop.args ?? []),
    ...(stop.isTimed ? ["--max-time", `${maxTimeMs}ms`] : []),
    ...(stop.isHosted ? ["--input-format", "stream-json"] : ["go"]),
  ];
  const lines: Line[] = [];
  const env = { ...place.env, ...stop.env };
  const started = stop.isBackground ? startInBackground(place, args, env, lines) : undefined;
  // The parent is there until it is killed; what it has started writes to us all the same.
  const parent = `require("node:child_process").spawn(process.execPath, ${JSON.stringify(args)}, { stdio: "inherit" })`;
  const child =
    started?.child ??
    spawnOwned(process.execPath, stop.hasParent ? ["-e", parent] : args, {
      cwd: place.path,
      env,
      stdio: ["pipe", "pipe", "pipe"],
    });
  const run: StartedRun = { child, lines, ended: Promise.resolve(), stderr: "" };
  if (started) run.background = started.run;
  child.stderr!.on("data", (chunk) => {
    run.stderr += chunk;
  });
  child.stdin!.on("error", () => {});
  if (stop.isHosted) {
    if (holdsCalls) child.stdin!.write(`${JSON.stringify({ type: "hello", version: 1, can: ["hold_calls"] })}\n`);
    const message = { role: "user", content: "go" };
    child.stdin!.write(`${JSON.stringify({ type: "user", message })}\n`);
  }
  if (!started) createInterface({ input: child.stdout! }).on("line", (text) => run.lines.push(JSON.parse(text)));
  run.ended = new Promise((resolve) => child.once("close", () => resolve()));
  return run;
}

function judge(place: Workspace, { lines, stderr }: StartedRun, stop: Stop, faults: string[]) {
  for (const [name, { hasBegun }] of Object.entries(tools))
    if (hasBegun(place)) faults.push(`${name} began after the stop`);
  const results = lines.filter(({ type }) => type === "result");
  if (results.length !== 1) faults.push(`${results.length} results: ${stderr.slice(-300)}`);
  if (results[0] && results[0]["error_code"] !== stop.code) faults.push(`ended with ${JSON.stringify(results[0])}`);
  const started = callsOf(lines, "started");
  const completed = callsOf(lines, "completed");
  if (started.length === 0 && !stop.isKilled) faults.push("no call was shown");
  if (!stop.isKilled) faults.push(...endsOf(started, completed).map((fault) => `in the stream: ${fault}`));
  const succeeded = lines.filter(
    ({ subtype, tool_call }) => subtype === "completed" && JSON.stringify(tool_call).includes('"success":'),
  );
  // Only one that was left to itself has succeeded: at being started.
  for (const line of succeeded)
    if (!JSON.stringify(line).includes('"isBackground":true'))
      faults.push(`succeeded: ${JSON.stringify(line).slice(0, 300)}`);
  let kept = 0;
  for (const folder of chatsIn(join(place.config, "chats"))) {
    const { events, problems } = readChat(folder, { events: true });
    const idsOf = (type: string) =>
      events.flatMap(({ event }) => (event.type === type ? [(event as { callId: string }).callId] : []));
    kept += idsOf("tool_start").length;
    if (problems.length > 0) faults.push(JSON.stringify(problems));
    if (stop.isKilled) continue;
    faults.push(...endsOf(idsOf("tool_start"), idsOf("tool_end")).map((fault) => `in the chat: ${fault}`));
    if (events.at(-1)?.event.type !== "fail") faults.push(`the chat ends with ${events.at(-1)?.event.type}`);
  }
  if (kept < started.length) faults.push(`only ${kept} of ${started.length} calls are kept`);
  return { faults, calls: kept };
}

function endsOf(started: readonly string[], ended: readonly string[]): string[] {
  return [...new Set([...started, ...ended])].flatMap((id) => {
    const begun = started.filter((each) => each === id).length;
    const over = ended.filter((each) => each === id).length;
    return begun === 1 && over === 1 ? [] : [`the call ${id} began ${begun} times and ended ${over} times`];
  });
}

function callsOf(lines: readonly Line[], subtype: string): string[] {
  return lines.flatMap((line) =>
    line["type"] === "tool_call" && line["subtype"] === subtype ? [line["call_id"]] : [],
  );
}

function chatsIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name === "store.db")
    .map((entry) => entry.parentPath);
}

function startedCalls(lines: readonly Line[]): number {
  return callsOf(lines, "started").length;
}

function hasResult({ lines, child }: StartedRun): boolean {
  return lines.some(({ type }) => type === "result") || (child.exitCode !== null && child.stdout!.readableEnded);
}

function hasReached({ home }: Workspace): boolean {
  return existsSync(join(home, "reached"));
}

function made(name: string) {
  return ({ path }: Workspace) => existsSync(join(path, name));
}

export async function main(argv: readonly string[]): Promise<number> {
  const { rounds, concurrency, timeout } = numbersFrom(argv, { rounds: 1, concurrency: 3, timeout: 3600 });
  const chosen = Array.from({ length: rounds }, () => cells).flat();
  let done = 0;
  const { faults, calls } = await underWatch(() => stopAll(chosen, concurrency, () => done++), {
    tell: () => `${done} of ${chosen.length} runs`,
    limitSeconds: timeout,
  });
  for (const fault of faults) console.log(fault);
  console.log(`${chosen.length} runs stopped, ${calls} calls watched, ${faults.length} faults.`);
  return faults.length === 0 ? 0 : 1;
}
