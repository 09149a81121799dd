// Control groups: limits for all processes of a command together, where the system permits creating a group.
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { tryOr } from "../../text/try-or.ts";

export interface ControlGroup {
  /** A process joins by writing to `cgroup.procs` in each folder. */
  folders: readonly string[];
  /** Removes the control group. Call this when all its processes have ended. */
  remove(): Promise<void>;
}

type GroupLimits = { memoryMb: number; processes: number };

const base = "/sys/fs/cgroup";

/** Creates a control group (cgroup); undefined where that is not permitted, as for most ordinary users and in most containers. */
export function makeControlGroup(limits: GroupLimits): ControlGroup | undefined {
  const name = `courser-${process.pid}-${Math.random().toString(36).slice(2, 8)}`;
  for (const parents of candidates()) {
    const createdGroups: string[] = [];
    try {
      for (const { folder, files } of parents) {
        const groupFolder = join(folder, name);
        mkdirSync(groupFolder);
        createdGroups.push(groupFolder);
        if (files.memory) writeFileSync(join(groupFolder, files.memory), String(limits.memoryMb * 1024 * 1024));
        if (files.processes) writeFileSync(join(groupFolder, files.processes), String(limits.processes));
      }
      return { folders: createdGroups, remove: () => removeSoon(createdGroups) };
    } catch {
      for (const folder of createdGroups) tryToRemove(folder);
    }
  }
  return undefined;
}

/** A control group folder in which groups can be created; `files` are the names of its files for limits. */
type ParentGroup = { folder: string; files: { memory?: string; processes?: string } };

/** Returns the folders in which a control group may be created, best first. Each candidate is a set of folders. */
function candidates(): ParentGroup[][] {
  const text = tryOr(() => readFileSync("/proc/self/cgroup", "utf8"), "");
  const paths = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [, names, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (path !== undefined) for (const name of names!.split(",")) paths.set(name, path);
  }
  const [memory, pids, unified] = ["memory", "pids", ""].map((name) => paths.get(name));
  if (memory !== undefined && pids !== undefined) {
    return [
      [
        { folder: join(base, "memory", memory), files: { memory: "memory.limit_in_bytes" } },
        { folder: join(base, "pids", pids), files: { processes: "pids.max" } },
      ],
    ];
  }
  if (unified === undefined) return [];
  const files = { memory: "memory.max", processes: "pids.max" };
  // In cgroup v2, a group with processes cannot delegate controllers to child groups, but its parent may.
  return [join(base, unified), join(base, dirname(unified))].map((folder) => [{ folder, files }]);
}

/** Retries, since the kernel may take a moment to notice that the processes are dead. */
async function removeSoon(folders: readonly string[]): Promise<void> {
  let left = folders;
  for (let tries = 0; tries < 20; tries++) {
    left = left.filter((folder) => !tryToRemove(folder));
    if (left.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The minimum age in milliseconds of an empty group before it is removed: a younger one may be about to be used. */
const leftMs = 60_000;

/** Removes the groups of runs that were killed. The kernel keeps any group that still has a process. */
export function removeLeftGroups(): void {
  for (const { folder } of candidates().flat()) {
    try {
      for (const name of readdirSync(folder)) {
        const path = join(folder, name);
        if (/^courser-\d+-/.test(name) && Date.now() - statSync(path).ctimeMs > leftMs) tryToRemove(path);
      }
    } catch {
      // The control group is missing or cannot be read.
    }
  }
}

function tryToRemove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}
