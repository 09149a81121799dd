// Whatever happens in a worktree, the checkout behind it stays as it is; and a merge writes all of it, or nothing.
// COURSER_WORKTREE_ROUNDS=200 for a long run.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { UserError } from "../../src/protocol/error-codes.ts";
import { openWorktree } from "../../src/worktrees/create.ts";
import { planMerge } from "../../src/worktrees/merge.ts";
import { createRepository, everythingIn, type Repository, randomFrom } from "./repository.ts";

const rounds = Number(process.env["COURSER_WORKTREE_ROUNDS"] ?? 5);
const names = ["a.txt", "b.txt", "dir/c.txt", "dir/deep/d.txt", "e e.txt", "ünï.txt"];

/** What an agent that may do anything might do. Failures are part of it. */
const deeds = [
  "git add -A && git commit -qm work --allow-empty",
  "git stash -u",
  "git stash drop",
  "git stash clear",
  "git branch -f main HEAD",
  "git branch -D side",
  "git tag -f v1 HEAD && git tag v2",
  "git tag -d v1",
  "git checkout -q main",
  "git checkout -q side",
  "git reset -q --hard HEAD~1",
  "git gc -q --prune=now",
  "git repack -adq && git prune --expire=now",
  "git reflog expire --expire=now --all",
  "git update-ref -d refs/heads/side",
  "git for-each-ref --format='delete %(refname)' refs/heads | git update-ref --stdin",
  "git worktree add -q ../beside HEAD",
  "git worktree prune",
  "git config user.name Somebody && git remote add far /nowhere",
  "git rebase -q main",
  "git merge -q side",
  "git clean -fdxq",
  "git rm -rq --cached .",
  "rm -rf dir",
  "mv a.txt moved.txt",
  "ln -s ../../.. up",
  "chmod +x b.txt",
  "echo 'exit 1' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
  "rm -f .git/index",
  "git fetch -q .. && git push -q .. HEAD:main",
];

it.each(Array.from({ length: rounds }, (_, index) => index + 1))(
  "work in a worktree never changes the checkout, and a merge writes all or nothing, round %i",
  async (seed) => {
    const random = randomFrom(seed * 7919);
    const repository = createRepository(Object.fromEntries(names.map((name) => [name, lines(random)])));
    try {
      disturb(repository, random);
      const before = everythingIn(repository);
      const call = { cwd: repository.path, env: repository.env };
      const { worktree } = await openWorktree({
        configDir: repository.config,
        env: repository.env,
        workspace: realpathSync(repository.path),
        name: "try",
        setup: false,
      });
      for (let count = 2 + random(10); count > 0; count--) {
        const deed =
          random(3) > 0
            ? deeds[random(deeds.length)]!
            : `printf '%s' '${lines(random)}' > '${names[random(names.length)]}'`;
        try {
          execFileSync("bash", ["-c", deed], { cwd: worktree.path, env: repository.env, stdio: "ignore" });
        } catch {} // a deed may fail
      }
      expect(everythingIn(repository)).toBe(before);

      const dirty = repository.git("status", "--porcelain", "-z", "-uall", "--no-renames").split("\0").filter(Boolean);
      const own = new Map(dirty.map((entry) => [entry.slice(3), contentOf(repository, entry.slice(3))]));
      try {
        const merge = await planMerge(worktree, call);
        await merge.write();
        for (const { path } of merge.changes) expect(own.has(path)).toBe(false);
      } catch (error) {
        expect(error).toBeInstanceOf(UserError);
        expect(everythingIn(repository)).toBe(before);
      }
      for (const [path, content] of own) expect([path, contentOf(repository, path)]).toEqual([path, content]);
      const kept = (text: string) =>
        text.split("\n").filter((line) => /^(index|HEAD|config|packed-refs) |\brefs\//.test(line));
      expect(kept(everythingIn(repository))).toEqual(kept(before));
    } finally {
      repository.remove();
    }
  },
);

/** Branches, tags, a stash, staged and unstaged work. */
function disturb(repository: Repository, random: (most: number) => number): void {
  const { git } = repository;
  git("tag", "v1");
  git("branch", "side");
  repository.file("b.txt", lines(random));
  git("commit", "-qam", "second", "--allow-empty");
  repository.file("stashed.txt", "stashed\n");
  git("stash", "-q", "-u");
  for (let count = random(3); count > 0; count--) {
    const name = names[random(names.length)]!;
    if (random(4) === 0) rmSync(join(repository.path, name));
    else repository.file(name, lines(random));
    if (random(2) === 0) git("add", "-A");
  }
  if (random(2) === 0) repository.file("untracked.txt", "mine\n");
}

function lines(random: (most: number) => number): string {
  return Array.from({ length: 1 + random(6) }, () => `line ${random(4)}\n`).join("");
}

function contentOf({ path }: Repository, name: string): string | undefined {
  const file = join(path, name);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}
