// A patch that a worker sent back: what it may not do when it is applied.
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { protectedIn } from "../../src/cli/commands/runs/patch.ts";
import { git } from "../../src/worktrees/git.ts";
import { createRepository, type Repository } from "./repository.ts";

let repository: Repository;
beforeEach(() => {
  repository = createRepository();
});
afterEach(() => repository.remove());

const adds = (path: string, text = "evil") =>
  `diff --git a/${path} b/${path}\nnew file mode 100755\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+${text}\n`;

function patch(text: string) {
  const call = { cwd: repository.path, env: repository.env };
  return { call, file: repository.file(join("..", "patch"), text) };
}

describe("hostile patches", () => {
  it.each([".cursor/hooks.json", ".vscode/tasks.json", "sub/.cursor/cli.json", ".envrc"])(
    "a patch is recognised as hostile by what it writes: %s",
    async (path) => {
      const { call, file } = patch(adds("harmless.txt") + adds(path));
      expect(await protectedIn(file, call)).toEqual([path]);
    },
  );

  it("a patch for a subfolder is recognised as hostile by its file names there", async () => {
    const { call, file } = patch(adds("harmless.txt") + adds(".vscode/tasks.json"));
    const inside = { ...call, cwd: join(repository.path, "sub") };
    expect(await protectedIn(file, inside, "sub/")).toEqual([".vscode/tasks.json"]);
  });

  it("a patch that moves a file to a protected name is hostile too", async () => {
    const { call, file } = patch(
      "diff --git a/a.txt b/.cursor/hooks.json\nsimilarity index 100%\nrename from a.txt\nrename to .cursor/hooks.json\n",
    );
    expect(await protectedIn(file, call)).toEqual([".cursor/hooks.json"]);
  });

  it("a patch that moves a protected file away is hostile too", async () => {
    const { call, file } = patch(
      "diff --git a/.cursorignore b/seen.txt\nsimilarity index 100%\nrename from .cursorignore\nrename to seen.txt\n",
    );
    expect(await protectedIn(file, call)).toEqual([".cursorignore"]);
  });

  it("a patch that makes a link and writes through it applies nothing", async () => {
    const link =
      "diff --git a/w b/w\nnew file mode 120000\n--- /dev/null\n+++ b/w\n@@ -0,0 +1 @@\n+.vscode\n\\ No newline at end of file\n";
    const { call, file } = patch(link + adds("w/tasks.json"));
    await expect(git(["apply", file], call)).rejects.toThrow("beyond a symbolic link");
    expect(existsSync(join(repository.path, ".vscode"))).toBe(false);
  });

  it.each(["../outside.txt", ".git/hooks/post-checkout", "/tmp/courser-outside.txt", "link/outside.txt"])(
    "a patch cannot leave the checkout or reach into .git: %s",
    async (path) => {
      mkdirSync(join(repository.path, "..", "target"));
      symlinkSync(join("..", "target"), join(repository.path, "link"));
      const { call, file } = patch(adds(path));
      await expect(git(["apply", file], call)).rejects.toThrow();
      for (const name of ["../outside.txt", ".git/hooks/post-checkout", "../target/outside.txt"])
        expect(existsSync(join(repository.path, name))).toBe(false);
    },
  );
});
