// Takes snapshots of the workspace before a call that may write, so that a turn can be undone. For users: docs/rewind.md.
import { basename, dirname, join } from "node:path";
import { type Need, onlyLooks } from "../../policy/need.ts";
import { absolutePath, isInside, realTarget, shownPath } from "../../policy/paths.ts";
import type { ChatWriter } from "../../store/chats/chat.ts";
import { homeDir } from "../../store/config-dir.ts";
import { firstOf } from "../../text/first-of.ts";
import { reasons, type UnsavedPath } from "./reasons.ts";
import { readRecords, type SnapshotRecord, saveRecords } from "./records.ts";
import type { SnapshotLimits } from "./scan.ts";
import type { PathInRoot } from "./take-snapshot.ts";

export type SnapshotContext = {
  configDir: string;
  /** The real path of the workspace; the roots are real paths too. */
  workspace: string;
  roots: readonly string[];
  sessionId: string;
  /** The chat in which the list of snapshots of each turn is stored. */
  chat: Pick<ChatWriter, "state" | "saveState" | "turn">;
  limits?: SnapshotLimits;
};

/** A message about files that a rewind could not restore. Each is reported once. */
export type SnapshotNote = { message: string; unsaved: readonly UnsavedPath[] };

export interface Snapshots {
  /**
   * Call this before every permitted call. Saves what a rewind will need: nothing for a call that only reads, the file for one that
   * names it, the whole tree, once a turn, for all others. What cannot be saved is reported in a note, and the call may go on; throws
   * only if the chat cannot be written.
   */
  before(turn: number, needs: readonly Need[], signal?: AbortSignal): Promise<SnapshotNote | undefined>;
  /**
   * Call this before a deletion that runs without confirmation. Takes a new snapshot and returns whether it contains
   * every file to be deleted.
   */
  holdsDeleted(turn: number, needs: readonly Need[], signal?: AbortSignal): Promise<boolean>;
  /**
   * Call this when a turn begins. While the model answers, takes a snapshot of the tree for the first call that may change anything,
   * which then waits only for the rest of it. Returns a function that ends this with the turn.
   */
  prepare(): () => void;
  /** Removes stored contents that no chat refers to. Call this at the end of a run; it does work at most once a day. */
  tidy(): Promise<void>;
}

type SavedInTurn = {
  turn: number;
  records: SnapshotRecord[];
  paths: Set<string>;
  /** Set once a snapshot of the whole tree was taken, except these paths and their contents. */
  allBut?: readonly string[];
};

export function createSnapshots(context: SnapshotContext): Snapshots {
  const roots = dropNestedFolders([context.workspace, ...context.roots]);
  const reported = new Set<string>();
  let saved: SavedInTurn = { turn: 0, records: [], paths: new Set() };
  let early: { turn: number; taken: ReturnType<typeof takeEarly> } | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  let loading: Promise<import("./chat-snapshots.ts").ChatSnapshots> | undefined;
  const open = () => {
    loading ??= import("./chat-snapshots.ts").then(({ openChatSnapshots }) => openChatSnapshots({ ...context, roots }));
    return loading;
  };

  /** Starts over if a rewound chat reuses a turn number. */
  function enter(turn: number): void {
    const isSame = saved.turn === turn && readRecords(context.chat, turn).length === saved.records.length;
    if (!isSame) saved = { turn, records: [], paths: new Set() };
  }

  /** Runs snapshots one at a time: concurrent calls must not start before what they may change is saved. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = queue.then(work);
    queue = done.catch(() => undefined);
    return done;
  }

  async function takeEarly(signal: AbortSignal) {
    try {
      const taken = await (await open()).early(signal);
      return taken && { ...taken, at: Date.now() };
    } catch {
      return undefined; // the call that needs the snapshot reports why there is none
    }
  }

  async function earlyFor(turn: number, begun: typeof early) {
    const taken = begun?.turn === turn ? await begun.taken : undefined;
    early = undefined;
    return taken && Date.now() - taken.at < longestEarlyMs ? taken : undefined;
  }

  async function hasSaved(turn: number, needs: readonly Need[], signal?: AbortSignal): Promise<boolean> {
    enter(turn);
    const deleted = needs.filter(({ kind }) => kind === "Delete");
    const { inside } = resolveNeededPaths(deleted, context.workspace, roots);
    if (inside.length < deleted.length) return false;
    try {
      const taken = await (await open()).paths(inside, signal);
      saved.records.push({ object: taken.object });
      saveRecords(context.chat, turn, saved.records);
      for (const { path } of inside) saved.paths.add(path);
      return taken.unsaved.length === 0;
    } catch {
      return false;
    }
  }

  async function takeSnapshot(
    turn: number,
    needs: readonly Need[],
    { begun, signal }: { begun: typeof early; signal: AbortSignal | undefined },
  ): Promise<SnapshotNote | undefined> {
    enter(turn);
    const { inside, outside, whole } = resolveNeededPaths(needs, context.workspace, roots);
    const records: SnapshotRecord[] = [];
    const unsaved: UnsavedPath[] = outside.map((path) => ({ path, why: "outside" }));
    try {
      if (saved.allBut === undefined && (whole || (await mayWriteAnything(needs)))) {
        const borrow = !(await mayHarmRepository(needs, context.workspace, roots));
        const taken = await (await open()).tree({
          borrow,
          early: borrow ? await earlyFor(turn, begun) : undefined,
          signal,
        });
        records.push("missing" in taken ? { missing: taken.missing } : { object: taken.object });
        if (!("missing" in taken)) unsaved.push(...taken.unsaved);
        // If nothing could be saved, do not try again in this turn.
        saved.allBut = "missing" in taken ? roots : taken.unsaved.map(({ path }) => path);
      }
      const single = inside.filter(({ path }) => !isSaved(saved, path));
      if (single.length > 0) {
        const taken = await (await open()).paths(single, signal);
        records.push({ object: taken.object });
        unsaved.push(...taken.unsaved);
        for (const { path } of single) saved.paths.add(path);
      }
    } catch (error) {
      records.push({ missing: error instanceof Error ? error.message : String(error) });
    }
    if (records.length > 0) {
      saved.records.push(...records);
      saveRecords(context.chat, turn, saved.records);
    }
    return noteOf(records, unsaved, { reported, workspace: context.workspace });
  }

  return {
    async before(turn, needs, signal) {
      if (needs.every(onlyLooks)) return undefined;
      // One that begins from now on is queued behind this call, which must not wait for it.
      const begun = early;
      return inTurn(() => takeSnapshot(turn, needs, { begun, signal }));
    },
    prepare() {
      const ending = new AbortController();
      early = undefined;
      const begin = setTimeout(() => {
        const { turn } = context.chat;
        const isSaved = () => saved.turn === turn && saved.allBut !== undefined;
        // Queue the early snapshot with those of calls, since two snapshots cannot be taken at the same time.
        if (!isSaved()) early = { turn, taken: inTurn(async () => (isSaved() ? undefined : takeEarly(ending.signal))) };
      }, patienceMs).unref();
      return () => {
        clearTimeout(begin);
        ending.abort();
      };
    },
    holdsDeleted: (turn, needs, signal) => inTurn(() => hasSaved(turn, needs, signal)),
    async tidy() {
      if (!loading) return;
      const { sweepSnapshots } = await import("./sweep.ts");
      await sweepSnapshots(context, { daily: true });
    },
  };
}

/** A model that answers sooner is not delayed by a snapshot that it may not need. */
const patienceMs = 250;
/** After this many milliseconds, an early snapshot is taken again, since the user may have changed files. */
const longestEarlyMs = 30_000;

/** Drops folders that are inside another folder of the list. */
function dropNestedFolders(folders: readonly string[]): string[] {
  const distinct = [...new Set(folders)];
  return distinct.filter((path) => !distinct.some((other) => other !== path && isInside(path, other)));
}

/** Commands and MCP servers may change any file, unless a command provably only reads. */
async function mayWriteAnything(needs: readonly Need[]): Promise<boolean> {
  for (const need of needs) {
    if (need.kind === "Mcp") return true;
    if (need.kind !== "Shell") continue;
    const { onlyReads } = await import("../../policy/only-reads.ts");
    if (!onlyReads(need.target)) return true;
  }
  return false;
}

/** Contents of a repository cannot be borrowed before a call that may remove them. */
async function mayHarmRepository(
  needs: readonly Need[],
  workspace: string,
  roots: readonly string[],
): Promise<boolean> {
  for (const { kind, target, cwd } of needs) {
    if (kind === "Delete" || kind === "Write") return true;
    if (kind !== "Shell") continue;
    const { harmsRepository } = await import("./harms-repository.ts");
    if (harmsRepository(target, cwd ?? workspace, roots)) return true;
  }
  return false;
}

/**
 * Resolves the named paths: an edit follows a link to the file, deleting
 * removes the link itself. `whole` is set if one of them contains a root.
 */
function resolveNeededPaths(needs: readonly Need[], workspace: string, roots: readonly string[]) {
  const inside: PathInRoot[] = [];
  const outside: string[] = [];
  let whole = false;
  for (const { kind, target, cwd } of needs) {
    if (kind !== "Write" && kind !== "Delete") continue;
    const absoluteTarget = absolutePath(target, { workspace, home: homeDir(process.env) }, cwd);
    let path: string;
    try {
      path =
        kind === "Write"
          ? realTarget(absoluteTarget)
          : join(realTarget(dirname(absoluteTarget)), basename(absoluteTarget));
    } catch {
      continue; // The links form a loop: the call itself will fail.
    }
    const root = roots.find((each) => isInside(path, each) && path !== each);
    if (root !== undefined) inside.push({ root, path });
    else if (roots.some((each) => isInside(each, path))) whole = true;
    else outside.push(path);
  }
  return { inside, outside, whole };
}

function isSaved({ paths, allBut }: SavedInTurn, path: string): boolean {
  return paths.has(path) || (allBut !== undefined && !allBut.some((open) => isInside(path, open)));
}

const maxShown = 5;

function noteOf(
  records: readonly SnapshotRecord[],
  all: readonly UnsavedPath[],
  { reported, workspace }: { reported: Set<string>; workspace: string },
): SnapshotNote | undefined {
  const isNew = (text: string) => !reported.has(text) && reported.add(text);
  const unsaved = all.filter(({ path, why }) => isNew(`${why} ${path}`));
  const missing = records.flatMap((record) => ("missing" in record && isNew(record.missing) ? [record.missing] : []));
  const sentences = missing.map(
    (why) => `The files were not saved before this call: ${why}. A rewind cannot restore them.`,
  );
  if (unsaved.length > 0) {
    const unsavedNames = unsaved.map(({ path, why }) => `${shownPath(path, workspace)} (${reasons[why]})`);
    sentences.push(`Not saved, so a rewind will not change it: ${firstOf(unsavedNames, maxShown)}.`);
  }
  return sentences.length > 0 ? { message: sentences.join(" "), unsaved } : undefined;
}
