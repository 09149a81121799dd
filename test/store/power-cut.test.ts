// A power cut at any moment of runs and rewinds: what was shown as done is there, and what is named exists, whole.
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { decodeFolder, decodeSnapshot, objectsIn } from "../../src/agent/snapshots/manifest.ts";
import { type ObjectStore, openObjects } from "../../src/agent/snapshots/objects.ts";
import { projectId, storeFile } from "../../src/store/chats/layout.ts";
import { readChat, readState } from "../../src/store/chats/read-chat.ts";
import { cli, createWorkspace } from "../support/run-cli.ts";
import { orSkipped } from "../support/skipping.ts";
import { type Loss, noTracing, TracedDisk, trace } from "../support/traced-disk.ts";
import { integrityOf, resumes } from "./store-seen.ts";

const everyLoss: Loss[] = [
  { names: "synced", data: "synced" },
  { names: "all", data: "synced" },
  { names: "synced", data: "all" },
  { names: "all", data: "some", random: seeded(1) },
];

it.skipIf(noTracing)(
  orSkipped("after a simulated power cut at any moment, chats and snapshots hold what they promised", noTracing),
  { timeout: 120_000 },
  async () => {
    const workspace = createWorkspace({ "a.txt": "first", "d/c.txt": "untouched" });
    const disk = new TracedDisk(workspace.home);
    const base = join(workspace.path, "..");
    const seen = new Set<string>();
    // In memory, where there is such a place: every state is opened and gone on with.
    const left = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "courser-left-"));
    try {
      const shown: string[] = [];
      for (const command of commands(workspace.file)) {
        const before = disk.shown.length;
        const args = command(sessionOf(shown[0] ?? ""));
        const options = { log: join(base, "trace"), cwd: workspace.path, env: workspace.env };
        for (const call of trace([process.execPath, cli, ...args], options)) {
          // Right after something was shown, synced, renamed or removed.
          const isMoment = call.args.startsWith("1<") || /sync|rename|unlink/.test(call.name);
          if (!disk.apply(call) || !isMoment) continue;
          const soFar = [...shown, disk.shown.slice(before)];
          for (const loss of everyLoss) {
            disk.leave(left, loss);
            const state = `${disk.shown.length} ${fingerprint(left)}`;
            const moment = `${args.join(" ")}: ${call.name} ${seen.size}, ${JSON.stringify(loss)}`;
            if (!seen.has(state))
              await check({ home: left, workspace: workspace.path, shown: soFar, moment, goOn: loss === everyLoss[0] });
            seen.add(state);
            rmSync(left, { recursive: true, force: true });
          }
        }
        shown.push(disk.shown.slice(before));
      }
      expect(disk.shown).toContain("Rewound the conversation");
      expect(seen.size).toBeGreaterThan(100);
    } finally {
      workspace.remove();
      rmSync(left, { recursive: true, force: true });
    }
  },
);

/** A new chat, one that is gone on with, and a rewind. */
function commands(file: (name: string, content: string) => string): ((id: string) => string[])[] {
  const write = (path: string, content: string) => ({ calls: [{ name: "Write", args: { path, content } }] });
  const shell = (command: string) => ({ calls: [{ name: "Shell", args: { command } }] });
  const script = (name: string, steps: object[]) => `script:${file(`../${name}.json`, JSON.stringify(steps))}`;
  const print = ["-p", "--force", "--output-format", "stream-json", "--model"];
  const one = script("one", [write("a.txt", "second"), shell("rm d/c.txt"), { text: "One." }]);
  const two = script("two", [shell("echo third > b.txt"), write("a.txt", "third"), { text: "Two." }]);
  return [
    () => [...print, one, "one"],
    (id) => [...print, two, "--resume", id, "two"],
    (id) => ["sessions", "rewind", id, "--yes"],
  ];
}

type Line = Record<string, any>;
const linesOf = (text: string) =>
  text.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Line] : []));
const sessionOf = (text: string): string => linesOf(text)[0]?.["session_id"] ?? "";

/** `shown`: by each command so far. */
type Moment = { home: string; workspace: string; shown: readonly string[]; moment: string; goOn: boolean };

async function check({ home, workspace, shown, moment, goOn }: Moment): Promise<void> {
  const config = join(home, ".cursor");
  const store = join(config, "courser/snapshots", projectId(workspace));
  const folder = join(config, "chats", projectId(workspace), sessionOf(shown[0]!));
  const objects = openObjects(join(store, "objects"));
  objects.refresh();
  // While a rewind runs, the turn that it takes back may be there or not.
  const stream = shown.slice(0, shown.length === 3 ? 1 : 2).flatMap(linesOf);
  const calls = stream.filter(({ type }) => type === "tool_call");
  const started = calls.flatMap(({ subtype, call_id }) => (subtype === "started" ? [call_id] : []));
  const answers = stream.flatMap(({ type, result }) => (type === "result" ? [result] : []));
  const isRewound = shown[2]?.includes("Rewound the conversation");

  if (started.length > 0) {
    const { problems, events, messages } = readChat(folder, { events: true });
    expect(problems, moment).toEqual([]);
    expect(integrityOf(folder), moment).toBe("ok");
    const kept = events.flatMap(({ event }) => (event.type === "tool_start" ? [event.callId] : []));
    expect(kept, moment).toEqual(expect.arrayContaining(started));
    const ends = events.flatMap(({ event }) => (event.type === "done" ? [event.text] : []));
    expect(ends, moment).toEqual(expect.arrayContaining(answers));
    for (const answer of answers) expect(JSON.stringify(messages), moment).toContain(answer);
    if (isRewound) expect(ends, moment).toEqual(["One."]);
  }
  const state = isReadable(folder) ? readState(folder, ["snapshot.1", "snapshot.2", "snapshot.undo"]) : new Map();
  for (const [key, value] of state) {
    const records = typeof value === "string" ? [{ object: value }] : ((value ?? []) as { object: string }[]);
    for (const { object } of records) await wholeSnapshot(objects, object, `${key}, ${moment}`);
  }
  // What a call may have changed was saved before it was made.
  if (calls.some(({ subtype }) => subtype === "completed")) expect(state.get("snapshot.1"), moment).toBeDefined();
  if (isRewound) expect(state.get("snapshot.undo"), moment).toBeTypeOf("string");
  await checkIndexes(store, objects, moment);
  if (started.length > 0 && goOn) expect(resumes(folder), moment).toBe(true);
}

/** What the cache and the lists of what is kept name. */
async function checkIndexes(store: string, objects: ObjectStore, moment: string): Promise<void> {
  const chats = join(store, "chats");
  const lists = existsSync(chats) ? readdirSync(chats).map((name) => join(chats, name)) : [];
  for (const file of lists)
    for (const object of readFileSync(file, "utf8").match(/^[0-9a-f]{40}$/gm) ?? [])
      await wholeSnapshot(objects, object, `kept: ${moment}`);
  const cache = join(store, "cache");
  const named = existsSync(cache) ? readFileSync(cache, "latin1").split("\0").slice(1) : [];
  for (const line of named) await whole(objects, line.slice(0, 40), `cache: ${moment}`);
}

async function wholeSnapshot(objects: ObjectStore, object: string, moment: string): Promise<void> {
  await whole(objects, object, moment);
  const folders = [decodeSnapshot(objects.get(object)).entries];
  for (let entries = folders.pop(); entries; entries = folders.pop())
    for (const { object: below, isFolder } of objectsIn(entries)) {
      await whole(objects, below, moment);
      if (isFolder) folders.push(decodeFolder(objects.get(below)));
    }
}

async function whole(objects: ObjectStore, id: string, moment: string): Promise<void> {
  const problem = await objects.check(id).catch((error: Error) => error.message);
  expect(problem, moment).toBeUndefined();
}

/** Before the first call nothing is promised. */
function isReadable(folder: string): boolean {
  try {
    return existsSync(storeFile(folder)) && readChat(folder).problems.length === 0;
  } catch {
    return false;
  }
}

function fingerprint(folder: string): string {
  let text = "";
  const walk = (path: string) => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const inside = join(path, entry.name);
      if (entry.isDirectory()) walk(inside);
      else text += `${inside.slice(folder.length)} ${readFileSync(inside).toString("latin1")}`;
    }
  };
  walk(folder);
  return createHash("sha1").update(text).digest("hex");
}

/** The same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
