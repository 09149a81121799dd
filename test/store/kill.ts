// `npm run long -- kill --rounds N`: real runs, killed at random moments. Whatever was shown must be kept, and every chat must resume.
// In every fourth round runs fork one chat into the same new id at once: one of them has it, the others have done nothing.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { findChat } from "../../src/store/chats/find-chat.ts";
import { readChat } from "../../src/store/chats/read-chat.ts";
import { chanceOf } from "../support/chance.ts";
import { missingEvents } from "./shown-events.ts";
import { integrityOf } from "./store-seen.ts";

const chance = chanceOf("store/kill");

/** Another build can be put under the same test. */
export const cli = process.env["COURSER_CLI"] ?? resolve(import.meta.dirname, "../../dist/courser.cjs");

export type KillSummary = {
  rounds: number;
  kills: number;
  /** Runs that tried to fork into an id together with another one. */
  forks: number;
  shown: number;
  interrupted: number;
  faults: string[];
};

export async function main(argv: readonly string[]): Promise<number> {
  const rounds = Number(argv[argv.indexOf("--rounds") + 1] ?? Number.NaN);
  if (!argv.includes("--rounds") || !Number.isInteger(rounds) || rounds < 1) {
    console.error("Usage: npm run long -- kill --rounds N");
    return 2;
  }
  const summary = await killRounds(rounds, (round, { kills, shown, faults }) => {
    if (round % 50 === 0) console.log(`${round} rounds, ${kills} kills, ${shown} lines shown, ${faults.length} faults`);
  });
  for (const fault of summary.faults) console.log(fault);
  const { kills, forks, shown, interrupted, faults } = summary;
  console.log(
    `${rounds} rounds: ${kills} runs killed, ${forks} forks into one id, ${interrupted} calls interrupted, ${shown} lines shown, ${faults.length} faults`,
  );
  return faults.length === 0 ? 0 : 1;
}

export async function killRounds(
  rounds: number,
  report: (round: number, summary: KillSummary) => void = () => {},
): Promise<KillSummary> {
  const summary: KillSummary = { rounds, kills: 0, forks: 0, shown: 0, interrupted: 0, faults: [] };
  let longest = await timeOfARun();
  for (let round = 1; round <= rounds; round++) {
    const place = createPlace();
    try {
      const took = await (round % 4 === 0 ? forkRound : playRound)(place, longest, summary);
      // Follows the machine: kills are to fall on all parts of a run.
      if (took !== undefined) longest = 0.8 * longest + 0.2 * took;
    } catch (error) {
      summary.faults.push(`round ${round}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    } finally {
      rmSync(place.base, { recursive: true, force: true });
    }
    report(round, summary);
  }
  return summary;
}

type Place = { base: string; work: string; config: string };
type KilledRun = { lines: Record<string, any>[]; exit: number | null; ms: number; stderr: string };

/** A run that is killed, a resume that may be killed too, and one that must come to its end. */
async function playRound(place: Place, longest: number, summary: KillSummary): Promise<number | undefined> {
  let id: string | undefined;
  const runs: KilledRun[] = [];
  for (const part of chance() < 0.5 ? ["first"] : ["first", "second"]) {
    const run = await startRun(place, part, id, chance() * longest);
    runs.push(run);
    if (run.exit === null) summary.kills++;
    id = initOf(run) ?? id;
    if (id !== undefined) summary.shown += checkShown(place, id, runs);
  }
  if (id === undefined) return undefined;
  const last = await startRun(place, "last", id);
  const result = last.lines.at(-1);
  if (last.exit !== 0 || result?.["type"] !== "result" || result["is_error"] !== false)
    throw new Error(`the chat ${id} does not resume: exit ${last.exit}, ${JSON.stringify(result)} ${last.stderr}`);
  summary.interrupted += last.stderr.match(/was cut off/g)?.length ?? 0;
  checkShown(place, id, [...runs, last]);
  checkWhole(place, id);
  return last.ms * 1.1;
}

/** Runs that fork one chat into the same id; one of them may be killed. */
async function forkRound(place: Place, longest: number, summary: KillSummary): Promise<number | undefined> {
  const first = await startRun(place, "first");
  const from = initOf(first);
  if (first.exit !== 0 || from === undefined)
    throw new Error(`the first run ended with ${first.exit}: ${first.stderr}`);
  const id = randomUUID();
  const parts = chance() < 0.7 ? ["one", "other"] : ["one", "other", "third"];
  const killed = chance() < 0.4 ? "one" : undefined;
  const runs = await Promise.all(
    parts.map(async (part) => {
      const killAfterMs = part === killed ? chance() * longest * 2 : undefined;
      return { part, run: await startRun(place, part, from, killAfterMs, ["--fork", "--session-id", id]) };
    }),
  );
  summary.forks += parts.length;
  const told = JSON.stringify(
    runs.map(({ part, run: { exit, stderr } }) => ({ part, exit, stderr: stderr.slice(-200) })),
  );
  const ended = runs.filter(({ run }) => run.exit === 0);
  if (runs.some(({ run }) => run.exit === null)) summary.kills++;
  else if (ended.length !== 1) throw new Error(`${ended.length} of the forks into ${id} ended well: ${told}`);
  const worked = parts.filter((part) => marksIn(place).some((mark) => mark.startsWith(`${part}-`)));
  if (worked.length > 1) throw new Error(`more than one fork into ${id} did its work: ${told}`);
  const begun = runs.filter(({ run }) => initOf(run) === id);
  if (begun.length > 1) throw new Error(`more than one fork into ${id} began: ${told}`);
  checkShown(place, from, [first]);
  checkWhole(place, from);
  if (!begun[0]) return undefined;
  summary.shown += checkShown(place, id, [begun[0].run]);
  const last = await startRun(place, "last", id);
  if (last.exit !== 0) throw new Error(`the fork ${id} does not resume: exit ${last.exit}, ${last.stderr}. ${told}`);
  checkShown(place, id, [begun[0].run, last]);
  checkWhole(place, id);
  return undefined;
}

function initOf({ lines }: KilledRun): string | undefined {
  return lines.find((line) => line["subtype"] === "init")?.["session_id"];
}

/** Everything that a run shows: thoughts, text in pieces, calls side by side and one after the other. */
function scriptOf(part: string): object[] {
  const mark = (number: number) => ({
    name: "Shell",
    args: { command: `echo ${part}-${number} >> ran.txt; sleep 0.0${number}` },
  });
  return [
    { thinking: ["I ", "think."], text: ["First ", "a ", "look."], calls: [mark(1), { name: "LS", args: {} }] },
    { text: ["Then ", "the ", "work."], calls: [mark(2), mark(3)] },
    { calls: [{ name: "Write", args: { path: `${part}.txt`, contents: "x\n".repeat(200) } }] },
    { text: ["All ", "is ", "done."] },
  ];
}

async function startRun(
  place: Place,
  part: string,
  id?: string,
  killAfterMs?: number,
  more: readonly string[] = [],
): Promise<KilledRun> {
  const script = join(place.base, `${part}.json`);
  writeFileSync(script, JSON.stringify(scriptOf(part)));
  const flags = ["-p", "--force", "--output-format", "stream-json", "--stream-partial-output"];
  const resumed = id === undefined ? [] : ["--resume", id, ...more];
  const started = performance.now();
  const child = spawn(process.execPath, [cli, ...flags, "--model", `script:${script}`, ...resumed, `prompt ${part}`], {
    cwd: place.work,
    env: { PATH: process.env["PATH"], HOME: join(place.base, "home"), CURSOR_CONFIG_DIR: place.config },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), killAfterMs ?? 60_000);
  const exit = await new Promise<number | null>((settle, reject) => {
    child.on("error", reject);
    child.on("close", settle);
  });
  clearTimeout(timer);
  // What was cut in the middle of a line was not shown.
  const whole = stdout.split("\n").slice(0, -1);
  const lines = whole.filter(Boolean).map((line) => JSON.parse(line) as Record<string, any>);
  return { lines, exit, ms: performance.now() - started, stderr };
}

/** Each event that was shown is in the store, in the order in which it was shown. Returns how many lines there were. */
function checkShown({ config, work }: Place, id: string, runs: readonly KilledRun[]): number {
  const lines = runs.flatMap((run) => run.lines);
  const [missing] = missingEvents({ config, work, id }, lines);
  if (missing) throw new Error(`shown, but not kept: ${JSON.stringify(missing)}`);
  return lines.length;
}

/** The store is sound, every call and every turn has its end, and nothing was run twice. */
function checkWhole(place: Place, id: string): void {
  const folder = findChat(place.config, id, place.work);
  const { events, turns, problems } = readChat(folder, { events: true });
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  const started = events.flatMap(({ event }) => (event.type === "tool_start" ? [event.callId] : []));
  const ended = events.flatMap(({ event }) => (event.type === "tool_end" ? [event.callId] : []));
  if (started.some((call) => !ended.includes(call))) throw new Error(`calls without end: ${started} ${ended}`);
  if (turns.at(-1)?.status !== "done") throw new Error(`the last turn is ${turns.at(-1)?.status}`);
  const integrity = integrityOf(folder);
  if (integrity !== "ok") throw new Error(integrity);
  const marks = marksIn(place);
  if (new Set(marks).size !== marks.length) throw new Error(`run twice: ${marks}`);
}

/** What the calls of all runs have left. */
function marksIn({ work }: Place): string[] {
  const file = join(work, "ran.txt");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}

async function timeOfARun(): Promise<number> {
  const place = createPlace();
  try {
    const { ms, exit, stderr } = await startRun(place, "warm");
    if (exit !== 0) throw new Error(`a run that nobody killed ended with ${exit}: ${stderr}`);
    return ms * 1.1;
  } finally {
    rmSync(place.base, { recursive: true, force: true });
  }
}

function createPlace(): Place {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "courser-kill-")));
  for (const name of ["work", "home"]) mkdirSync(join(base, name));
  return { base, work: join(base, "work"), config: join(base, "config") };
}
