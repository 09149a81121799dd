// A repository to make worktrees of, and everything about it that must stay as it is.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";

export type Repository = Workspace & {
  git(...args: string[]): string;
  gitIn(folder: string, ...args: string[]): string;
};

export function createRepository(
  files: Record<string, string> = { "a.txt": "one\n", "sub/b.txt": "two\n" },
): Repository {
  const workspace = createWorkspace(files);
  const env = {
    ...workspace.env,
    GIT_CONFIG_NOSYSTEM: "1",
    // Looking must not refresh the index, which is compared.
    GIT_OPTIONAL_LOCKS: "0",
    GIT_AUTHOR_NAME: "A",
    GIT_AUTHOR_EMAIL: "a@example.com",
    GIT_COMMITTER_NAME: "A",
    GIT_COMMITTER_EMAIL: "a@example.com",
  };
  Object.assign(workspace.env, env);
  const gitIn = (cwd: string, ...args: string[]) =>
    execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const git = (...args: string[]) => gitIn(workspace.path, ...args);
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-q", "-m", "first");
  return Object.assign(workspace, { git, gitIn });
}

/** Files, index, branches, tags, stash, settings and hooks of a checkout, as one text. */
export function everythingIn(repository: Repository): string {
  const { git, path } = repository;
  const own = ["config", "HEAD", "index", "packed-refs"].map((name) => `${name} ${hashOf(join(path, ".git", name))}`);
  return [
    git("for-each-ref"),
    git("stash", "list"),
    git("worktree", "list"),
    ...own,
    ...filesIn(join(path, ".git", "hooks")),
    ...filesIn(path),
  ].join("\n");
}

export function filesIn(folder: string, prefix = ""): string[] {
  return readdirSync(folder)
    .sort()
    .filter((name) => name !== ".git")
    .flatMap((name) => {
      const path = join(folder, name);
      const stat = lstatSync(path);
      if (stat.isDirectory()) return filesIn(path, `${prefix}${name}/`);
      const content = stat.isSymbolicLink() ? `-> ${readlinkSync(path)}` : hashOf(path);
      return [`${prefix}${name} ${stat.mode & 0o777} ${content}`];
    });
}

function hashOf(file: string): string {
  try {
    return createHash("sha1").update(readFileSync(file)).digest("hex");
  } catch {
    return "-";
  }
}

/** Numbers that are the same for the same seed. */
export function randomFrom(seed: number): (most: number) => number {
  let state = seed >>> 0;
  return (most) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}
