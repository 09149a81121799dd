// The folders of one attempt: a copy of the environment to work in, a home of its own, and where Harbor's scripts expect
// their logs, tests and solution.
import {
  chmodSync,
  cpSync,
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
import { basename, dirname, join } from "node:path";
import { invalid, type Task } from "./task.ts";

export type AttemptFolders = {
  /** Holds all of them. */
  base: string;
  /** What the agent works in. */
  work: string;
  home: string;
  config: string;
  logs: string;
  tests: string;
  solution: string;
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
  };
  for (const folder of [folders.work, folders.config, join(folders.logs, "agent"), join(folders.logs, "verifier")])
    mkdirSync(folder, { recursive: true });
  copyEnvironment(task, folders.work);
  return folders;
}

export function removeFolders({ base }: AttemptFolders): void {
  rmSync(base, { recursive: true, force: true, maxRetries: 3 });
}

function copyEnvironment({ folder, environment }: Task, work: string): void {
  const source = join(folder, "environment");
  for (const { from, to } of environment.copies) {
    const path = join(source, from);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat) throw invalid(folder, `environment/${from} does not exist`);
    const target = join(work, stat.isDirectory() || !to.endsWith("/") ? to : join(to, basename(from)));
    mkdirSync(stat.isDirectory() ? target : dirname(target), { recursive: true });
    cpSync(path, target, { recursive: true, verbatimSymlinks: true });
  }
  rmSync(join(work, "Dockerfile"), { force: true });
}

/** Only when they are needed: an agent that finds the tests has found the answer. */
export function bringScripts(task: Task, folders: AttemptFolders, name: "tests" | "solution"): string {
  const target = folders[name];
  // Whatever somebody put there who could.
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

/** The paths of a container, as they are here. */
export function withOwnPaths(text: string, { environment }: Task, folders: AttemptFolders): string {
  const named: Record<string, string> = {
    "/logs": folders.logs,
    "/tests": folders.tests,
    "/solution": folders.solution,
    ...(environment.workdir !== undefined && { [environment.workdir]: folders.work }),
  };
  const found = Object.keys(named).sort((one, other) => other.length - one.length);
  const pattern = new RegExp(String.raw`(?<![\w./$~}-])(?:${found.join("|")})(?![\w.-])`, "g");
  return text.replace(pattern, (path) => named[path]!);
}

/** Scripts may have put anything there: only files are read. */
export function readIfThere(path: string): string | undefined {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, "utf8") : undefined;
}
