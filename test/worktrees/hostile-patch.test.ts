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

describe("a hostile patch", () => {
  it.each([".cursor/hooks.json", ".vscode/tasks.json", "sub/.cursor/cli.json", ".envrc"])(
    "is shown to be one by what it writes: %s",
    async (path) => {
      const { call, file } = patch(adds("harmless.txt") + adds(path));
      expect(await protectedIn(file, call)).toEqual([path]);
    },
  );

  it("that moves a file to a protected name is one too", async () => {
    const { call, file } = patch(
      "diff --git a/a.txt b/.cursor/hooks.json\nsimilarity index 100%\nrename from a.txt\nrename to .cursor/hooks.json\n",
    );
    expect(await protectedIn(file, call)).toEqual([".cursor/hooks.json"]);
  });

  it.each(["../outside.txt", ".git/hooks/post-checkout", "/tmp/courser-outside.txt", "link/outside.txt"])(
    "does not leave the checkout, nor reach into .git: %s",
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
