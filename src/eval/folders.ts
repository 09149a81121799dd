// Creates the folders of one attempt: a copy of the environment to work in, a home of its own, and the places where Harbor's
// scripts expect logs, tests and solution.
import {
  chmodSync,
  cpSync,
  existsSync,
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
import { invalid, type Task } from "./task.ts";

export type AttemptFolders = {
  /** The folder that holds all others. */
  base: string;
  /** The workspace of the agent. */
  work: string;
  home: string;
  config: string;
  logs: string;
  tests: string;
  solution: string;
};

/** Throws if the task contains links that leave it. */
export function makeFolders(task: Task): AttemptFolders {
  refuseLinksOut(task.folder);
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

/** Copying through such a link would read or change files of the user. A link to nothing may lead anywhere later. */
function refuseLinksOut(folder: string): void {
  const root = realpathSync(folder);
  for (const entry of readdirSync(root, { withFileTypes: true, recursive: true })) {
    if (!entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    const target = existsSync(path) ? realpathSync(path) : undefined;
    if (!target?.startsWith(root + sep)) throw invalid(folder, `${relative(root, path)} is a link out of the task`);
  }
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

/** Replaces container paths by the attempt's own. */
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

/** Reads regular files only, because scripts may have put anything there. */
export function readIfThere(path: string): string | undefined {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, "utf8") : undefined;
}
