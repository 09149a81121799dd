// Takes the files of a workspace back to the state before a turn, and that back again.
import { UserError } from "../../protocol/error-codes.ts";
import type { ChatWriter } from "../../store/chats/chat.ts";
import { openFolder } from "../folder-handle.ts";
import { ownFolders } from "./chat-snapshots.ts";
import { decodeSnapshot, type Snapshot } from "./manifest.ts";
import { type LeftPath, planRestore, type RestoreStep } from "./plan.ts";
import { keptState, objectsOf, readRecords, readUndo, saveUndo } from "./records.ts";
import { carryOutPlan } from "./restore.ts";
import { Pauses } from "./scan.ts";
import { SnapshotStore } from "./store.ts";
import { takePresentPaths } from "./take-snapshot.ts";
import { composeTarget, type RestoreTarget } from "./target.ts";

export type RewindContext = {
  configDir: string;
  workspace: string;
  chat: Pick<ChatWriter, "metadata" | "state" | "saveState" | "turn">;
};

/** What a restore did, or would do. `left`: stays as it is, and why. `failed`: should have changed, and did not. */
export type RestoreResult = { steps: readonly RestoreStep[]; left: readonly LeftPath[]; failed: readonly LeftPath[] };

export type Rewind = {
  /** Brings the files back to the state before a turn. What is there now is saved first. */
  restore(turn: number, options?: { dryRun?: boolean }): Promise<RestoreResult>;
  /** Takes the last restore back; undefined when there is none. Twice is as if nothing had been done. */
  undo(options?: { dryRun?: boolean }): Promise<RestoreResult | undefined>;
  /** Why files were not saved in this turn and those after it. */
  gaps(turn: number): { turn: number; why: string }[];
  /**
   * Takes the conversation back by `rewindTo`, which saves `state` in the same step. With the files or alone: alone, what was saved since then belongs to the turn
   * before: a later rewind to that one still knows it.
   */
  takeBack(turn: number, options: { files: boolean }, rewindTo: (state: ReadonlyMap<string, unknown>) => void): void;
};

export function openRewind({ configDir, workspace, chat }: RewindContext): Rewind {
  const store = new SnapshotStore({ configDir, workspace });
  const closed = ownFolders(configDir);

  async function bringBack(snapshots: readonly Snapshot[], { dryRun = false } = {}): Promise<RestoreResult> {
    const target = composed(snapshots);
    checkRoots(target.roots);
    const pauses = new Pauses();
    const { steps, left } = await planRestore(store, target, { closed, pauses });
    await checkContents(steps);
    if (dryRun || steps.length === 0) return { steps, left, failed: [] };
    await store.use(async () => {
      const present = steps.map(({ root, path, node, entry }) => ({ root, path, node, becomes: entry.kind }));
      const { object } = await takePresentPaths(store, present, { closed, pauses });
      store.keep(chat.metadata.id, [object]);
      saveUndo(chat, object);
    });
    const { done, failed } = await carryOutPlan(steps, { objects: store.objects, pauses });
    return { steps: done, left, failed };
  }

  function snapshotOf(object: string, of: string): Snapshot {
    try {
      store.objects.refresh();
      return decodeSnapshot(store.objects.get(object));
    } catch {
      throw lost(`The snapshot ${of} is`);
    }
  }

  function composed(snapshots: readonly Snapshot[]): RestoreTarget {
    try {
      return composeTarget(snapshots, store.objects);
    } catch {
      throw lost("The list of a directory is");
    }
  }

  /** Everything that will be written is read to its end before the first file is touched. */
  async function checkContents(steps: readonly RestoreStep[]): Promise<void> {
    const missing: string[] = [];
    for (const { change, entry, path } of steps) {
      if (change !== "write" || !("object" in entry) || entry.object === undefined) continue;
      await store.objects.check(entry.object).catch(() => missing.push(path));
    }
    if (missing.length === 0) return;
    const more = missing.length > 5 ? ` and ${missing.length - 5} more` : "";
    throw lost(`What was saved of ${missing.slice(0, 5).join(", ")}${more} is`);
  }

  const turnsFrom = (first: number) =>
    Array.from({ length: Math.max(0, chat.turn - first + 1) }, (_, index) => first + index);

  return {
    async restore(turn, options) {
      const snapshots = turnsFrom(turn).flatMap((each) =>
        readRecords(chat, each).flatMap((record) =>
          "object" in record ? [snapshotOf(record.object, `of turn ${each}`)] : [],
        ),
      );
      return bringBack(snapshots, options);
    },
    async undo(options) {
      const object = readUndo(chat);
      return object === undefined ? undefined : bringBack([snapshotOf(object, "of the last rewind")], options);
    },
    gaps: (turn) =>
      turnsFrom(turn).flatMap((each) =>
        readRecords(chat, each).flatMap((record) => ("missing" in record ? [{ turn: each, why: record.missing }] : [])),
      ),
    takeBack(turn, { files }, rewindTo) {
      // The chat forgets what it kept of the turns that go; what is still needed is given to it again.
      const since = turnsFrom(turn).flatMap((each) => readRecords(chat, each));
      rewindTo(keptState(chat, turn, files || turn === 1 ? [] : since));
      if (store.exists) store.keepOnly(chat.metadata.id, objectsOf(chat));
    },
  };
}

function lost(what: string): UserError {
  return new UserError(
    "STORE_CORRUPT",
    `${what} gone or damaged: the files cannot be restored, and nothing was changed. For the conversation alone: --conversation-only.`,
  );
}

/** Nothing is touched when one of the folders is not what it was. */
function checkRoots(roots: readonly string[]): void {
  for (const root of roots) {
    try {
      openFolder(root).close();
    } catch {
      throw new UserError(
        "CWD_MISSING",
        `${root} is gone, or its path now points elsewhere: nothing was changed. Restore the directory, or use --conversation-only.`,
      );
    }
  }
}
