// The environment block: where the agent works, said once at the start, and the same for the whole run.
import { dirname, join, resolve } from "node:path";
import { oneLine } from "../../text/one-line.ts";
import { readText, statOrNothing } from "./read-text.ts";

export type PromptMode = "default" | "force" | "plan" | "ask";

export type RunEnvironment = {
  workspace: string;
  roots: readonly string[];
  mode: PromptMode;
  platform: string;
  osRelease: string;
  shell: string;
  today: Date;
  /** What the repository is in the middle of, where that is known. */
  work?: { changedFiles: number; commits: readonly string[] } | undefined;
  /** What commands may do in this mode, where not everything. */
  commands?: (mode: PromptMode) => string | undefined;
};

export function environmentBlock(surroundings: RunEnvironment, git = findGit(surroundings.workspace)): string {
  const { today, workspace } = surroundings;
  const roots = surroundings.roots.filter((root) => root !== workspace);
  const commands = surroundings.commands?.(surroundings.mode);
  const lines = [
    `Workspace: ${oneLine(workspace)} (relative paths start here)`,
    ...(roots.length > 0 ? [`Also open: ${roots.map((root) => oneLine(root)).join(", ")}`] : []),
    `Git: ${gitLine(workspace, git)}${git && surroundings.work ? workWords(surroundings.work) : ""}`,
    `Platform: ${oneLine(`${surroundings.platform} ${surroundings.osRelease}`)}; shell: ${oneLine(surroundings.shell) || "unknown"}`,
    `Date: ${today.getFullYear()}-${twoDigits(today.getMonth() + 1)}-${twoDigits(today.getDate())}`,
    `Mode: ${modeWords[surroundings.mode]}`,
    ...(commands === undefined ? [] : [`Commands: ${commands}`]),
  ];
  return `# Environment\n${lines.join("\n")}`;
}

export type GitCheckout = {
  /** The folder that holds `.git`. */
  root: string;
  /** A branch name, `detached at <commit>`, or undefined where HEAD says neither. */
  branch: string | undefined;
};

/** Undefined outside of a repository. Worktrees and submodules have a `.git` file that points to their folder. */
export function findGit(folder: string): GitCheckout | undefined {
  for (let root = folder; ; root = dirname(root)) {
    const dotGit = join(root, ".git");
    const stat = statOrNothing(dotGit);
    if (stat?.isDirectory()) {
      const branch = branchIn(dotGit);
      // An empty folder of that name is not a repository.
      if (branch !== "missing") return { root, branch };
    }
    if (stat?.isFile()) {
      const pointer = readText(dotGit, { limit: 4096 });
      const target = pointer.type === "text" ? /^gitdir: *([^\n]+)/.exec(pointer.text)?.[1] : undefined;
      const branch = target === undefined ? "missing" : branchIn(resolve(root, target.trim()));
      return { root, branch: branch === "missing" ? undefined : branch };
    }
    if (dirname(root) === root) return undefined;
  }
}

const modeWords: Record<PromptMode, string> = {
  default: "agent",
  force: "agent, every call is allowed unless a rule denies it",
  plan: "plan, read-only",
  ask: "ask, read-only",
};

function gitLine(workspace: string, git: GitCheckout | undefined): string {
  if (!git) return "not a repository";
  const branch = git.branch ?? "unknown branch";
  return git.root === workspace ? branch : `${branch} (root ${oneLine(git.root)})`;
}

/** Subjects are what somebody wrote: quoted, and short. */
function workWords({ changedFiles, commits }: NonNullable<RunEnvironment["work"]>): string {
  const changed = changedFiles === 0 ? "clean" : `${changedFiles} changed ${changedFiles === 1 ? "file" : "files"}`;
  const subjects = commits.map((subject) => JSON.stringify(oneLine(subject, 50)));
  return `, ${changed}${subjects.length > 0 ? `; last commits: ${subjects.join(", ")}` : ""}`;
}

/** Only what has the shape of a HEAD is passed on: the file is as untrusted as the rest of the workspace. */
function branchIn(folder: string): string | undefined | "missing" {
  const head = readText(join(folder, "HEAD"), { limit: 1024 });
  if (head.type !== "text") return head.type === "missing" ? "missing" : undefined;
  const line = head.text.split("\n", 1)[0]!.trim();
  const reference = /^ref: *refs\/heads\/(\S{1,200})$/.exec(line)?.[1];
  // Repositories with another format of references keep this name in HEAD.
  if (reference !== undefined) return reference === ".invalid" ? undefined : oneLine(reference);
  return /^[0-9a-f]{40,64}$/.test(line) ? `detached at ${line.slice(0, 12)}` : undefined;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}
