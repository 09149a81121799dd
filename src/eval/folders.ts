// Creates the folders of one attempt: a copy of the environment to work in, a home of its own, and the places where Harbor's
// scripts expect logs, tests and solution.
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, sep } from "node:path";
import { UserError } from "../protocol/error-codes.ts";
import { entriesBelow } from "../store/entries-below.ts";
import { invalidTaskError } from "./environment.ts";
import type { Task } from "./task.ts";

export type AttemptFolders = {
  /** The folder that contains all others of the attempt. Scripts may write to it. */
  base: string;
  /** The folder in which the agent works. */
  work: string;
  home: string;
  config: string;
  logs: string;
  tests: string;
  solution: string;
  /** The repository for the diff, where scripts cannot write: its settings name programs. */
  diff: string;
};

export function makeFolders(task: Task): AttemptFolders {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "courser-eval-")));
  const home = join(base, "home");
  const folders: AttemptFolders = {
    base,
    work: join(base, "workspace"),
    home,
    config: join(home, ".cursor"),
    logs: join(base, "logs"),
    tests: join(base, "tests"),
    solution: join(base, "solution"),
    diff: mkdtempSync(join(tmpdir(), "courser-eval-diff-")),
  };
  mkdirSync(folders.work, { recursive: true });
  makeOwnFolders(folders);
  copyEnvironment(task, folders.work);
  return folders;
}

function makeOwnFolders({ config, logs }: AttemptFolders): void {
  for (const folder of [config, join(logs, "agent"), join(logs, "verifier")]) mkdirSync(folder, { recursive: true });
}

/** Creates our own folders anew: what a script left in their place would be used outside the sandbox. */
export function renewFolders(folders: AttemptFolders): void {
  checkFolders(folders);
  const kept = [basename(folders.work), basename(folders.home)];
  for (const name of readdirSync(folders.base))
    if (!kept.includes(name)) rmSync(join(folders.base, name), { recursive: true, force: true });
  rmSync(folders.config, { recursive: true, force: true });
  makeOwnFolders(folders);
}

/** Throws if a script has replaced a folder by a link. */
export function checkFolders({ work, home, logs }: AttemptFolders): void {
  for (const folder of [work, home, logs, join(logs, "agent"), join(logs, "verifier")])
    if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
      throw new UserError("TASK_INVALID", `A script of the task has replaced its ${basename(folder)} directory.`);
}

export function removeFolders({ base, diff }: AttemptFolders): void {
  for (const folder of [base, diff]) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/**
 * Throws if a link leads out of the folder, through which files of the user could be read or changed, and for pipes and devices, which
 * cannot be read to an end.
 */
export function refuseLinksOut(folder: string): void {
  const root = realpathSync(folder);
  for (const entry of entriesBelow(root)) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() || entry.isDirectory()) continue;
    if (!entry.isSymbolicLink())
      throw invalidTaskError(folder, `${relative(root, path)} is neither a file nor a directory`);
    const target = existsSync(path) ? realpathSync(path) : undefined;
    if (!target?.startsWith(root + sep))
      throw invalidTaskError(folder, `${relative(root, path)} is a link out of the task`);
  }
}

function copyEnvironment({ folder, environment }: Task, work: string): void {
  const source = join(folder, "environment");
  for (const { from, to } of environment.copies) {
    const path = join(source, from);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat) throw invalidTaskError(folder, `environment/${from} does not exist`);
    const target = join(work, stat.isDirectory() || !to.endsWith("/") ? to : join(to, basename(from)));
    mkdirSync(stat.isDirectory() ? target : dirname(target), { recursive: true });
    cpSync(path, target, { recursive: true, verbatimSymlinks: true });
  }
  rmSync(join(work, "Dockerfile"), { force: true });
}

/** Copies the scripts only when they are needed, because an agent that finds the tests has found the answer. */
export function bringScripts(task: Task, folders: AttemptFolders, name: "tests" | "solution"): string {
  const target = folders[name];
  // Remove anything that an unconfined agent may have put there.
  rmSync(target, { recursive: true, force: true });
  cpSync(join(task.folder, name), target, { recursive: true, verbatimSymlinks: true });
  for (const path of filesIn(target)) {
    const text = readFileSync(path);
    if (text.includes(0) || text.length > longestScript) continue;
    const before = text.toString("utf8");
    const after = withOwnPaths(before, task, folders);
    if (after === before) continue;
    const { mode } = statSync(path);
    writeFileSync(path, after);
    chmodSync(path, mode);
  }
  return target;
}

const longestScript = 1 << 20;

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesIn(path) : entry.isFile() ? [path] : [];
  });
}

/** Replaces paths of the container by those of the attempt. */
export function withOwnPaths(text: string, { environment }: Task, folders: AttemptFolders): string {
  const named: Record<string, string> = {
    "/logs": folders.logs,
    "/tests": folders.tests,
    "/solution": folders.solution,
    ...(environment.workdir !== undefined && { [environment.workdir]: folders.work }),
  };
  const found = Object.keys(named).sort((one, other) => other.length - one.length);
  const literal = found.map((path) => path.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  const pattern = new RegExp(String.raw`(?<![\w./$~}-])(?:${literal.join("|")})(?![\w.-])`, "g");
  return text.replace(pattern, (path) => named[path]!);
}

const largestKept = 256 * 2 ** 20;

/** Reads regular files only, because scripts may have put anything there. */
export function readIfThere(path: string): string | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() && stat.size <= largestKept ? readFileSync(path, "utf8") : undefined;
}
