// Runs of real workers that go on elsewhere: on one machine, in the user's own chat, whose write-ahead log is long. Their worker is
// killed, or frozen for longer than its lease, alone or with everything that it started. Part of `npm run long -- fleet`.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findChat } from "../../src/store/chats/find-chat.ts";
import { storeFile } from "../../src/store/chats/layout.ts";
import { readChat } from "../../src/store/chats/read-chat.ts";
import { type Database, openDatabase } from "../../src/store/sqlite.ts";
import type { ModelAnswer, RecordedRequest } from "../../src/testing/kit/model-server.ts";
import { integrityOf } from "../store/store-seen.ts";
import { chanceOf } from "../support/chance.ts";
import { cli } from "../support/run-cli.ts";
import { until } from "./service-support.ts";
import { linesOf, TestFleet } from "./worker-support.ts";

const chance = chanceOf("serve/fleet-continued");

const losses = ["killed", "killed with its agent", "frozen", "frozen with its agent"] as const;
type Loss = (typeof losses)[number];

/** How often each happened, and what was wrong. `longestLog`: bytes of a write-ahead log when its worker was lost. */
export type ContinuedReport = { losses: Record<Loss, number>; longestLog: number; faults: string[] };

const leaseSeconds = 2;
const steps = 10;

export async function continuedRuns(
  { runs, concurrency = 2 }: { runs: number; concurrency?: number },
  onRun: (done: number, report: ContinuedReport) => void = () => {},
): Promise<ContinuedReport> {
  const report: ContinuedReport = {
    losses: { killed: 0, "killed with its agent": 0, frozen: 0, "frozen with its agent": 0 },
    longestLog: 0,
    faults: [],
  };
  if (runs > 0 && !existsSync(cli)) throw new Error("These runs need the built CLI: npm run build");
  let next = 0;
  let done = 0;
  const work = async () => {
    while (next < runs) {
      const number = next++;
      const loss = losses[number % losses.length]!;
      report.losses[loss]++;
      try {
        const length = await loseWorker(loss, { holdsLog: chance() < 0.5 });
        report.longestLog = Math.max(report.longestLog, length);
      } catch (error) {
        report.faults.push(`continued run ${number}, ${loss}: ${(error as Error).message.slice(0, 600)}`);
      }
      onRun(++done, report);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return report;
}

/** `holdsLog`: somebody reads the chat, so that its log cannot be shortened. Returns how long the log was. */
async function loseWorker(loss: Loss, { holdsLog }: { holdsLog: boolean }): Promise<number> {
  const fleet = new TestFleet();
  const effects = join(fleet.workspace.home, "effects");
  let reader: Database | undefined;
  try {
    await fleet.answer(stepsInto(effects));
    const say = (...words: string[]) =>
      fleet.workspace.run(["-p", "--force", "--output-format", "json", "--model", "chat/m", ...words], {
        env: { OPENAI_API_KEY: "sk-test" },
      });
    // The user's own chat, with a history: what is written later is only a part of it.
    const sessionId: string = JSON.parse((await say("still there? First turn.")).stdout).session_id;
    const folder = findChat(fleet.workspace.config, sessionId, fleet.workspace.path);
    const args = ["--lease-time", String(leaseSeconds)];
    const first = fleet.start(args);
    const chat = { type: "resume", id: sessionId } as const;
    const run = await fleet.enqueue(fleet.spec({ onWorkerLoss: "continue" }, { chat }));
    await until(async () => (await fleet.entry(run, "checkpoint")) !== undefined, "a checkpoint");
    if (holdsLog) reader = readingOf(storeFile(folder));
    await sleep(chance() * 2500);
    const length = readSize(`${storeFile(folder)}-wal`);
    const isFrozen = loss.startsWith("frozen");
    const worker = first.child.pid!;
    // The worker first: if it lives to see its agent die, that is how the run ends.
    const lost = loss.endsWith("agent") ? [worker, ...startedBy(worker)] : [worker];
    for (const pid of lost) signal(pid, isFrozen ? "SIGSTOP" : "SIGKILL");
    fleet.start(args);
    const over = fleet.over(run, 60_000);
    if (isFrozen) {
      await Promise.race([over, sleep(leaseSeconds * 4000)]);
      for (const pid of lost) signal(pid, "SIGCONT");
      await until(
        () => /run-\S+ (?!taken)/.test(first.said()),
        "the frozen worker to see that its run is lost",
        15_000,
      );
    }
    const { end } = await over;
    const done = linesOf(effects);
    if (new Set(done).size !== done.length) throw new Error(`done twice: ${done}`);
    // A chat that a frozen agent still holds is not taken from it.
    const isHeld = isFrozen && end?.code === "STORE_LOCKED";
    if (!isHeld && (end?.outcome !== "finished" || !end.text.includes("all done")))
      throw new Error(`it ended so: ${JSON.stringify(end)} ${first.said().slice(-200)}`);
    const results = (await fleet.log(run)).filter(({ entry }) => entry.type === "result").length;
    if (results !== 1) throw new Error(`${results} results`);
    reader?.close();
    reader = undefined;
    checkChat(folder);
    const resumed = await say("--resume", sessionId, "still there?");
    if (resumed.exit !== 0 || !resumed.stdout.includes("still here"))
      throw new Error(`its chat does not resume: exit ${resumed.exit} ${resumed.stderr.slice(-300)}`);
    checkChat(folder);
    return length;
  } finally {
    reader?.close();
    await fleet.remove();
  }
}

/** Each step is asked for once, and leaves a line outside of the chat and a few pages inside of it. */
function stepsInto(effects: string): (request: RecordedRequest) => ModelAnswer {
  let asked = 0;
  return (request) => {
    const last = JSON.stringify(request.json.messages.findLast(({ role }: { role: string }) => role === "user"));
    if (last.includes("still there?")) return { text: `still here. ${"Words. ".repeat(3000)}` };
    if (asked === steps) return { text: "all done" };
    const command = `echo step-${++asked} >> ${effects}; head -c 3000 /dev/urandom | base64 -w 150`;
    return { toolCalls: [{ name: "Shell", args: { command } }], delayMs: 300 };
  };
}

function checkChat(folder: string): void {
  const integrity = integrityOf(folder);
  if (integrity !== "ok") throw new Error(`its chat is damaged: ${integrity}`);
  const { events, problems } = readChat(folder, { events: true });
  if (problems.length > 0) throw new Error(`its chat is not whole: ${JSON.stringify(problems)}`);
  const ended = new Set(events.flatMap(({ event }) => (event.type === "tool_end" ? [event.callId] : [])));
  const open = events.filter(({ event }) => event.type === "tool_start" && !ended.has(event.callId));
  if (open.length > 0) throw new Error(`${open.length} calls in its chat have no end`);
}

/** Somebody in the middle of reading. */
function readingOf(file: string): Database {
  const database = openDatabase(file, { readOnly: true });
  database.exec("BEGIN");
  database.prepare("SELECT count(*) FROM sqlite_schema").all();
  return database;
}

function readSize(file: string): number {
  try {
    return readFileSync(file).length;
  } catch {
    return 0;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone.
  }
}

/** Everything that a process and its children have started. */
function startedBy(parent: number): number[] {
  const parents = readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      return [{ pid: Number(name), parent: Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) }];
    } catch {
      return [];
    }
  });
  const found: number[] = [];
  const add = (of: number): void => {
    for (const { pid, parent: its } of parents) {
      if (its !== of) continue;
      found.push(pid);
      add(pid);
    }
  };
  add(parent);
  return found;
}
