// The sandbox on Linux, for real: what commands in it can write, see, reach and leave behind.
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BackgroundShells } from "../../src/agent/background.ts";
import { shell } from "../../src/agent/tools/shell.ts";
import { write as writeTool } from "../../src/agent/tools/write.ts";
import { protectedExamples } from "../policy/protected-examples.ts";
import { toolContext } from "../support/tool-context.ts";
import { aliveWith, uniqueSleep, until } from "./process-support.ts";
import { git, listen, makeSandboxFixture, sandboxMissing, write } from "./sandbox-fixture.ts";
import { type Box, makeBox } from "./sandbox-support.ts";

const missing = sandboxMissing();
const name = (text: string) => (missing ? `${text} (skipped: ${missing})` : text);

describe.skipIf(missing)(name("the sandbox"), () => {
  let box: Box;
  beforeAll(async () => {
    box = await makeBox();
  });
  afterAll(() => box?.end());

  it("a sandboxed command can write to the workspace and to a private /tmp that lasts for the run", async () => {
    const first = await box.run(
      'echo 1 > new.txt; echo 2 > /tmp/kept; echo 3 > "$HOME/x"; echo 4 > /etc/x; echo 5 > /var/x',
    );
    expect(first.stderr.match(/Read-only file system/g)).toHaveLength(3);
    expect(readFileSync(join(box.workspace, "new.txt"), "utf8")).toBe("1\n");
    expect(existsSync("/tmp/kept")).toBe(false);
    expect((await box.run("cat /tmp/kept; stat -c %a /tmp")).stdout).toBe("2\n700\n");
  });

  it("git, node and python work in the sandbox", async () => {
    const as = "git -c user.name=a -c user.email=a@b";
    const end = await box.run(
      `echo b > b.txt && git add -A && ${as} commit -qm two && git log --oneline | wc -l && git status --short && ` +
        `git branch side && git checkout -q side && ${as} commit -q --allow-empty -m three && git stash list && ` +
        `node -p 1+1 && /usr/bin/env python3 -c 'print(3)' && git checkout -q main`,
    );
    expect(end).toMatchObject({ exitCode: 0, stdout: "2\n2\n3\n" });
    expect(git(box.workspace, "log", "--oneline", "--all").trim().split("\n")).toHaveLength(3);
  });

  it("a sandboxed command's exit code, signals and stops pass through the sandbox", async () => {
    expect(await box.run("exit 7")).toMatchObject({ exitCode: 7 });
    expect(await box.run("kill -9 $$")).toMatchObject({ exitCode: 137 });
    const polite = await box.run("trap 'echo bye; exit 3' TERM; sleep 5 & wait", { timeoutMs: 300 });
    expect(polite).toMatchObject({ exitCode: 3, stdout: "bye\n", timedOut: true, stages: ["cancel", "SIGTERM"] });
    const deaf = await box.run("trap '' TERM; sleep 5; sleep 5", { timeoutMs: 300, graceMs: 300 });
    expect(deaf).toMatchObject({ timedOut: true, stages: ["cancel", "SIGTERM", "SIGKILL"] });
  });

  it("the sandbox has no privileges, other processes, network or extra descriptors", async () => {
    const end = await box.run(
      "grep -E 'NoNewPrivs|CapEff|CapBnd|Seccomp:' /proc/self/status; ls -d /proc/[0-9]* | wc -l; " +
        "tail -n +3 /proc/net/dev | cut -d: -f1; ls /proc/self/fd | wc -l; hostname >/dev/null",
    );
    expect(end.stdout.split(/\s+/)).toEqual([
      ...["CapEff:", "0000000000000000", "CapBnd:", "0000000000000000", "NoNewPrivs:", "1", "Seccomp:", "2"],
      // The second half of the first pipe may not be there yet when the first one looks.
      ...[expect.stringMatching(/^[34]$/), "lo", "4", ""],
    ]);
  });

  it.each([
    ["a user namespace of its own", "unshare -Ur true", "Operation not permitted"],
    [
      "a socket to the host of a virtual machine",
      "python3 -c 'import socket; socket.socket(40, 1)'",
      "Address family not",
    ],
    ["the settings of the kernel", ": >> /proc/sys/kernel/core_pattern", "Read-only file system|Permission denied"],
    ["a mount", "mount -t tmpfs x /mnt", "must be superuser|permission denied|Operation not permitted"],
    ["the agent's number", `kill -9 ${process.pid}`, "No such process"],
    ["control groups", "mkdir /sys/fs/cgroup/x", "Read-only file system|No such file|cannot create"],
  ])("the sandbox does not get %s", async (_, command, why) => {
    const end = await box.run(command);
    expect(end.exitCode).not.toBe(0);
    expect(end.stderr).toMatch(new RegExp(why, "i"));
  });

  it("a sandboxed command sees only a short list of environment variables", async () => {
    const env = { PATH: process.env["PATH"]!, HOME: box.home, LC_ALL: "C.UTF-8", MY_THING: "1", LD_PRELOAD: "/x.so" };
    const { stdout } = await box.run("env", { env });
    expect(stdout).toMatch(/^LC_ALL=C.UTF-8$/m);
    expect(stdout).toMatch(/^TMPDIR=\/tmp$/m);
    expect(stdout).toMatch(/^CURSOR_SANDBOX=native$/m);
    expect(stdout).not.toMatch(/MY_THING|LD_PRELOAD/);
  });

  it("the sandbox leaves no process running", async () => {
    const sleep = uniqueSleep();
    const end = await box.run(
      `setsid sleep ${sleep} > /dev/null 2>&1 & disown; until pgrep -f "^sleep ${sleep}"; do :; done > /dev/null; echo done`,
    );
    expect(end).toMatchObject({ stdout: "done\n", exitCode: 0 });
    expect(await until(() => aliveWith(sleep).length === 0)).toBe(true);
  });

  it("a sandboxed command cannot reach sockets of other programs", async () => {
    const paths = [join(box.home, "a.sock"), join(box.workspace, "b.sock")];
    const hidden = `\0courser-${process.pid}`;
    const listeners = await Promise.all([...paths, hidden].map(listen));
    try {
      const connect = (path: string) => `python3 -c "import socket; socket.socket(1).connect('${path}')"`;
      const end = await box.run([...paths, `\\0courser-${process.pid}`].map(connect).join("; "));
      expect(end.exitCode).not.toBe(0);
      expect(listeners.map((listener) => listener.connections)).toEqual([0, 0, 0]);
    } finally {
      for (const listener of listeners) await listener.close();
    }
  });

  it("resource limits apply to the sandboxed command", async () => {
    const small = await makeBox({ settings: { limits: { memoryMb: 300, processes: 60 } } });
    try {
      expect((await small.run("python3 -c \"x = 'a' * 2**30\"")).exitCode).not.toBe(0);
      const many = await small.run(
        "python3 -c 'import os, time\nfor n in range(500):\n  if os.fork() == 0: time.sleep(9); os._exit(0)'",
      );
      expect(many.stderr).toMatch(/Resource temporarily unavailable/);
      expect((await small.run("ulimit -d unlimited")).exitCode).not.toBe(0);
    } finally {
      await small.end();
    }
  });

  it("/tmp of the sandbox is bounded, reported and emptied", async () => {
    const small = await makeBox({ settings: { limits: { temporaryMb: 40 } } });
    try {
      expect((await small.run("dd if=/dev/zero of=/tmp/some bs=1M count=20 status=none")).exitCode).toBe(0);
      const many = await small.run(
        "for n in $(seq 4000); do dd if=/dev/zero of=/tmp/$n bs=1M count=1 status=none; sleep 0.01; done",
      );
      expect(many.notes).toEqual([expect.stringContaining("more than 40 MB in /tmp")]);
      expect(many.exitCode).not.toBe(0);
      // The folder on the way to the workspace is there, and no file.
      expect((await small.run("find /tmp -maxdepth 1 -type f | wc -l")).stdout).toBe("0\n");
      expect(await small.run("echo ok > /tmp/x; cat /tmp/x")).toMatchObject({ exitCode: 0, stdout: "ok\n" });
    } finally {
      await small.end();
    }
  });

  it("the directory of a sandboxed command gives no way out of the workspace", async () => {
    expect((await box.run("touch escaped; pwd", { cwd: box.home })).stdout).toBe(`${box.home}\n`);
    expect(existsSync(join(box.home, "escaped"))).toBe(false);
    expect((await box.run("true", { cwd: join(box.base, "missing") }).catch((error) => error)).code).toBe(
      "CWD_MISSING",
    );
  });

  it("a sandboxed command can open its standard streams by name", async () => {
    const context = {
      ...toolContext(box.workspace, { processes: box.processes, background: new BackgroundShells(box.processes) }),
      ...{ confined: true, sandbox: box.sandbox },
    };
    const { outcome } = await shell.run(
      shell.parse({ command: "echo a > /dev/stdout; seq 20000 > /dev/fd/1" }),
      context,
    );
    expect(outcome).toMatchObject({
      kind: "success",
      siblings: { isBackground: false, sandboxPolicy: { type: "workspace_readwrite", networkAccess: false } },
    });
    expect((outcome.value as { stdout: string }).stdout.length).toBeGreaterThan(30_000);
    const refused = await shell.run(shell.parse({ command: "touch ~/x" }), context);
    expect(refused.text).toContain("it ran in the sandbox: only the workspace and /tmp");
  });

  it("a call that must run in the sandbox does not run if there is none", async () => {
    const context = {
      ...toolContext(box.workspace, { processes: box.processes, background: new BackgroundShells(box.processes) }),
      confined: true,
    };
    const call = shell.run(shell.parse({ command: "touch unconfined" }), context);
    await expect(call).rejects.toMatchObject({ kind: "spawnError" });
    expect(existsSync(join(box.workspace, "unconfined"))).toBe(false);
  });

  it("background commands run in the sandbox and end with it", async () => {
    const background = new BackgroundShells(box.processes);
    const context = { ...toolContext(box.workspace, { processes: box.processes, background }), confined: true };
    const args = shell.parse({ command: 'touch "$HOME/no"; touch started; sleep 30', isBackground: true });
    await shell.run(args, { ...context, sandbox: box.sandbox });
    await expect.poll(() => existsSync(join(box.workspace, "started")), { timeout: 5000 }).toBe(true);
    await background.endAll();
    expect(existsSync(join(box.home, "no"))).toBe(false);
  });
});

describe.skipIf(missing)(name("protected paths in the sandbox"), () => {
  let box: Box;
  beforeAll(async () => {
    const fixture = makeSandboxFixture();
    const { workspace } = fixture;
    mkdirSync(join(workspace, ".cursor/rules"), { recursive: true });
    write(workspace, { "packages/a/.vscode/settings.json": "{}", "real-idea/x": "1", ".cursor/cli.json": "{}" });
    symlinkSync("real-idea", join(workspace, ".idea"));
    mkdirSync(join(workspace, "vendor/lib"), { recursive: true });
    git(join(workspace, "vendor/lib"), "init", "-q");
    box = await makeBox({ fixture });
  });
  afterAll(() => box?.end());

  /** Every example of the policy's own list that lies in the workspace. */
  const examples = protectedExamples.map(([path]) => path).filter((path) => /^\.\/[^/]*(\/|$)/.test(path));
  const inTheTop = examples.filter((path) => !/^\.\/(packages|sub)\//.test(path) && path !== "./.git");

  it("the sandbox tests cover more than twelve of the policy's protected names", () => {
    expect(inTheTop.length).toBeGreaterThan(12);
  });

  it.each(inTheTop)("a sandboxed command cannot write %s, whether it exists or not", async (path) => {
    const before = listing(box.workspace);
    const end = await box.run(`mkdir -p "$(dirname ${path})"; echo x > ${path}`);
    const notes = end.notes.join(" ");
    expect(end.exitCode !== 0 || notes.includes("is protected")).toBe(true);
    expect(existsSync(join(box.workspace, path)) && readFileSync(join(box.workspace, path), "utf8") === "x\n").toBe(
      false,
    );
    expect(listing(box.workspace)).toEqual(before);
  });

  it.each([
    ["mv .git .git2", "Device or resource busy"],
    ["mv .git/hooks .git/h", "Device or resource busy"],
    ["mv .cursor c2", "Device or resource busy"],
    ["mv packages p2", "Device or resource busy"],
    ["mv packages/a packages/b", "Device or resource busy"],
    ["mv vendor/lib vendor/x", "Device or resource busy"],
    ["mv real-idea r2", "Device or resource busy"],
    ["rm -rf .git/hooks", "Read-only file system"],
    ["git config core.fsmonitor ./x", "Device or resource busy|Read-only"],
    ["echo x > packages/a/.vscode/settings.json", "Read-only file system"],
    ["echo x > .idea/x", "Read-only file system"],
    ["git -C vendor/lib config a.b c", "Device or resource busy|Read-only"],
    ["git init --separate-git-dir=/tmp/g .", "Device or resource busy|Read-only|Invalid cross-device"],
  ])("%s fails in the sandbox", async (command, why) => {
    const end = await box.run(command);
    expect(end.exitCode).not.toBe(0);
    expect(end.stderr).toMatch(new RegExp(why));
  });

  it("a sandboxed command can write files that are meant for agents", async () => {
    expect(await box.run("echo r > .cursor/rules/a.mdc && touch packages/a/new")).toMatchObject({ exitCode: 0 });
    const commit = "git -C vendor/lib -c user.name=a -c user.email=a@b commit -q --allow-empty -m x";
    expect(await box.run(commit)).toMatchObject({ exitCode: 0 });
  });

  it("a protected link that a sandboxed command replaced is restored, and other protected files it made are renamed", async () => {
    const end = await box.run("rm .idea; mkdir .idea; echo x > .idea/y; echo ../evil > .git/commondir");
    expect(readlinkSync(join(box.workspace, ".idea"))).toBe("real-idea");
    expect(existsSync(join(box.workspace, ".git/commondir"))).toBe(false);
    expect(end.notes).toContainEqual(
      expect.stringMatching(/\.git\/commondir is protected: what appeared there .* is now .*commondir\.blocked$/),
    );
    expect(end.notes).toContainEqual(expect.stringMatching(/\.idea is protected/));
  });

  it("the sandbox leaves no protected names in the workspace during or after commands", async () => {
    const before = readdirSync(box.workspace);
    const running = Promise.all([1, 2, 3, 4].map(() => box.run("sleep 0.5")));
    const seen = new Set<string>();
    let isOver = false;
    void running.then(() => (isOver = true));
    while (!isOver) {
      for (const each of [...readdirSync(box.workspace), ...readdirSync(join(box.workspace, ".git"))]) seen.add(each);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect([...seen].filter((each) => !before.includes(each)).sort()).toEqual(gitNames(box.workspace));
    expect(readdirSync(box.workspace)).toEqual(before);
  });

  it("the sandbox at once moves a new file with a protected name aside", async () => {
    const running = box.run("mkdir .vscode; echo x > .vscode/tasks.json; echo x > .envrc; touch made; sleep 0.8");
    await expect.poll(() => existsSync(join(box.workspace, "made")), { timeout: 5000 }).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 150));
    const there = [".vscode", ".envrc"].filter((path) => existsSync(join(box.workspace, path)));
    expect(there).toEqual([]);
    expect((await running).notes.filter((note) => note.includes("is protected"))).toHaveLength(2);
  });

  it("a command that keeps creating protected names is ended", async () => {
    const end = await box.run("while :; do mkdir -p .claude; done", { timeoutMs: 10_000 });
    expect(end.notes).toContain("it was killed: it kept making protected names");
    expect(end.timedOut).toBe(false);
    expect(readdirSync(box.workspace).filter((each) => each.startsWith(".claude")).length).toBeLessThan(100);
    rmSync(join(box.workspace, ".claude"), { recursive: true, force: true });
  });

  it("protected files that the agent writes itself stay, and nothing else beside them", async () => {
    const fixture = makeSandboxFixture();
    const { workspace } = fixture;
    rmSync(join(workspace, ".cursor"), { recursive: true });
    const own = await makeBox({ fixture });
    const running = own.run(
      "touch begun; until [ -e .cursor/rules/a.mdc ]; do sleep 0.01; done; echo '{}' > .cursor/hooks.json; sleep 0.5",
    );
    await expect.poll(() => existsSync(join(workspace, "begun")), { timeout: 10_000 }).toBe(true);
    const context = { ...toolContext(workspace), sandbox: own.sandbox };
    await writeTool.run(writeTool.parse({ path: ".cursor/rules/a.mdc", contents: "rule" }), context);
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(existsSync(join(workspace, ".cursor/rules/a.mdc"))).toBe(true);
    expect(existsSync(join(workspace, ".cursor/hooks.json"))).toBe(false);
    expect((await running).notes).toEqual([expect.stringMatching(/hooks\.json is protected/)]);
    expect(readFileSync(join(workspace, ".cursor/rules/a.mdc"), "utf8")).toBe("rule");
    await own.end();
  });
});

/** Those in the folder of the repository, which are looked at as well. */
function gitNames(workspace: string): string[] {
  return readdirSync(join(workspace, ".git")).sort();
}

/** Without what was moved aside. */
function listing(folder: string): string[] {
  const names = [...readdirSync(folder), ...readdirSync(join(folder, ".git")).map((each) => `.git/${each}`)];
  return names.filter((each) => !/\.blocked(-\d+)?$/.test(each)).sort();
}
