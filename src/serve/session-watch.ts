// Polls for sessions that change on disk, such as those of an agent in a terminal, so that open pages can be updated.
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { milliseconds } from "../process/clock.ts";
import { listForeignSessions } from "../sdk/sessions/index.ts";
import type { UnifiedTool } from "../sdk/unified.ts";
import { chatsDir, isChatId } from "../store/chats/layout.ts";
import { changedAt } from "../store/chats/read-chat.ts";
import { configDir } from "../store/config-dir.ts";
import { namesIn } from "../store/folder-names.ts";

/** `name` is the session's file or folder, which contains its id. */
export type ChangedSession = { tool: UnifiedTool; name: string };

const leastPauseMs = 700;
/** The pause is this many times as long as a scan takes, however many sessions there are. */
const share = 25;

/** Yields sessions that are new or have changed, until `signal`. Polls, because not every system can watch recursively. */
export async function* changedSessions(env: NodeJS.ProcessEnv, signal: AbortSignal): AsyncGenerator<ChangedSession[]> {
  let lastTimes = readChangeTimes(env);
  let tookMs = 0;
  while (!signal.aborted) {
    await sleep(Math.max(leastPauseMs, share * tookMs), undefined, { signal, ref: false }).catch(() => {});
    if (signal.aborted) return;
    const since = milliseconds();
    const now = readChangeTimes(env);
    tookMs = milliseconds() - since;
    const changed = [...now].filter(([path, { at }]) => lastTimes.get(path)?.at !== at);
    lastTimes = now;
    if (changed.length > 0) yield changed.map(([path, { tool }]) => ({ tool, name: basename(path) }));
  }
}

/** When each session last changed, by the path of its file or folder. */
type ChangeTimes = Map<string, { tool: UnifiedTool; at: number }>;

function readChangeTimes(env: NodeJS.ProcessEnv): ChangeTimes {
  const times: ChangeTimes = new Map();
  const chats = chatsDir(configDir(env));
  for (const project of namesIn(chats))
    for (const id of namesIn(join(chats, project)))
      if (isChatId(id))
        times.set(join(chats, project, id), { tool: "cursor", at: changedAt(join(chats, project, id)) });
  for (const { path, tool, updatedAt } of listForeignSessions(env)) times.set(path, { tool, at: updatedAt });
  return times;
}
