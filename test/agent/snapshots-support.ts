// A workspace and a chat for snapshots: real files, real bash, and the values that a chat would keep.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createSnapshots, type SnapshotContext, type SnapshotNote } from "../../src/agent/snapshots/index.ts";
import { openRewind, type Rewind } from "../../src/agent/snapshots/rewind.ts";
import type { SnapshotLimits } from "../../src/agent/snapshots/scan.ts";
import type { Need } from "../../src/policy/need.ts";

export type SnapshotBench = {
  root: string;
  config: string;
  /** Begins the next turn. */
  turn(): number;
  before(...needs: Need[]): Promise<SnapshotNote | undefined>;
  /** A command of the agent: what it may change is saved first. */
  shell(command: string): Promise<SnapshotNote | undefined>;
  rewind: Rewind;
  /** What a chat does that goes back: it forgets what it kept of these turns, but for what it is given. */
  forget(turn: number, state: ReadonlyMap<string, unknown>): void;
  /** Which snapshots a turn has. */
  records(turn: number): unknown;
  place: SnapshotContext;
};

export function snapshotBench({
  limits,
  roots = [],
}: {
  limits?: SnapshotLimits;
  roots?: string[];
} = {}): SnapshotBench {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "courser-snapshots-")));
  onTestFinished(() => {
    bash("chmod -R u+rwx .", base);
    rmSync(base, { recursive: true, force: true });
  });
  const root = join(base, "work");
  const config = join(base, "config");
  mkdirSync(root);
  const values = new Map<string, string>();
  const metadata = { id: "0e1c7d3a-1f0d-4c57-9a51-7a0b6f1f2a11" };
  const chat = {
    metadata,
    turn: 0,
    state: (key: string) => (values.has(key) ? JSON.parse(values.get(key)!) : undefined),
    saveState: (key: string, value: unknown) => void values.set(key, JSON.stringify(value)),
  };
  const place = {
    configDir: config,
    workspace: root,
    roots,
    sessionId: metadata.id,
    chat,
    ...(limits && { limits }),
  };
  const snapshots = createSnapshots(place);
  const before = (...needs: Need[]) => snapshots.before(chat.turn, needs);
  return {
    root,
    config,
    place,
    turn: () => ++chat.turn,
    before,
    async shell(command) {
      const note = await before({ kind: "Shell", target: command, cwd: root });
      bash(command, root);
      return note;
    },
    rewind: openRewind({ configDir: config, workspace: root, chat: chat as never }),
    forget(turn, state) {
      for (const key of [...values.keys()]) if (Number(key.split(".")[1]) >= turn) values.delete(key);
      for (const [key, value] of state) chat.saveState(key, value);
      chat.turn = turn - 1;
    },
    records: (turn) => chat.state(`snapshot.${turn}`),
  };
}

export function bash(command: string, cwd: string): { status: number | null; output: string } {
  const env = { PATH: process.env["PATH"] ?? "", HOME: cwd, LANG: "C.UTF-8", GIT_CONFIG_NOSYSTEM: "1" };
  const run = spawnSync("bash", ["-c", command], { cwd, env, encoding: "utf8" });
  return { status: run.status, output: run.stdout + run.stderr };
}

/** Every entry with its kind, mode, and content or target; without `.git`. */
export function treeOf(root: string, { git = false } = {}): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (path: string, shown: string): void => {
    const stat = lstatSync(path);
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isSymbolicLink()) found.set(shown, `link ${readlinkSync(path)}`);
    else if (stat.isFile())
      found.set(shown, `file ${mode} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`);
    else if (!stat.isDirectory()) found.set(shown, "special");
    else {
      found.set(shown, `folder ${mode}`);
      for (const name of readdirSync(path)) if (git || name !== ".git") walk(join(path, name), `${shown}/${name}`);
    }
  };
  walk(root, ".");
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What differs, for a message that says more than two hashes. */
export function differences(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): string[] {
  return [...new Set([...a.keys(), ...b.keys()])]
    .filter((path) => a.get(path) !== b.get(path))
    .map((path) => `${path}: ${a.get(path) ?? "nothing"} -> ${b.get(path) ?? "nothing"}`);
}
