// Snapshots of the workspace, taken before a call that may write, so that a turn can be taken back. docs/rewind.md tells users.
import { basename, dirname, join } from "node:path";
import { type Need, onlyLooks } from "../../policy/need.ts";
import { absolutePath, isInside, realTarget, shownPath } from "../../policy/paths.ts";
import type { ChatWriter } from "../../store/chats/chat.ts";
import { homeDir } from "../../store/config-dir.ts";
import { reasons, type UnsavedPath } from "./reasons.ts";
import { readRecords, type SnapshotRecord, saveRecords } from "./records.ts";
import type { SnapshotLimits } from "./scan.ts";
import type { PathInRoot } from "./take-snapshot.ts";

export type SnapshotContext = {
  configDir: string;
  /** Real paths. */
  workspace: string;
  roots: readonly string[];
  sessionId: string;
  /** Which snapshots a turn has is kept with the chat. */
  chat: Pick<ChatWriter, "state" | "saveState" | "turn">;
  limits?: SnapshotLimits;
};

/** What a rewind would not bring back. Each thing is told once. */
export type SnapshotNote = { message: string; unsaved: readonly UnsavedPath[] };

export interface Snapshots {
  /**
   * To be called before every permitted call. Takes what a rewind will need: nothing for a call that only reads, the file
   * for one that names it, the whole tree, once a turn, for all others. What cannot be saved makes a note, and the call may
   * go on; only what the chat cannot keep is thrown.
   */
  before(turn: number, needs: readonly Need[], signal?: AbortSignal): Promise<SnapshotNote | undefined>;
  /**
   * Before a call that deletes where nobody is asked: is each file that it deletes in a snapshot, as it is now? One is taken, whatever was
   * saved before.
   */
  holdsDeleted(turn: number, needs: readonly Need[], signal?: AbortSignal): Promise<boolean>;
  /**
   * While the model answers: takes a snapshot of the tree for the first call of the turn that may change anything, which then
   * waits for no more than the rest of it. To be called when a turn begins; what comes back ends it, with the turn.
   */
  prepare(): () => void;
  /** At the end of a run: at most once a day, contents that no chat refers to are removed. */
  tidy(): Promise<void>;
}

/** What is saved in the turn that runs. */
type SavedInTurn = {
  turn: number;
  records: SnapshotRecord[];
  paths: Set<string>;
  /** There is a snapshot of everything but these, and what is in them. */
  allBut?: readonly string[];
};

export function createSnapshots(context: SnapshotContext): Snapshots {
  const roots = outermost([context.workspace, ...context.roots]);
  const reported = new Set<string>();
  let saved: SavedInTurn = { turn: 0, records: [], paths: new Set() };
  let early: { turn: number; taken: ReturnType<typeof takeEarly> } | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  let loading: Promise<import("./chat-snapshots.ts").ChatSnapshots> | undefined;
  const open = () => {
    loading ??= import("./chat-snapshots.ts").then(({ openChatSnapshots }) => openChatSnapshots({ ...context, roots }));
    return loading;
  };

  /** A chat that was taken back begins a turn of the same number anew. */
  function enter(turn: number): void {
    const isSame = saved.turn === turn && readRecords(context.chat, turn).length === saved.records.length;
    if (!isSame) saved = { turn, records: [], paths: new Set() };
  }

  /** One after the other: calls that run together must not start before what they may change is saved. */
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
      return undefined; // the call that needs one will say why there is none
    }
  }

  async function earlyFor(turn: number) {
    const taken = early?.turn === turn ? await early.taken : undefined;
    early = undefined;
    return taken && Date.now() - taken.at < longestEarlyMs ? taken : undefined;
  }

  async function holds(turn: number, needs: readonly Need[], signal?: AbortSignal): Promise<boolean> {
    enter(turn);
    const deleted = needs.filter(({ kind }) => kind === "Delete");
    const { inside } = pathsOf(deleted, context.workspace, roots);
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

  async function take(turn: number, needs: readonly Need[], signal?: AbortSignal): Promise<SnapshotNote | undefined> {
    enter(turn);
    const { inside, outside, whole } = pathsOf(needs, context.workspace, roots);
    const records: SnapshotRecord[] = [];
    const unsaved: UnsavedPath[] = outside.map((path) => ({ path, why: "outside" }));
    try {
      if (saved.allBut === undefined && (whole || (await mayWriteAnything(needs)))) {
        const borrow = !(await mayHarmRepository(needs, context.workspace, roots));
        const taken = await (await open()).tree({ borrow, early: borrow ? await earlyFor(turn) : undefined, signal });
        records.push("missing" in taken ? { missing: taken.missing } : { object: taken.object });
        if (!("missing" in taken)) unsaved.push(...taken.unsaved);
        // Where nothing could be saved, nothing else is tried in this turn.
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
    return noteOf(records, unsaved, { reported: reported, workspace: context.workspace });
  }

  return {
    async before(turn, needs, signal) {
      if (needs.every(onlyLooks)) return undefined;
      return inTurn(() => take(turn, needs, signal));
    },
    prepare() {
      const ending = new AbortController();
      early = undefined;
      const begin = setTimeout(() => {
        const { turn } = context.chat;
        const isSaved = () => saved.turn === turn && saved.allBut !== undefined;
        // In the same line as the calls: two cannot be taken at once.
        if (!isSaved()) early = { turn, taken: inTurn(async () => (isSaved() ? undefined : takeEarly(ending.signal))) };
      }, patienceMs).unref();
      return () => {
        clearTimeout(begin);
        ending.abort();
      };
    },
    holdsDeleted: (turn, needs, signal) => inTurn(() => holds(turn, needs, signal)),
    async tidy() {
      if (!loading) return;
      const { sweepSnapshots } = await import("./sweep.ts");
      await sweepSnapshots(context, { daily: true });
    },
  };
}

/** A model that answers sooner is not held up by a snapshot that it may not need. */
const patienceMs = 250;
/** What is older than this is taken anew: somebody may have worked on the files meanwhile. */
const longestEarlyMs = 30_000;

/** A folder inside another one is covered by it. */
function outermost(folders: readonly string[]): string[] {
  const distinct = [...new Set(folders)];
  return distinct.filter((path) => !distinct.some((other) => other !== path && isInside(path, other)));
}

/** Commands and servers may change any file, unless it can be seen that a command only reads. */
async function mayWriteAnything(needs: readonly Need[]): Promise<boolean> {
  for (const need of needs) {
    if (need.kind === "Mcp") return true;
    if (need.kind !== "Shell") continue;
    const { onlyReads } = await import("../../policy/only-reads.ts");
    if (!onlyReads(need.target)) return true;
  }
  return false;
}

/** What a repository holds cannot be borrowed before a call that may take it away. */
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
 * Where the named paths really lead: an edit follows a link to the file, deleting takes the link itself. `whole`: one of
 * them holds a root.
 */
function pathsOf(needs: readonly Need[], workspace: string, roots: readonly string[]) {
  const inside: PathInRoot[] = [];
  const outside: string[] = [];
  let whole = false;
  for (const { kind, target, cwd } of needs) {
    if (kind !== "Write" && kind !== "Delete") continue;
    const given = absolutePath(target, { workspace, home: homeDir(process.env) }, cwd);
    let path: string;
    try {
      path = kind === "Write" ? realTarget(given) : join(realTarget(dirname(given)), basename(given));
    } catch {
      continue; // Links in a circle: the call itself will fail.
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

const mostShown = 5;

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
    const shown = unsaved.slice(0, mostShown).map(({ path, why }) => `${shownPath(path, workspace)} (${reasons[why]})`);
    const more = unsaved.length > mostShown ? ` and ${unsaved.length - mostShown} more` : "";
    sentences.push(`Not saved, so a rewind will not change it: ${shown.join(", ")}${more}.`);
  }
  return sentences.length > 0 ? { message: sentences.join(" "), unsaved } : undefined;
}
