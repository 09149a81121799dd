// Runs in worktrees, with the built program: where they work, what they see, how their work is taken over or thrown away.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createRepository, everythingIn, type Repository } from "./repository.ts";

let repository: Repository;
afterEach(() => repository.remove());

const write = (path: string, contents: string) => ({ name: "Write", args: { path, contents } });
const script = (...calls: object[]) => [{ calls }, { text: "Done." }];

describe("a run in a worktree", () => {
  it("a run in a worktree (-w) does not change the user's checkout", async () => {
    repository = createRepository();
    repository.file("draft.txt", "not committed\n");
    const before = everythingIn(repository);
    const run = await repository.play(script(write("new.txt", "made\n")), ["--trust", "-w", "try"]);
    expect(run.exit).toBe(0);
    const folder = join(repository.config, "worktrees/work/try");
    expect(run.lines()[0]).toMatchObject({ subtype: "init", cwd: folder });
    expect(run.notices()).toContain(`Using worktree: ${folder}`);
    expect(run.notices()).toContain("1 uncommitted change of");
    expect(readFileSync(join(folder, "new.txt"), "utf8")).toBe("made\n");
    expect(existsSync(join(folder, "draft.txt"))).toBe(false);
    expect(everythingIn(repository)).toBe(before);
  });

  it("creating a worktree runs no program that the repository names", async () => {
    repository = createRepository({ ".gitattributes": "* filter=evil diff=evil merge=evil\n", "a.txt": "one\n" });
    const trace = join(repository.home, "ran");
    const names = ["filter.evil.smudge", "filter.evil.clean", "filter.ev=il.process", "merge.evil.driver"];
    for (const name of [...names, "diff.evil.textconv", "core.sshCommand", "core.fsmonitor"])
      repository.git("config", name, `echo ${name} >> ${trace}; cat`);
    repository.file(".git/more", `[filter "evil"]\n\tprocess = touch ${trace}\n\trequired = true\n`);
    repository.git("config", "include.path", "more");
    const run = await repository.play(script(write("a.txt", "two\n")), ["-w", "try"]);
    expect(run.exit).toBe(0);
    for (const words of [["list"], ["show", "try"], ["merge", "try", "--yes"], ["remove", "try", "--yes"]])
      await repository.run(["worktrees", ...words]);
    expect(readFileSync(join(repository.path, "a.txt"), "utf8")).toBe("two\n");
    expect(existsSync(trace)).toBe(false);
  });

  it("a worktree starts at the named commit and subdirectory, and is reused by name", async () => {
    repository = createRepository();
    const first = repository.git("rev-parse", "HEAD").trim();
    repository.file("later.txt", "later\n");
    repository.git("add", "-A");
    repository.git("commit", "-q", "-m", "second");
    const cwd = join(repository.path, "sub");
    const folder = join(repository.config, "worktrees/work/old");
    const args = ["--trust", "-w", "old"];
    const made = await repository.play(script(write("x.txt", "1\n")), [...args, "--worktree-base", first], { cwd });
    expect(made.lines()[0]!["cwd"]).toBe(join(folder, "sub"));
    expect(existsSync(join(folder, "later.txt"))).toBe(false);
    const again = await repository.play(script(write("y.txt", "2\n")), args, { cwd });
    expect(again.exit).toBe(0);
    expect(readFileSync(join(folder, "sub/x.txt"), "utf8") + readFileSync(join(folder, "sub/y.txt"), "utf8")).toBe(
      "1\n2\n",
    );
  });

  it("the agent's commits, branches and stashes stay in its worktree, also from the sandbox", async () => {
    repository = createRepository();
    repository.git("tag", "v1");
    const before = everythingIn(repository);
    const command =
      "echo x >> a.txt && git commit -qam change && git branch other && git tag v2 && git branch -f main HEAD && echo y >> a.txt && git stash && git stash list && git log --oneline --all";
    const file = repository.file(
      join(repository.home, "script.json"),
      JSON.stringify(script({ name: "Shell", args: { command } })),
    );
    const args = [
      "-p",
      "--trust",
      "--model",
      `script:${file}`,
      "--output-format",
      "stream-json",
      "-w",
      "try",
      "--",
      "go",
    ];
    const run = await repository.run(args);
    const end = run.lines().find((line) => line["subtype"] === "completed");
    expect(JSON.stringify(end)).toContain("stash@{0}");
    expect(everythingIn(repository)).toBe(before);
  });

  it("the project's worktree setup runs if it is trusted, and failures are reported", async () => {
    repository = createRepository({
      "a.txt": "one\n",
      ".cursor/worktrees.json": JSON.stringify({
        "setup-worktree": ['cp "$ROOT_WORKTREE_PATH/.env" .env', "echo set > ready.txt"],
      }),
    });
    repository.file(".env", "KEY=1\n");
    const made = await repository.play(script(write("n", "")), ["--trust", "-w", "one"]);
    expect(made.exit).toBe(0);
    const folder = join(repository.config, "worktrees/work");
    expect(readFileSync(join(folder, "one/.env"), "utf8")).toBe("KEY=1\n");
    await repository.play(script(write("n", "")), ["-w", "two", "--skip-worktree-setup"]);
    expect(existsSync(join(folder, "two/ready.txt"))).toBe(false);
    repository.file(".cursor/worktrees.json", JSON.stringify({ "setup-worktree": ["echo no luck >&2; exit 3"] }));
    repository.git("commit", "-qam", "broken setup");
    const failed = await repository.play(script(write("n", "")), ["-w", "three"]);
    expect(failed.lines().at(-1)).toMatchObject({ error_code: "WORKTREE_SETUP" });
    expect(failed.stdout).toContain("no luck");
    expect(existsSync(join(folder, "three"))).toBe(false);
  });

  it("uncommitted deny rules of the project apply in a worktree", async () => {
    repository = createRepository();
    repository.file(".cursor/cli.json", JSON.stringify({ permissions: { allow: [], deny: ["Read(a.txt)"] } }));
    const run = await repository.play(script({ name: "Read", args: { path: "a.txt" } }), [
      "--trust",
      "--force",
      "-w",
      "try",
    ]);
    expect(JSON.stringify(run.lines().find((line) => line["subtype"] === "completed"))).toContain("rejected");
  });

  const deny = JSON.stringify({ permission: "deny", agent_message: "by a hook" });
  const hooks = { version: 1, hooks: { preToolUse: [{ command: `sh ./guard.sh '${deny}'` }] } };
  const claude = { hooks: { PreToolUse: [{ hooks: [{ type: "command", command: "echo by a hook >&2; exit 2" }] }] } };

  it.each<[string, Record<string, string>, object, string]>([
    [".cursorignore", { ".cursorignore": "a.txt\n" }, { name: "Read", args: { path: "a.txt" } }, ".cursorignore hides"],
    [".cursorignore, for commands", { ".cursorignore": "a.txt\n" }, { name: "Grep", args: { pattern: "." } }, "!a.txt"],
    [
      "hooks, with their scripts",
      { ".cursor/hooks.json": JSON.stringify(hooks), "guard.sh": 'echo "$1"\n' },
      write("new.txt", ""),
      "by a hook",
    ],
    [
      ".claude/settings.local.json",
      { ".claude/settings.local.json": JSON.stringify(claude) },
      write("n", ""),
      "by a hook",
    ],
    [
      ".cursor/sandbox.json",
      { ".cursor/sandbox.json": JSON.stringify({ type: "workspace_readonly" }) },
      { name: "Shell", args: { command: "touch made.txt" } },
      "Read-only file system",
    ],
  ])("uncommitted files of the checkout restrict the worktree: %s", async (_name, files, call, shown) => {
    repository = createRepository();
    for (const [name, text] of Object.entries(files)) repository.file(name, text);
    const run = await repository.play(script(call), ["--trust", "--sandbox", "enabled", "-w", "try"]);
    const end = JSON.stringify(run.lines().find((line) => line["subtype"] === "completed"));
    if (shown.startsWith("!")) expect(end).not.toContain(shown.slice(1));
    else expect(end).toContain(shown);
    const folder = join(repository.config, "worktrees/work/try");
    for (const name of Object.keys(files)) expect(existsSync(join(folder, name))).toBe(false);
  });

  it.each([
    [["-w", "fix the bug"], "cannot be the name of a worktree"],
    [["-w", "../up"], "cannot be the name of a worktree"],
    [["--worktree-base", "main"], "--worktree-base needs --worktree"],
    [["-w", "x", "--worktree-base", "nosuch"], "is not a commit of"],
  ])("the flag -w refuses %j", async (args, message) => {
    repository = createRepository();
    const run = await repository.play(script(), ["--trust", ...args]);
    expect(run.exit).not.toBe(0);
    expect(run.stdout).toContain(message);
    expect(existsSync(join(repository.config, "worktrees/work/x"))).toBe(false);
  });

  it("a worktree run asks for trust first, and --force alone runs no setup", async () => {
    repository = createRepository({ "a.txt": "", ".cursor/worktrees.json": '{"setup-worktree":["touch ran"]}' });
    const closed = await repository.run(["-p", "-w", "try", "hello"]);
    expect([closed.exit, closed.stdout]).toEqual([1, ""]);
    expect(closed.stderr).toContain("Workspace Trust Required");
    expect(existsSync(join(repository.config, "worktrees"))).toBe(false);
    await repository.play(script(write("n", "")), ["--force", "-w", "try"]);
    expect(existsSync(join(repository.config, "worktrees/work/try/ran"))).toBe(false);
  });

  it("several simultaneous runs get a worktree each", async () => {
    repository = createRepository();
    const before = everythingIn(repository);
    const runs = await Promise.all(
      [1, 2, 3, 4].map((each) =>
        repository.play(script(write("mine.txt", "mine")), [
          "--trust",
          "-w",
          ...(each === 4 ? [] : [`w${each}`]),
          "--",
          "go",
        ]),
      ),
    );
    expect(runs.map(({ exit }) => exit)).toEqual([0, 0, 0, 0]);
    const listed = JSON.parse((await repository.run(["worktrees", "--format", "json"])).stdout) as { state: string }[];
    expect(listed.map(({ state }) => state)).toEqual(["changed", "changed", "changed", "changed"]);
    expect(everythingIn(repository)).toBe(before);
  });
});

describe("the worktrees command", () => {
  const worktree = async (files: Record<string, string>) => {
    repository = createRepository({
      "a.txt": "one\n",
      "old/er/gone.txt": "bye\n",
      "old/kept.txt": "",
      "tool.sh": "echo\n",
    });
    const calls = Object.entries(files).map(([path, contents]) => write(path, contents));
    await repository.play(script(...calls), ["--trust", "-w", "try"]);
    return join(repository.config, "worktrees/work/try");
  };

  it("worktrees show prints the diff, and worktrees merge applies it uncommitted, with modes and links", async () => {
    const folder = await worktree({ "a.txt": "two\n", "deep/er/new.txt": "new\n" });
    repository.gitIn(folder, "rm", "-q", "old/er/gone.txt");
    repository.gitIn(folder, "update-index", "--chmod=+x", "tool.sh");
    symlinkSync("a.txt", join(folder, "link"));
    repository.gitIn(folder, "checkout", "-q", "--", "tool.sh");
    const shown = await repository.run(["worktrees", "show", "try"]);
    expect(shown.stdout).toContain("-one\n+two");
    expect(shown.stdout).toContain("deleted file mode");
    const index = everythingIn(repository).match(/^index .*$/m)![0];
    const merged = await repository.run(["worktrees", "merge", "try", "--yes"]);
    expect(merged.stdout).toContain("✓ Merged");
    expect(everythingIn(repository)).toContain(index);
    expect(repository.git("status", "--short").split("\n").sort()).toEqual(
      ["", " D old/er/gone.txt", " M a.txt", " M tool.sh", "?? deep/", "?? link"].sort(),
    );
    // A folder that has become empty goes with its last file.
    expect([existsSync(join(repository.path, "old/er")), existsSync(join(repository.path, "old"))]).toEqual([
      false,
      true,
    ]);
    expect((await repository.run(["worktrees"])).stdout).toContain("merged");
    expect((await repository.run(["worktrees", "remove", "try"])).exit).toBe(0);
    expect(existsSync(folder)).toBe(false);
  });

  it("merging a worktree keeps later commits, and refuses conflicts and uncommitted changes", async () => {
    await worktree({ "a.txt": "two\n", "new.txt": "new\n" });
    repository.file("other.txt", "other\n");
    repository.git("add", "-A");
    repository.git("commit", "-q", "-m", "meanwhile");
    repository.file("new.txt", "mine\n");
    const before = everythingIn(repository);
    const refused = await repository.run(["worktrees", "merge", "try", "--yes"]);
    expect(refused.exit).toBe(1);
    expect(refused.stderr).toMatch(/uncommitted work .*in the way\.\n {2}new\.txt\n/);
    expect(everythingIn(repository)).toBe(before);
    repository.file("new.txt", "");
    repository.git("clean", "-fdq");
    repository.file("a.txt", "three\n");
    repository.git("commit", "-qam", "the same line");
    const conflict = await repository.run(["worktrees", "merge", "try", "--yes"]);
    expect(conflict.stderr).toMatch(/changed in the same places since\.\n {2}a\.txt\n/);
    const branch = await repository.run(["worktrees", "merge", "try", "--branch", "work-of-try"]);
    expect(branch.exit).toBe(0);
    expect(repository.git("show", "work-of-try:new.txt")).toBe("new\n");
    expect(repository.git("status", "--short")).toBe("");
  });

  it("merging a worktree overwrites no nested repository, ignored file or link at the same path", async () => {
    const folder = await worktree({ "x/y.txt": "y\n" });
    repository.file(".git/info/exclude", "x\n");
    repository.file("x", "ignored\n");
    const refused = await repository.run(["worktrees", "merge", "try", "--yes"]);
    expect(refused.stderr).toContain("  x/y.txt");
    expect(readFileSync(join(repository.path, "x"), "utf8")).toBe("ignored\n");
    mkdirSync(join(folder, "inner"));
    repository.gitIn(join(folder, "inner"), "init", "-q");
    writeFileSync(join(folder, "inner/f"), "f");
    repository.gitIn(join(folder, "inner"), "add", "-A");
    repository.gitIn(join(folder, "inner"), "commit", "-qm", "x");
    const nested = await repository.run(["worktrees", "merge", "try", "--yes"]);
    expect(nested.stderr).toContain("is a separate git repository");
  });

  it("worktrees remove asks if work would be lost, and names it", async () => {
    const folder = await worktree({ "a.txt": "two\n" });
    const asked = await repository.run(["worktrees", "remove", "try"]);
    expect(asked.exit).toBe(2);
    expect(asked.stderr).toContain("try: 1 changed file and 0 commits were not merged.");
    expect(existsSync(folder)).toBe(true);
    expect((await repository.run(["worktrees", "remove", "try", "--yes"])).exit).toBe(0);
    expect((await repository.run(["worktrees", "remove", "try"])).stderr).toContain("There is no worktree 'try'");
  });
});
