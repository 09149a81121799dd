// What settings and rules make of the sandbox: more or less to write, to read, to see.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { git, makeSandboxFixture, type SandboxFixture, sandboxMissing, write } from "./sandbox-fixture.ts";
import { type Box, type BoxOptions, makeBox } from "./sandbox-support.ts";

const missing = sandboxMissing();
const name = (text: string) => (missing ? `${text} (skipped: ${missing})` : text);

let box: Box | undefined;
afterEach(async () => {
  await box?.end();
  box = undefined;
});

async function open(prepare: (fixture: SandboxFixture) => BoxOptions | undefined): Promise<Box> {
  const fixture = makeSandboxFixture();
  box = await makeBox({ fixture, ...prepare(fixture) });
  return box;
}

describe.skipIf(missing)(name("rules in the sandbox"), () => {
  it("the sandbox hides files that may not be read, and write-protects those that may not be written", async () => {
    const { run, workspace } = await open((fixture) => {
      write(fixture.workspace, {
        "deep/er/a.key": "k",
        "deep/b": "b",
        "closed/x": "1",
        "private/y": "y",
        "z.log": "z",
      });
      write(fixture.home, { "secrets/token": "t", ".cursor/auth.json": "a" });
      write(fixture.workspace, { ".cursorignore": "private/\n*.log\n" });
      return {
        rules: [
          "Read(.env)",
          "Read(**/*.key)",
          "Read(~/secrets/**)",
          "Write(closed/**)",
          `Read(${fixture.configDir}/auth.json)`,
        ],
      };
    });
    const end = await run(
      "cat .env deep/er/a.key private/y z.log ~/secrets/token ~/.cursor/auth.json; ls ~/secrets private; cat deep/b closed/x; echo 2 > closed/x; touch closed/n",
    );
    expect(end.stdout).toBe("b1");
    expect(end.stderr.match(/Permission denied/g)).toHaveLength(7);
    expect(end.stderr).toContain("/.cursor/auth.json: No such file");
    expect(end.stderr.match(/Read-only file system/g)).toHaveLength(2);
    expect(readFileSync(join(workspace, ".env"), "utf8")).toBe("KEY=1\n");
  });

  it("a sandboxed command cannot create files that it may not write", async () => {
    const { run, workspace } = await open((fixture) => {
      write(fixture.workspace, { "config/old.yml": "1", "config/.keep": "" });
      return { rules: ["Write(config/*.yml)", "Write(lock.json)", "Write(made/**)", "Write(deep/er/x)"] };
    });
    const end = await run(
      "echo 1 > lock.json; touch made/a; echo 2 > config/new.yml; touch config/fine; mkdir -p deep/er; touch deep/er/x deep/er/y; echo 2 > config/old.yml",
    );
    expect(end.stderr.match(/Read-only file system/g)).toHaveLength(1);
    for (const path of ["lock.json", "deep/er/x", "config/new.yml"])
      expect(end.notes).toContainEqual(expect.stringMatching(`${path} is protected: .* is now .*${path}\\.blocked$`));
    const paths = ["lock.json", "made", "config/new.yml", "config/fine", "deep/er/x", "deep/er/y", "config/old.yml"];
    const there = paths.filter((path) => existsSync(join(workspace, path)));
    expect(there).toEqual(["config/fine", "deep/er/y", "config/old.yml"]);
  });

  it("a sandboxed command cannot follow a link to a hidden file", async () => {
    const { run } = await open((fixture) => {
      symlinkSync(".env", join(fixture.workspace, "plain.txt"));
      return { rules: ["Read(.env)"] };
    });
    const end = await run("cat plain.txt; ln .env hard; cp .env copy");
    expect(end.stdout).toBe("");
  });

  it("a sandbox that would have to hide too many files is refused", async () => {
    const { run } = await open(({ workspace }) => {
      write(workspace, Object.fromEntries(Array.from({ length: 2100 }, (_, index) => [`many/${index}.key`, ""])));
      return { rules: ["Read(**/*.key)"] };
    });
    await expect(run("true")).rejects.toThrow(/more than 2000 files.*name their directory/);
  });

  it("a user's rule for one protected path makes that path writable in the sandbox, and no other", async () => {
    const { run, workspace } = await open((fixture) => {
      write(fixture.workspace, { ".vscode/settings.json": "{}", ".vscode/tasks.json": "{}" });
      return { rules: ["+Write(.vscode/settings.json)", "+Write(**)"] };
    });
    await run("echo 1 > .vscode/settings.json; echo 1 > .vscode/tasks.json; echo 1 > .envrc");
    const read = (path: string) => readFileSync(join(workspace, path), "utf8");
    expect([read(".vscode/settings.json"), read(".vscode/tasks.json")]).toEqual(["1\n", "{}"]);
    expect(existsSync(join(workspace, ".envrc"))).toBe(false);
  });
});

describe.skipIf(missing)(name("settings of the sandbox"), () => {
  it("settings can add writable folders to the sandbox and remove parts of them", async () => {
    const { run, base } = await open(({ base }) => {
      for (const path of ["more", "more/not", "root", "home/.ssh"]) mkdirSync(join(base, path), { recursive: true });
      const readwritePaths = [join(base, "more"), join(base, "home/.ssh"), join(base, "home/.cursor")];
      return { roots: [join(base, "root")], settings: { readwritePaths, readonlyPaths: [join(base, "more/not")] } };
    });
    await run(
      "cd ..; touch more/a more/not/b root/c home/.ssh/d home/.cursor/e; mkdir -p more/.vscode root/.git; touch more/.vscode/f",
    );
    const made = ["more/a", "more/not/b", "root/c", "home/.ssh/d", "home/.cursor/e", "more/.vscode", "root/.git"];
    expect(made.filter((path) => existsSync(join(base, path)))).toEqual(["more/a", "root/c"]);
  });

  it("a setting makes the sandbox read-only", async () => {
    const { run, workspace } = await open(() => ({ settings: { type: "workspace_readonly", tmpWrite: false } }));
    const end = await run("cat README.md; touch a; touch /tmp/b; touch /dev/shm/c && echo shm; ls /var/tmp");
    expect(end.stdout).toBe("hello\nshm\n");
    expect(end.stderr.match(/Read-only file system/g)).toHaveLength(2);
    expect(existsSync(join(workspace, ".vscode"))).toBe(false);
  });

  it("a sandboxed command's reading can be restricted to the workspace", async () => {
    const { run } = await open((fixture) => {
      write(fixture.home, { "notes.txt": "n", "shown/x": "x", ".ssh/known_hosts": "h", ".ssh/id": "i" });
      return { settings: { readBoundary: "workspace", readPaths: ["~/shown"] } };
    });
    const end = await run(
      "cat README.md ~/shown/x ~/.ssh/known_hosts ~/notes.txt ~/.ssh/id; ls /etc/passwd; git status --short | wc -l",
    );
    expect(end.stdout).toBe("hello\nxh/etc/passwd\n3\n");
    expect(end.stderr.match(/No such file/g)).toHaveLength(2);
  });

  it("a sandboxed command can get named variables and shared build caches", async () => {
    const { run, home } = await open((fixture) => {
      mkdirSync(join(fixture.home, ".npm"));
      return { settings: { environment: ["MY_THING"], sharedBuildCache: true } };
    });
    const env = { PATH: process.env["PATH"]!, HOME: home, MY_THING: "1" };
    const end = await run('echo "$MY_THING|$npm_config_cache"; touch ~/.npm/x', { env });
    expect(end.stdout).toBe("1|\n");
    expect(existsSync(join(home, ".npm/x"))).toBe(true);
  });

  it("the sandbox protects a home directory that is the workspace", async () => {
    const fixture = makeSandboxFixture();
    writeFileSync(join(fixture.workspace, ".bashrc"), "old\n");
    mkdirSync(join(fixture.workspace, ".config"));
    box = await makeBox({ fixture, home: fixture.workspace });
    const end = await box.run(
      "echo x > .bashrc; echo x > .zshrc; mkdir -p .ssh .config/git; touch .ssh/a .config/git/config; touch fine",
    );
    expect(readFileSync(join(fixture.workspace, ".bashrc"), "utf8")).toBe("old\n");
    expect(end.stderr.match(/Read-only/g)).toHaveLength(1);
    expect(end.notes.join(" ").match(/is protected/g)!.length).toBeGreaterThanOrEqual(3);
    const there = [".zshrc", ".ssh", ".config/git", "fine"].filter((path) => existsSync(join(fixture.workspace, path)));
    expect(there).toEqual(["fine"]);
  });

  it("the sandbox has a private /tmp whatever PATH and HOME say", async () => {
    const { run, base } = await open(() => ({ home: "/tmp" }));
    // Programs stay in sight wherever they lie: this checkout may lie below /tmp itself.
    const programs = (process.env["PATH"] ?? "").split(":").filter((folder) => !folder.startsWith("/tmp/"));
    const env = { PATH: `/tmp:/run:/:${programs.join(":")}`, HOME: "/tmp" };
    const end = await run(`ls -a /run | wc -l; ls ${base}; touch /tmp/mine && ls /tmp`, { env });
    const [first, ...shown] = end.stdout.trim().split("\n");
    expect(first).toBe("2");
    // Of the machine's own /tmp only the way to the workspace is there.
    const inTmp = base.startsWith("/tmp/") ? [base.split("/")[2]!] : [];
    expect(shown).toEqual(["ws", ...[...inTmp, "mine"].sort()]);
    expect(existsSync("/tmp/mine")).toBe(false);
  });

  it("the sandbox refuses a workspace that contains system folders", async () => {
    const { createSandbox, planSandbox } = await import("../../src/agent/sandbox/index.ts");
    const { createProcessRunner } = await import("../../src/agent/process.ts");
    const { plainSettings } = await import("./sandbox-support.ts");
    const place = { workspace: "/", roots: [], home: "/root", configDir: "/root/.cursor", rules: [], totalMemoryMb: 1 };
    const plan = planSandbox(plainSettings, place);
    const problem = await createSandbox({ plan, processes: createProcessRunner() }).problem();
    expect(problem).toMatch(/^The sandbox is not available: \/ contains the system itself/);
  });
});

describe.skipIf(missing)(name("git in the sandbox"), () => {
  it("the sandbox's own files do not appear in the workspace", async () => {
    const { run, workspace } = await open((fixture) => {
      rmSync(join(fixture.workspace, ".cursor"), { recursive: true });
      git(fixture.workspace, "add", "-A");
      git(fixture.workspace, "commit", "-qm", "all");
      return { rules: ["Write(lock #1.json)"] };
    });
    const end = await run(
      "touch a && git clean -fd && touch b && git -c user.name=a -c user.email=a@b stash -u && git stash pop && git status --short --ignored",
    );
    expect([end.stdout.split("\n").at(-2), end.stderr]).toEqual(["?? b", ""]);
    expect(existsSync(join(workspace, "b"))).toBe(true);
  });
});

describe.skipIf(missing)(name("git worktrees in the sandbox"), () => {
  const commit = "git -c user.name=a -c user.email=a@b commit -qm two";

  it("a sandboxed command in a git worktree can commit, and change nothing else in the repository", async () => {
    const fixture = makeSandboxFixture();
    const { base, workspace } = fixture;
    git(workspace, "worktree", "add", "-q", join(base, "tree"), "-b", "side");
    box = await makeBox({ fixture: { ...fixture, workspace: join(base, "tree") } });
    const end = await box.run(
      `echo n > n.txt && git add -A && ${commit} && git log --oneline | wc -l && git status --short`,
    );
    expect(end).toMatchObject({ exitCode: 0, stdout: "2\n" });
    expect(git(workspace, "log", "--oneline", "side").trim().split("\n")).toHaveLength(2);
    const main = join(workspace, ".git");
    const tried = await box.run(
      `echo x > .git; touch ${main}/hooks/pre-commit ${main}/config ${workspace}/a; echo x > ${main}/worktrees/tree/commondir`,
    );
    expect(tried.stderr.match(/Read-only file system/g)).toHaveLength(4);
    expect(existsSync(join(workspace, "a"))).toBe(false);
  });

  it("a sandboxed command works in a git worktree with its own git configuration", async () => {
    const fixture = makeSandboxFixture();
    const { base, workspace } = fixture;
    git(workspace, "config", "extensions.worktreeConfig", "true");
    git(workspace, "worktree", "add", "-q", join(base, "tree"), "-b", "side");
    for (const folder of [workspace, join(base, "tree")]) {
      const one = await makeBox({ fixture: { ...fixture, workspace: folder, remove: () => {} } });
      const own = git(folder, "rev-parse", "--absolute-git-dir").trim();
      const end = await one.run(`git status --short | wc -l; echo '[core] fsmonitor = x' > ${own}/config.worktree`);
      expect(end.stdout.trim()).toMatch(/^[03]$/);
      expect(existsSync(join(own, "config.worktree"))).toBe(false);
      await one.end();
    }
    fixture.remove();
  });

  it("a sandboxed command works in a git worktree inside the workspace, beside a bare repository", async () => {
    const fixture = makeSandboxFixture();
    const workspace = join(fixture.base, "project");
    mkdirSync(workspace);
    git(workspace, "clone", "-q", "--bare", "../ws", ".bare");
    write(workspace, { ".git": "gitdir: ./.bare\n" });
    git(workspace, "worktree", "add", "-q", "tree");
    box = await makeBox({ fixture: { ...fixture, workspace } });
    const end = await box.run(
      `cd tree && echo n > n.txt && git add -A && ${commit} && git log --oneline | wc -l; cd ..; touch .bare/hooks/post-checkout .bare/config.worktree; echo / > .bare/worktrees/tree/commondir; mv .bare b; rm tree/.git`,
    );
    expect(end.stdout).toBe("2\n");
    expect(
      ["hooks/post-checkout", "config.worktree"].filter((path) => existsSync(join(workspace, ".bare", path))),
    ).toEqual([]);
    expect(git(join(workspace, "tree"), "log", "--oneline").trim().split("\n")).toHaveLength(2);
  });

  it("a sandboxed command can commit in a submodule, but cannot change its hooks", async () => {
    const fixture = makeSandboxFixture();
    const { workspace } = fixture;
    git(fixture.base, "clone", "-q", "--bare", "ws", "lib.git");
    git(workspace, "-c", "protocol.file.allow=always", "submodule", "add", "-q", "../lib.git", "libs/m");
    box = await makeBox({ fixture });
    const end = await box.run(
      `cd libs/m && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m two && git log --oneline | wc -l; cd ../../.git/modules; touch libs/m/hooks/pre-push libs/m/config.worktree; mv libs/m libs/n; mkdir -p other/hooks libs/other/hooks`,
    );
    expect(end.stdout).toBe("2\n");
    const made = ["libs/m/hooks/pre-push", "libs/m/config.worktree", "libs/n", "other", "libs/other"];
    expect(made.filter((path) => existsSync(join(workspace, ".git/modules", path)))).toEqual([]);
  });

  it("the sandbox does not open a repository that does not list the worktree", async () => {
    const fixture = makeSandboxFixture();
    const { base, workspace } = fixture;
    const forged = join(base, "forged");
    mkdirSync(join(workspace, ".git/worktrees/forged"), { recursive: true });
    write(workspace, {
      ".git/worktrees/forged/commondir": "../..\n",
      ".git/worktrees/forged/gitdir": "/elsewhere/.git\n",
    });
    write(forged, { ".git": `gitdir: ${workspace}/.git/worktrees/forged\n` });
    box = await makeBox({ fixture: { ...fixture, workspace: forged } });
    await box.run(`mkdir -p ${workspace}/.git/refs; touch ${workspace}/.git/refs/x ${workspace}/.git/y`);
    expect([".git/refs/x", ".git/y"].filter((path) => existsSync(join(workspace, path)))).toEqual([]);
  });
});
