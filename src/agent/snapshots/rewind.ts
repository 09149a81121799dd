// Restores the files of a workspace to the state before a turn, and undoes that again.
import { isInside } from "../../policy/paths.ts";
import { UserError } from "../../protocol/error-codes.ts";
import type { ChatWriter } from "../../store/chats/chat.ts";
import { firstOf } from "../../text/first-of.ts";
import { openFolder } from "../folder-handle.ts";
import { ownFolders } from "./chat-snapshots.ts";
import { decodeSnapshot, type Snapshot } from "./manifest.ts";
import { type LeftPath, planRestore, type RestorePlan, type RestoreStep } from "./plan.ts";
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

/** The result of a restore or its dry run. `left` lists paths that are not changed; `failed` those that failed. */
export type RestoreResult = { steps: readonly RestoreStep[]; left: readonly LeftPath[]; failed: readonly LeftPath[] };

export type Rewind = {
  /** Restores the files to the state before a turn, or only `file`. Saves the present state first. */
  restore(turn: number, options?: { dryRun?: boolean; file?: string }): Promise<RestoreResult>;
  /** Undoes the last restore. Returns undefined if there is none. A second call restores it again. */
  undo(options?: { dryRun?: boolean }): Promise<RestoreResult | undefined>;
  /** Returns why files were not saved in this turn and later ones. */
  gaps(turn: number): { turn: number; why: string }[];
  /**
   * Rewinds the conversation by `rewindTo`, which saves `state` in the same step. Without the files, the snapshots since then are
   * assigned to the previous turn, so that a later rewind to that one still has them.
   */
  takeBack(turn: number, options: { files: boolean }, rewindTo: (state: ReadonlyMap<string, unknown>) => void): void;
};

export function openRewind({ configDir, workspace, chat }: RewindContext): Rewind {
  const store = new SnapshotStore({ configDir, workspace });
  const closed = ownFolders(configDir);

  async function bringBack(
    snapshots: readonly Snapshot[],
    { dryRun = false, file }: { dryRun?: boolean; file?: string } = {},
  ): Promise<RestoreResult> {
    const target = composeOrExplain(snapshots);
    checkRoots(target.roots);
    const pauses = new Pauses();
    const plan = await planRestore(store, target, { closed, pauses });
    const { steps, left } = file === undefined ? plan : planForFile(plan, file);
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
      throw lostContentError(`The snapshot ${of} is`);
    }
  }

  function composeOrExplain(snapshots: readonly Snapshot[]): RestoreTarget {
    try {
      return composeTarget(snapshots, store.objects);
    } catch {
      throw lostContentError("The list of a directory is");
    }
  }

  /** Reads everything that will be written to its end before the first file is changed. */
  async function checkContents(steps: readonly RestoreStep[]): Promise<void> {
    const missing: string[] = [];
    for (const { change, entry, path } of steps) {
      if (change !== "write" || !("object" in entry) || entry.object === undefined) continue;
      await store.objects.check(entry.object).catch(() => missing.push(path));
    }
    if (missing.length === 0) return;
    throw lostContentError(`What was saved of ${firstOf(missing, 5)} is`);
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
      // The chat deletes the state of the removed turns, so copy what is still needed.
      const since = turnsFrom(turn).flatMap((each) => readRecords(chat, each));
      rewindTo(keptState(chat, turn, files || turn === 1 ? [] : since));
      if (store.exists) store.keepOnly(chat.metadata.id, objectsOf(chat));
    },
  };
}

/** Filters a plan for one file: the file itself, and the folders that it needs. */
function planForFile({ steps, left }: RestorePlan, file: string): RestorePlan {
  return {
    steps: steps.filter(({ path, change }) => path === file || (change === "make" && isInside(file, path))),
    left: left.filter(({ path }) => path === file),
  };
}

function lostContentError(what: string): UserError {
  return new UserError(
    "STORE_CORRUPT",
    `${what} gone or damaged: the files cannot be restored, and nothing was changed. For the conversation alone: --conversation-only.`,
  );
}

/** Throws before any change if one of the folders is gone or has been replaced. */
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
