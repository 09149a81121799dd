// Builds the environment block of the system prompt, which stays the same for the whole run.
import { dirname, join, relative, resolve } from "node:path";
import type { PermissionMode } from "../../protocol/run.ts";
import { oneLine, withoutMiddle } from "../../text/one-line.ts";
import { readText, statOrNothing } from "./read-text.ts";

export type RunEnvironment = {
  workspace: string;
  roots: readonly string[];
  mode: PermissionMode;
  platform: string;
  osRelease: string;
  shell: string;
  today: Date;
  /** The number of uncommitted changes and the latest commit subjects, if the workspace is a git repository. */
  work?: { changedFiles: number; commits: readonly string[] } | undefined;
  /** Describes what commands may do in this permission mode, if they are restricted. */
  commands?: (mode: PermissionMode) => string | undefined;
};

export function environmentBlock(surroundings: RunEnvironment, git = findGit(surroundings.workspace)): string {
  const { today, workspace } = surroundings;
  const roots = surroundings.roots.filter((root) => root !== workspace);
  const commands = surroundings.commands?.(surroundings.mode);
  const lines = [
    `Workspace: ${shownPath(workspace)} (relative paths start here)`,
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
  /** The folder that contains `.git`. */
  root: string;
  /** The name of the current branch, `detached at <commit>`, or undefined if HEAD names neither. */
  branch: string | undefined;
};

/** Finds the git checkout that contains a folder. In worktrees and submodules, `.git` is a file that points to the git folder. */
export function findGit(folder: string): GitCheckout | undefined {
  for (let root = folder; ; root = dirname(root)) {
    const dotGit = join(root, ".git");
    const stat = statOrNothing(dotGit);
    if (stat?.isDirectory()) {
      const branch = branchIn(dotGit);
      // An empty `.git` folder does not make a repository.
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

const modeWords: Record<PermissionMode, string> = {
  default: "agent",
  force: "agent, every call is allowed unless a rule denies it",
  plan: "plan, read-only",
  ask: "ask, read-only",
};

function gitLine(workspace: string, git: GitCheckout | undefined): string {
  if (!git) return "not a repository";
  const branch = withoutMiddle(git.branch ?? "unknown branch", 50);
  return git.root === workspace ? branch : `${branch} (root ${shownPath(relative(workspace, git.root))})`;
}

/** Shortens a path for the system prompt, which every request repeats. Tools accept relative paths, so the middle is dispensable. */
function shownPath(path: string): string {
  return withoutMiddle(oneLine(path), 100);
}

/** Describes uncommitted changes and recent commits. Commit subjects are untrusted, so they are quoted and cut. */
function workWords({ changedFiles, commits }: NonNullable<RunEnvironment["work"]>): string {
  const changed = changedFiles === 0 ? "clean" : `${changedFiles} changed ${changedFiles === 1 ? "file" : "files"}`;
  const subjects = commits.map((subject) => JSON.stringify(oneLine(subject, 40)));
  return `, ${changed}${subjects.length > 0 ? `; last commits: ${subjects.join(", ")}` : ""}`;
}

/** Returns only what has the form of a HEAD: the file is as untrusted as the rest of the workspace. */
function branchIn(folder: string): string | undefined | "missing" {
  const head = readText(join(folder, "HEAD"), { limit: 1024 });
  if (head.type !== "text") return head.type === "missing" ? "missing" : undefined;
  const line = head.text.split("\n", 1)[0]!.trim();
  const reference = /^ref: *refs\/heads\/(\S+)$/.exec(line)?.[1];
  // Repositories with the reftable format have this name in HEAD.
  if (reference !== undefined) return reference === ".invalid" ? undefined : oneLine(reference);
  return /^[0-9a-f]{40,64}$/.test(line) ? `detached at ${line.slice(0, 12)}` : undefined;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}
