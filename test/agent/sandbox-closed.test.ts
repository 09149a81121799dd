// What commands in the sandbox must not reach under any name: what the agent keeps, what rules close, and ways to other programs.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { outputFolder } from "../../src/agent/output-folder.ts";
import { repository } from "./process-bundle.ts";
import { makeSandboxFixture, type SandboxFixture, sandboxMissing, write } from "./sandbox-fixture.ts";
import { type Box, type BoxOptions, makeBox } from "./sandbox-support.ts";

const missing = sandboxMissing();
const name = (text: string) => (missing ? `${text} (skipped: ${missing})` : text);

const boxes: Box[] = [];
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  for (const box of boxes.splice(0)) await box.end();
});

async function open(prepare: (fixture: SandboxFixture) => BoxOptions | undefined): Promise<Box> {
  const fixture = makeSandboxFixture();
  const box = await makeBox({ fixture, ...prepare(fixture) });
  boxes.push(box);
  return box;
}

const kept = [
  ..."auth.json cli-config.json mcp-auth.json chats/1/2/store.db courser/snapshots/1/blob courser/search.db".split(" "),
  ..."projects/p/agent-transcripts/t.jsonl projects/p/code-index-x.db projects/p/hooks-trace.jsonl".split(" "),
  ..."plans/a.plan.md subagents/b.md logs/c.log later.db".split(" "),
];
const secrets = Object.fromEntries(kept.map((path) => [path, "KEPT"]));

describe.skipIf(missing)(name("what the agent keeps"), () => {
  it("a sandboxed command cannot read the agent's configuration directory (keys, chats), except its skills", async () => {
    const { run, home } = await open(({ configDir }) => {
      write(configDir, { ...secrets, "skills/s/run.sh": "echo skill", "skills-cursor/t/x": "shipped" });
      return undefined;
    });
    const end = await run(
      "bash ~/.cursor/skills/s/run.sh; cat ~/.cursor/skills-cursor/t/x; grep -r KEPT ~/.cursor; cd ~/.cursor; ls -A; touch x; cp -r chats .; cat auth.json",
    );
    expect(end.stdout.split("\n").filter(Boolean)).toEqual(["skill", "shippedskills", "skills-cursor"]);
    expect(existsSync(join(home, ".cursor/x"))).toBe(false);
  });

  it("the sandbox hides the configuration directory beside the home, inside the workspace and around it", async () => {
    const beside = await open((fixture) => {
      const configDir = join(fixture.base, "conf");
      write(configDir, secrets);
      write(fixture.home, { ".cursor/chats/x": "KEPT" });
      return { fixture: { ...fixture, configDir }, settings: { readPaths: [fixture.base] } };
    });
    expect((await beside.run("grep -rs KEPT .. ~; ls ../conf/")).stdout).toBe("");

    const within = await open((fixture) => {
      const configDir = join(fixture.workspace, "deep/conf");
      write(configDir, secrets);
      return { fixture: { ...fixture, configDir } };
    });
    const end = await within.run(
      "grep -rs KEPT .; mv deep x; mv deep/conf y; grep -rs KEPT .; touch deep/conf/z deep/n",
    );
    expect(end.stdout).toBe("");
    const there = ["deep/conf/auth.json", "deep/n", "deep/conf/z"].map((path) =>
      existsSync(join(within.workspace, path)),
    );
    expect(there).toEqual([true, true, false]);

    const around = await open((fixture) => {
      const worktrees = join(fixture.configDir, "worktrees/repo");
      write(worktrees, { "mine/a": "mine", "other/b": "KEPT" });
      write(fixture.configDir, secrets);
      return { fixture: { ...fixture, workspace: join(worktrees, "mine") } };
    });
    expect((await around.run("cat a; echo 2 > a; ls ..; grep -rs KEPT ~")).stdout).toBe("minemine\n");
    expect(readFileSync(join(around.workspace, "a"), "utf8")).toBe("2\n");
  });

  it("the sandbox hides the configuration directory when the home directory is the workspace", async () => {
    const fixture = makeSandboxFixture();
    const { workspace } = fixture;
    const configDir = join(workspace, ".cursor");
    write(configDir, { ...secrets, "skills/s/x": "skill" });
    const box = await makeBox({ fixture: { ...fixture, configDir }, home: workspace });
    boxes.push(box);
    const end = await box.run(
      "cat .cursor/skills/s/x; grep -rs KEPT .; mv .cursor c; touch .cursor/skills/s/y .cursor/z fine",
    );
    expect(end.stdout).toBe("skill");
    expect([".cursor/skills/s/y", ".cursor/z", "fine"].filter((path) => existsSync(join(workspace, path)))).toEqual([
      "fine",
    ]);
  });

  it("a sandboxed command can read the output files of its own run, but not of other runs", async () => {
    const before = process.env["TMPDIR"];
    for (const inside of ["tmp", "ws/tmp"]) {
      const fixture = makeSandboxFixture();
      const temporary = join(fixture.base, inside);
      mkdirSync(temporary);
      process.env["TMPDIR"] = temporary;
      try {
        const { run } = await open(() => ({ fixture, settings: { readPaths: [temporary] } }));
        const [own, other] = ["own", "other"].map((session) => outputFolder(session));
        write(own!, { "output.txt": "MINE" });
        write(other!, { "output.txt": "KEPT" });
        const end = await run(`cat ${own}/output.txt; cat ${other}/output.txt; ls ${other}/..`, { readable: [own!] });
        expect(end.stdout).toBe("MINE");
      } finally {
        if (before === undefined) delete process.env["TMPDIR"];
        else process.env["TMPDIR"] = before;
      }
    }
  });
});

describe.skipIf(missing)(name("a rule holds under every name"), () => {
  const files = { "a/b/k.txt": "SECRET", "a/b/open.txt": "open", "c/d/w.txt": "old", "e/f/i.pem": "SECRET" };
  const rules = ["Read(a/b/k.txt)", "Write(c/d/w.txt)"];
  const prepare = ({ workspace }: SandboxFixture) => {
    write(workspace, { ...files, ".cursorignore": "*.pem\n" });
    return { rules };
  };

  it("a sandboxed command cannot read hidden files by renaming, copying, linking, exchanging or through git", async () => {
    const { run, workspace } = await open(prepare);
    const tries = [
      "mv a x; cat x/b/k.txt; mv a/b y; cat y/k.txt; mv e z; cat z/f/i.pem; mv e/f v; cat v/i.pem",
      "cp -r a x; cat x/b/k.txt; cp -r e z; cat z/f/i.pem; tar c a e | tar x -O; rm -rf x z",
      "ln a/b/k.txt x; cat x; ln -s a/b y; cat y/k.txt; ln -s $PWD/e/f/i.pem z; cat z; cp -l e/f/i.pem v; cat v",
      "mkdir -p n/b; mv -T --exchange a n; mv -T n a; cat n/b/k.txt a/b/k.txt",
      "cat /proc/self/cwd/a/b/k.txt /proc/self/root$PWD/e/f/i.pem; cd a/b; cat ./k.txt; cd ../..",
      "git add -f a e; git diff --cached; git stash; git stash show -p",
    ];
    const end = await run(tries.join("; "));
    expect(end.stdout + end.stderr).not.toContain("SECRET");
    expect(readFileSync(join(workspace, "a/b/k.txt"), "utf8")).toBe("SECRET");
  });

  it("a sandboxed command cannot rename a protected file's parent folder to write it and put it back", async () => {
    const { run, workspace } = await open(prepare);
    await run(
      "mv c x; cp -r x c; echo new > c/d/w.txt; mv c/d y; cp -r y c/d; echo new > c/d/w.txt; rm -rf c/d; ln -s /tmp c/d",
    );
    await run("ln c/d/w.txt w2; echo new > w2; cp c/d/w.txt w3; mv -f w3 c/d/w.txt; sed -i s/old/new/ c/d/w.txt");
    expect(readFileSync(join(workspace, "c/d/w.txt"), "utf8")).toBe("old");
    expect((await run("touch c/d/beside c/e && rm c/e && cat a/b/open.txt")).stdout).toBe("open");
  });

  it("protected files stay protected while another command runs and their folder is replaced by a link", async () => {
    const { run, workspace } = await open(prepare);
    const other = run("sleep 1.5");
    const swap = run("for i in $(seq 400); do mv c x 2>/dev/null; ln -sfn /etc c 2>/dev/null; rm -f c; mv x c; done", {
      timeoutMs: 3000,
    });
    const ends = [];
    for (let round = 0; round < 8; round++)
      ends.push(
        await run("mv a x; cat x/b/k.txt; mv e z; cat z/f/i.pem; echo new > c/d/w.txt; mv c q; touch c/passwd"),
      );
    await Promise.all([other, swap]);
    expect(ends.map(({ stdout }) => stdout).join("")).not.toContain("SECRET");
    expect(readFileSync(join(workspace, "c/d/w.txt"), "utf8")).toBe("old");
  });

  it("an existing hard link to a protected file gives a sandboxed command no access", async () => {
    const { run, workspace } = await open((fixture) => {
      const options = prepare(fixture);
      linkSync(join(fixture.workspace, "a/b/k.txt"), join(fixture.workspace, "twin"));
      linkSync(join(fixture.workspace, "c/d/w.txt"), join(fixture.workspace, "src/twin"));
      write(fixture.workspace, { "e/f/g/k.txt": "SECRET" });
      linkSync(join(fixture.workspace, "e/f/g/k.txt"), join(fixture.workspace, "deep"));
      return { ...options, rules: [...(options.rules ?? []), "Read(e/**)"] };
    });
    expect((await run("cat twin deep; cp twin t2; cat t2; echo new > src/twin")).stdout).not.toContain("SECRET");
    expect(readFileSync(join(workspace, "c/d/w.txt"), "utf8")).toBe("old");
  });

  it("links that leave the workspace give a sandboxed command no access", async () => {
    const { run } = await open((fixture) => {
      const { workspace, base } = fixture;
      prepare(fixture);
      write(base, { "beside/s.txt": "SECRET" });
      symlinkSync(join(base, "beside/s.txt"), join(workspace, "far.pem"));
      symlinkSync("..", join(workspace, "up.pem"));
      symlinkSync("missing", join(workspace, "dangling.pem"));
      return { settings: { readPaths: [join(base, "beside")] }, rules };
    });
    const end = await run(`cat far.pem ../beside/s.txt; cat README.md`);
    expect(end.stdout).toBe("hello\n");
  });
});

/** A program outside: it is ready when it has said so. */
async function outside(script: string, cwd: string): Promise<ChildProcess> {
  const child = spawn("python3", ["-u", "-c", script], { cwd, stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  await new Promise<void>((resolve) => child.stdout!.once("data", () => resolve()));
  return child;
}

const connecting = (path: string) =>
  `python3 -c "import socket; s = socket.socket(1); s.settimeout(2); s.connect('${path}'); print('REACHED')"; `;

describe.skipIf(missing)(name("ways to other programs"), () => {
  it.each([
    ["bound by a relative path", "s.bind('a.sock')", "a.sock"],
    ["bound by a relative path, from elsewhere since", "s.bind('a.sock'); os.chdir('/')", "a.sock"],
    ["bound by a path with a blank", "s.bind(os.getcwd() + '/a b.sock')", "a b.sock"],
    ["renamed", "s.bind(os.getcwd() + '/a.sock'); os.rename('a.sock', 'b.sock')", "b.sock"],
    ["renamed, bound by a relative path", "s.bind('a.sock'); os.rename('a.sock', 'b.sock')", "b.sock"],
    [
      "in a folder that was renamed",
      "os.mkdir('d'); s.bind(os.getcwd() + '/d/a.sock'); os.rename('d', 'e')",
      "e/a.sock",
    ],
    ["linked", "s.bind(os.getcwd() + '/a.sock'); os.link('a.sock', 'b.sock')", "b.sock"],
  ])("a sandboxed command cannot reach a socket %s", async (_, bind, path) => {
    const { run, home } = await open(() => undefined);
    const folder = join(home, "app");
    mkdirSync(folder);
    await outside(
      `import socket, os, time; s = socket.socket(1); ${bind}; s.listen(9); print(1); time.sleep(60)`,
      folder,
    );
    expect((await run(connecting(join(folder, path)))).stdout).toBe("");
  });

  it("a sandboxed command cannot reach others' sockets and pipes below the workspace, even after moving them", async () => {
    const { run, workspace } = await open(() => undefined);
    const folder = join(workspace, "some/deep/app");
    mkdirSync(folder, { recursive: true });
    const bind = "s.bind('a.sock'); os.mkfifo('a.fifo'); os.chdir('/')";
    await outside(
      `import socket, os, time; s = socket.socket(1); ${bind}; s.listen(9); print(1); time.sleep(60)`,
      folder,
    );
    const look = `${connecting("some/deep/app/a.sock")} exec 3<> some/deep/app/a.fifo && echo OPENED; true`;
    expect((await run(look)).stdout).toBe("");
    expect((await run(look)).stdout).toBe("");
  });

  it("a sandboxed command cannot reach named pipes of other processes", async () => {
    const { run, home, base } = await open(({ base }) => ({ settings: { readPaths: [base] } }));
    mkdirSync(join(home, "some/app"), { recursive: true });
    const pipes = [join(home, "one.fifo"), join(home, "some/app/two.fifo"), join(base, "three.fifo")];
    execFileSync("mkfifo", pipes);
    for (const path of pipes) {
      const end = await run(
        `exec 3<> ${path}; echo PLANTED >&3; timeout 1 cat ${path}; timeout 1 sh -c 'echo x > ${path}'`,
      );
      expect(end.stdout).toBe("");
      expect(end.exitCode).not.toBe(0);
    }
    // Its own are its own affair.
    expect((await run("mkfifo f; (echo hi > f &); cat f; rm f")).stdout).toBe("hi\n");
  });

  it("a sandboxed command's own sockets work, also for the next command", async () => {
    const { run } = await open(() => undefined);
    const server = "import socket; s = socket.socket(1); s.bind('own.sock'); s.listen(9); s.accept()";
    const running = run(`python3 -c "${server}"`, { timeoutMs: 8000 });
    expect((await run(`until [ -S own.sock ]; do sleep 0.05; done; ${connecting("own.sock")}`)).stdout).toBe(
      "REACHED\n",
    );
    expect((await running).timedOut).toBe(false);
  });

  it("a sandboxed command cannot read the memory of the sandbox's helper process", async () => {
    const { run } = await open(() => undefined);
    const end = await run(
      "for f in mem maps environ root/etc/passwd fd/0 task/1/mem; do head -c 1 /proc/1/$f > /dev/null 2>&1 && echo READ $f; done; " +
        "exec 3<> /proc/1/mem && echo WRITES; ls /proc/1; ps -e -o comm= | grep -c .; " +
        'python3 -c "import os; os.pidfd_open(1)" 2>&1 | tail -1',
    );
    expect(end.stdout).not.toMatch(/READ|WRITES/);
    expect(end.stdout).toMatch(/^\d+\n(AttributeError.*|PermissionError.*)\n$/);
  });
});

describe.skipIf(missing)(name("other programs that come and go"), () => {
  it("a sandboxed command still runs when the workspace has special files that the sandbox cannot reach", async () => {
    const rounds = Number(process.env["ROUNDS"] ?? 12);
    const { run, home } = await open(() => undefined);
    const churn =
      "import socket, os, time, random, shutil\nprint(1)\nwhile True:\n  made = []\n  for n in range(20):\n" +
      "    d = f'd{random.random()}'; os.mkdir(d); s = socket.socket(1); s.bind(os.getcwd() + f'/{d}/s'); made.append((d, s))\n" +
      "    time.sleep(0.0005)\n  for d, s in made: shutil.rmtree(d); s.close(); time.sleep(0.0005)\n";
    mkdirSync(join(home, "churn"));
    await outside(churn, join(home, "churn"));
    const failed = [];
    for (let round = 0; round < rounds; round++) {
      const end = await run("echo fine").catch((error: Error) => ({ stdout: error.message, stderr: "", exitCode: 1 }));
      if (end.stdout !== "fine\n" || end.stderr !== "") failed.push(end);
    }
    expect(failed).toEqual([]);
  });

  it("a sandboxed command still runs when folders of the workspace are renamed meanwhile", async () => {
    const { run, workspace } = await open((fixture) => {
      write(fixture.workspace, { "p/.vscode/settings.json": "{}", "q/x": "" });
      return { rules: ["Read(q/x)"] };
    });
    const timer = setInterval(() => {
      for (const folder of ["p", "q"]) {
        const [here, there] = [join(workspace, folder), join(workspace, `${folder}2`)];
        try {
          renameSync(here, there);
          renameSync(there, here);
        } catch {
          // The sandbox made a mount point at the name that was free for a moment, and now both names exist.
          rmSync(there, { recursive: true, force: true, maxRetries: 3 });
        }
      }
    }, 1);
    try {
      for (let round = 0; round < 6; round++) expect(await run("echo fine")).toMatchObject({ stdout: "fine\n" });
    } finally {
      clearInterval(timer);
    }
  });
});

const cli = join(repository, "dist/courser.cjs");
const notBuilt = missing ?? (existsSync(cli) ? undefined : "the CLI is not built");

describe.skipIf(notBuilt)(notBuilt ? `our CLI (skipped: ${notBuilt})` : "our CLI", () => {
  /** In print mode, with the sandbox as it is by default. */
  function start(fixture: SandboxFixture, command: string): ChildProcess {
    const script = join(fixture.base, `script-${Math.random()}.json`);
    writeFileSync(script, JSON.stringify([{ calls: [{ name: "Shell", args: { command } }] }, { text: "over" }]));
    const args = [
      cli,
      "-p",
      "--trust",
      "--model",
      `script:${script}`,
      "--output-format",
      "stream-json",
      "WORD-OF-MINE",
    ];
    const env = { PATH: process.env["PATH"], HOME: fixture.home };
    const child = spawn(process.execPath, args, { cwd: fixture.workspace, env, stdio: ["ignore", "pipe", "inherit"] });
    children.push(child);
    return child;
  }

  async function outputOf(child: ChildProcess): Promise<string> {
    let text = "";
    for await (const chunk of child.stdout!) text += chunk;
    return text;
  }

  /** The repository too; not what was moved aside. */
  const listing = ({ workspace }: SandboxFixture) => [
    ...readdirSync(workspace),
    ...readdirSync(join(workspace, ".git")).map((each) => `.git/${each}`),
  ];

  it("a sandboxed command cannot read the chat that it belongs to", async () => {
    const fixture = await open(() => undefined);
    write(fixture.configDir, { "skills/s/SKILL.md": "MY SKILL" });
    // In a file: the line itself would be refused for what it names.
    const look = "grep -rs 'MINE' ~/.cursor && echo FOUND; cat ~/.cursor/skills/s/SKILL.md\n";
    write(fixture.workspace, { "look.sh": look });
    const said = await outputOf(start(fixture, "bash look.sh"));
    expect(said).toContain("MY SKILL");
    expect(said).not.toContain("FOUND");
    expect(readdirSync(fixture.configDir)).toContain("chats");
  });

  it("four parallel sandboxes leave nothing in the workspace, even if one is killed", async () => {
    const fixture = makeSandboxFixture();
    const before = listing(fixture);
    const seen = new Set<string>();
    const look = setInterval(() => {
      for (const each of listing(fixture)) seen.add(each);
    }, 5);
    try {
      const four = await Promise.all([1, 2, 3, 4].map(() => outputOf(start(fixture, "sleep 0.4; echo DONE"))));
      expect(four.filter((text) => text.includes("DONE"))).toHaveLength(4);
      const killed = start(fixture, "touch src/started; sleep 20");
      await expect.poll(() => existsSync(join(fixture.workspace, "src/started")), { timeout: 10_000 }).toBe(true);
      killed.kill("SIGKILL");
      await once(killed, "close");
      expect([...seen].filter((each) => !before.includes(each))).toEqual([]);
      expect(listing(fixture)).toEqual(before);
    } finally {
      clearInterval(look);
      fixture.remove();
    }
  });
});
