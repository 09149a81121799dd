// Takes the snapshots of one chat, and keeps them as long as the chat exists.
import { realOrSame } from "../../policy/paths.ts";
import { homeDir } from "../../store/config-dir.ts";
import { gitRepositoryOf } from "./git-index.ts";
import type { SnapshotContext } from "./index.ts";
import { objectsOf } from "./records.ts";
import { Pauses, TreeTooLarge, usualLimits } from "./scan.ts";
import { SnapshotStore } from "./store.ts";
import { type PathInRoot, type TakenSnapshot, takePaths, takeTrees } from "./take-snapshot.ts";

export type ChatSnapshots = {
  /** Saves everything below the roots. A tree that is too large is not tried again. */
  tree(options: TreeOptions): Promise<TakenSnapshot | { missing: string }>;
  /** Takes the same snapshot ahead of time. Returns undefined if much would have to be read and written, perhaps in vain. */
  early(signal: AbortSignal): Promise<TakenSnapshot | undefined>;
  paths(paths: readonly PathInRoot[], signal?: AbortSignal): Promise<TakenSnapshot>;
};

/** `borrow`: do not save contents that a git repository stores. `early` is a snapshot that was taken in advance. */
type TreeOptions = { borrow: boolean; early?: TakenSnapshot | undefined; signal?: AbortSignal | undefined };

/** Opens the snapshots of a chat. No root may be inside another root. */
export function openChatSnapshots({
  configDir,
  workspace,
  roots,
  sessionId,
  chat,
  limits = usualLimits,
}: SnapshotContext): ChatSnapshots {
  const store = new SnapshotStore({ configDir, workspace });
  const closed = ownFolders(configDir);
  let tooLarge: string | undefined;
  let begun = false;

  const keeping = (take: (pauses: Pauses) => Promise<TakenSnapshot>, signal?: AbortSignal): Promise<TakenSnapshot> =>
    store.use(async () => {
      const taken = await take(new Pauses(signal));
      // A forked chat refers to snapshots that so far only the original chat has registered.
      const earlier = begun || store.keptBy(sessionId).length > 0 ? [] : objectsOf(chat);
      begun = true;
      store.keep(sessionId, [...earlier, taken.object]);
      return taken;
    });

  const takeAll = (borrow: boolean, pauses: Pauses) => takeTrees(store, roots, { limits, closed, pauses, borrow });

  return {
    async tree({ borrow, early, signal }) {
      if (tooLarge !== undefined) return { missing: tooLarge };
      try {
        return await keeping(async (pauses) => early ?? takeAll(borrow, pauses), signal);
      } catch (error) {
        if (!(error instanceof TreeTooLarge)) throw error;
        tooLarge = error.message;
        return { missing: tooLarge };
      }
    },
    async early(signal) {
      const isLittle = store.exists || roots.every((root) => gitRepositoryOf(root));
      if (tooLarge !== undefined || !isLittle) return undefined;
      return store.use(() => takeAll(true, new Pauses(signal, shortSlice)));
    },
    paths: (paths, signal) => keeping((pauses) => takePaths(store, paths, { limits, closed, pauses }), signal),
  };
}

/** How many seconds at a time an early snapshot, which no call waits for yet, may block other work. */
const shortSlice = 0.004;

/** Returns the agent's own folders, which contain the snapshots and are never part of one. */
export function ownFolders(configDir: string): ReadonlySet<string> {
  const folders = [configDir, `${homeDir(process.env)}/.cursor`];
  return new Set(folders.flatMap((folder) => [folder, realOrSame(folder)]));
}
