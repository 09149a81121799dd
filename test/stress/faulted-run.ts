// One run of the built CLI with faults laid around it, and what was seen of it.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type ErrorCode, errorCodes, exitCodeOf } from "../../src/protocol/error-codes.ts";
import { findChat } from "../../src/store/chats/find-chat.ts";
import { readChat } from "../../src/store/chats/read-chat.ts";
import { type ModelAnswer, modelServer } from "../../src/testing/kit/model-server.ts";
import { aliveWith, until } from "../agent/process-support.ts";
import { missingEvents } from "../store/shown-events.ts";
import { faults as diskFaults } from "../store/store-program.ts";
import { type Cut, cuttingServer } from "../support/cutting-server.ts";
import { cli } from "../support/run-cli.ts";

export type FaultedRun = {
  /** What to call it when something is wrong with it. */
  name: string;
  /** What goes wrong around it, for the counts of a campaign. */
  kind?: string;
  /** A script, or the answers of a server on loopback. */
  model: { script: readonly object[] } | { answers: readonly ModelAnswer[] };
  args?: readonly string[];
  mode?: "--force" | "--trust";
  files?: Record<string, string>;
  /** Most kilobytes that a file may have: a disk that fills up. */
  diskKb?: number;
  /** It is recorded, and the disk of the recording has room for so many bytes. */
  recordingBytes?: number;
  /** An MCP server `shop` over HTTP that resets the connection of a call where it was used before. */
  shopCuts?: Cut;
  /** Files as they must be afterwards; null: not there. */
  unchanged?: Record<string, string | null>;
  stdin?: "closed" | "open";
  /** How its output is read. `full`: it cannot be written. */
  reader?: "eager" | "slow" | "stalled" | "leaves" | "full";
  /** Code that keeps the main thread busy for ever, some time after the start. The run ends, but nothing in it can any more. */
  stuck?: string;
  signals?: readonly { name: NodeJS.Signals; afterMs: number; once?: "seen" }[];
  /** In the command line of everything that the run starts and that could outlive it. */
  token: string;
};

/** After this a run hangs. */
const hangMs = 30_000;
/** So long after the run what it started may take to end. */
const orphanMs = 2500;

/** What is wrong with it, in words; nothing when all is well. */
export async function faultsOf(run: FaultedRun): Promise<{ faults: string[]; ending: string }> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "courser-stress-")));
  const place = { base, work: join(base, "work"), home: join(base, "home"), config: join(base, "home/.cursor") };
  for (const path of [place.work, place.config]) mkdirSync(path, { recursive: true });
  const files = { "home/.cursor/courser.json": '{"retries":1}', ...run.files };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, name)), { recursive: true });
    writeFileSync(join(base, name), text.replaceAll("BASE", base));
  }
  const server = "answers" in run.model ? await modelServer(run.model.answers) : undefined;
  const shop = run.shopCuts && (await cuttingServer({ speaks: "mcp", cut: run.shopCuts }));
  if ("script" in run.model) writeFileSync(join(base, "script.json"), JSON.stringify(run.model.script));
  try {
    const model = server
      ? ["--endpoint", `${server.url}/v1`, "--model", "m"]
      : ["--model", `script:${base}/script.json`];
    const args = (run.args ?? ["go"]).map((word) => word.replaceAll("BASE", base));
    const servers = join(base, "shop.json");
    if (shop) writeFileSync(servers, JSON.stringify({ mcpServers: { shop: { url: shop.url } } }));
    const seen = await watch(run, place, [
      ...["-p", run.mode ?? "--force", "--output-format", "stream-json", "--stream-partial-output"],
      ...model,
      ...(shop ? ["--mcp-config", servers] : []),
      ...(run.recordingBytes === undefined ? [] : ["--record", join(base, recording)]),
      ...args,
    ]);
    const gone = await until(() => aliveWith(run.token).length === 0, orphanMs);
    const orphans = gone ? [] : aliveWith(run.token);
    for (const pid of orphans) process.kill(pid, "SIGKILL");
    const bodies = server?.requests.filter(({ method }) => method === "POST").map(({ body }) => body.toString()) ?? [];
    return {
      faults: [
        ...judge(run, seen, place),
        ...askedUnseen(bodies, run, seen),
        ...((await shop?.requests()) ?? []).filter(isRepeatedCall).map(({ body }) => `called twice: ${body}`),
        ...changedFiles(run, base),
        ...orphans.map((pid) => `process ${pid} outlived it`),
      ],
      ending: endingOf(seen),
    };
  } finally {
    await server?.stop();
    await shop?.stop();
    rmSync(base, { recursive: true, force: true, maxRetries: 5 });
  }
}

const recording = "recording.jsonl";

/** Requests to the model that were repeated without a word. */
function askedUnseen(bodies: readonly string[], { reader = "eager" }: FaultedRun, { stdout, exit }: Seen): string[] {
  const repeated = bodies.filter((body, index) => body === bodies[index - 1]).length;
  const shown = stdout.match(/^\{"type":"retry","subtype":"starting"/gm)?.length ?? 0;
  const isAllRead = exit !== null && (reader === "eager" || reader === "slow");
  return isAllRead && repeated > shown ? [`the model was asked again ${repeated} times, and ${shown} were shown`] : [];
}

/** Every call of a run has arguments of its own. */
function isRepeatedCall({ body }: { body: string }, index: number, all: readonly { body: string }[]): boolean {
  const call = (text: string) => (text.includes('"tools/call"') ? JSON.stringify(JSON.parse(text).params) : undefined);
  const made = call(body);
  return made !== undefined && all.findIndex((each) => call(each.body) === made) < index;
}

function changedFiles({ unchanged = {} }: FaultedRun, base: string): string[] {
  const now = (name: string) => (existsSync(join(base, name)) ? readFileSync(join(base, name), "utf8") : null);
  return Object.entries(unchanged)
    .filter(([name, before]) => now(name) !== before)
    .map(([name]) => `${name} was changed after the stop`);
}

type Seen = {
  exit: number | null;
  signal: NodeJS.Signals | null;
  isHung: boolean;
  stdout: string;
  stderr: string;
};

async function watch(run: FaultedRun, place: { work: string; home: string }, args: string[]): Promise<Seen> {
  const limit = run.diskKb === undefined ? "" : `ulimit -f ${run.diskKb}; `;
  const full = run.reader === "full" ? " > /dev/full" : "";
  const noRoom =
    run.recordingBytes === undefined ? {} : diskFaults({ FAULT_PATH: recording, FAULT_BYTES: run.recordingBytes });
  if (typeof noRoom === "string") throw new Error(noRoom);
  const stuck = join(place.home, "stuck.cjs");
  if (run.stuck !== undefined) writeFileSync(stuck, `if (/courser/.test(process.argv[1])) ${run.stuck}`);
  const child = spawn("bash", ["-c", `${limit}exec "$@"${full}`, "run", process.execPath, cli, ...args], {
    cwd: place.work,
    env: {
      PATH: process.env["PATH"],
      HOME: place.home,
      OPENAI_API_KEY: "none-at-all",
      ...noRoom,
      ...(run.stuck && { NODE_OPTIONS: `--require ${stuck}` }),
    },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const seen: Seen = { exit: null, signal: null, isHung: false, stdout: "", stderr: "" };
  child.stdin.on("error", () => {});
  if (run.stdin !== "open") child.stdin.end();
  child.stderr.on("data", (chunk) => (seen.stderr += chunk));
  read(child, run.reader ?? "eager", (text) => (seen.stdout += text));
  const ended = new Promise<void>((resolve) =>
    child.on("exit", (exit, signal) => resolve(Object.assign(seen, { exit, signal }) && undefined)),
  );
  const closed = new Promise<void>((resolve) => child.on("close", () => resolve()));
  const timer = setTimeout(() => {
    seen.isHung = true;
    child.kill("SIGKILL");
  }, hangMs);
  void sendSignals(child, run, ended);
  await ended;
  clearTimeout(timer);
  if (run.reader === "stalled") child.stdout.destroy();
  await closed;
  return seen;
}

function read({ stdout }: ChildProcess, reader: NonNullable<FaultedRun["reader"]>, take: (text: string) => void): void {
  if (reader === "stalled") return;
  let length = 0;
  stdout!.setEncoding("utf8").on("data", (chunk: string) => {
    take(chunk);
    length += chunk.length;
    if (reader === "leaves" && length > 400) stdout!.destroy();
    if (reader !== "slow") return;
    stdout!.pause();
    setTimeout(() => stdout!.resume(), 5);
  });
}

async function sendSignals(
  child: ChildProcess,
  { signals = [], token }: FaultedRun,
  ended: Promise<void>,
): Promise<void> {
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  for (const { name, afterMs, once } of signals) {
    if (once === "seen") await until(() => isOver || aliveWith(token).some((pid) => pid !== child.pid), 10_000);
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    if (!isOver) child.kill(name);
  }
}

function judge(
  run: FaultedRun,
  { exit, signal, isHung, stdout, stderr }: Seen,
  place: { config: string; work: string },
): string[] {
  if (isHung) return [`it hangs: ${stderr.slice(-300)}`];
  const faults: string[] = [];
  if (/Unexpected failure|INTERNAL/.test(stderr)) faults.push(`an unexpected failure: ${stderr.slice(-600)}`);
  const sent = run.signals?.map(({ name }) => name) ?? [];
  const wasKilled = signal === "SIGKILL" && sent.includes("SIGKILL");
  if (run.reader === "full")
    return exit === 1 || sent.length > 0 ? faults : [...faults, `full output, and exit ${exit}`];
  // What was cut in the middle of a line was not shown.
  const whole = stdout
    .slice(0, stdout.lastIndexOf("\n") + 1)
    .split("\n")
    .filter(Boolean);
  const lines = whole.flatMap((line) => {
    try {
      return [JSON.parse(line) as Record<string, any>];
    } catch {
      faults.push(`a line that is not JSON: ${line.slice(0, 200)}`);
      return [];
    }
  });
  const id = lines.find(({ subtype }) => subtype === "init")?.["session_id"];
  if (id !== undefined) faults.push(...notKept(run, lines, { ...place, id }));
  if (wasKilled || run.reader === "stalled" || run.reader === "leaves") return faults;
  // A signal before the first line of the program ran leaves nobody to say anything.
  if (exit === null && lines.length === 0 && stdout === "") return faults;
  if (exit === null) return [...faults, `it died of ${signal}: ${stderr.slice(-300)}`];

  const results = lines.filter(({ type }) => type === "result");
  if (results.length !== 1 || lines.at(-1)?.["type"] !== "result")
    faults.push(`${results.length} results: ${stderr.slice(-300)}`);
  const { is_error, error_code } = results[0] ?? {};
  const isDocumented = Object.hasOwn(errorCodes, String(error_code));
  const expected = is_error ? isDocumented && exitCodeOf(error_code as ErrorCode) : 0;
  if (results.length === 1 && exit !== expected) faults.push(`exit ${exit} with ${error_code ?? "success"}`);
  if (run.stuck !== undefined) return faults;
  const calls = (subtype: string) =>
    lines.filter((line) => line["type"] === "tool_call" && line["subtype"] === subtype);
  const started = calls("started").map(({ call_id }) => call_id);
  const ended = calls("completed").map(({ call_id }) => call_id);
  const open = started.filter((call) => !ended.includes(call));
  if (open.length > 0) faults.push(`calls without an end: ${open}`);
  if (new Set(ended).size < ended.length) faults.push(`calls with two ends: ${ended}`);
  if (id !== undefined && run.diskKb === undefined) faults.push(...notClosed({ ...place, id }));
  return faults;
}

/** In the chat of a run that came to its end, every call and the turn have theirs. */
function notClosed({ config, work, id }: { config: string; work: string; id: string }): string[] {
  const { events } = readChat(findChat(config, id, work), { events: true });
  const ended = new Set(events.flatMap(({ event }) => (event.type === "tool_end" ? [event.callId] : [])));
  const open = events.flatMap(({ event }) =>
    event.type === "tool_start" && !ended.has(event.callId) ? [event.callId] : [],
  );
  const isOpen = events.findLast(({ event: { type } }) => /^(user|done|fail)$/.test(type))?.event.type === "user";
  return [
    ...open.map((call) => `in its chat the call ${call} has no end`),
    ...(isOpen ? ["its chat was left open"] : []),
  ];
}

function notKept(
  run: FaultedRun,
  lines: readonly Record<string, any>[],
  chat: { config: string; work: string; id: string },
): string[] {
  try {
    const missing = missingEvents(chat, lines)
      // Where the disk is full, calls and the turn still have their ends.
      .filter(({ type }) => run.diskKb === undefined || !["tool_end", "fail"].includes(type))
      .filter(({ type }) => run.stuck === undefined || type !== "fail");
    return missing.map((event) => `shown, but not kept: ${JSON.stringify(event).slice(0, 200)}`);
  } catch (error) {
    return run.diskKb === undefined ? [`its chat cannot be read: ${(error as Error).message}`] : [];
  }
}

function endingOf({ exit, signal, stderr }: Seen): string {
  return signal ?? /\[([A-Z_]+)\]\s*$/.exec(stderr)?.[1] ?? (exit === 0 ? "success" : `exit ${exit}`);
}
