// The sandbox where somebody else has drawn bounds: for an ordinary user, without namespaces, and our CLI inside another sandbox.

import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bundle, repository } from "./process-bundle.ts";
import { runSandboxCase } from "./sandbox-driver.ts";
import { makeSandboxFixture, type SandboxFixture, sandboxMissing, write } from "./sandbox-fixture.ts";
import type { SandboxSeen } from "./sandbox-probe.ts";

const missing = sandboxMissing();
const name = (text: string, why = missing) => (why ? `${text} (skipped: ${why})` : text);
const cli = join(repository, "dist/courser.cjs");

let fixture: SandboxFixture;
beforeEach(() => {
  fixture = makeSandboxFixture();
});
afterEach(() => fixture.remove());

const noOther =
  missing ?? (process.getuid?.() === 0 && existsSync("/usr/bin/setpriv") ? undefined : "only root can become another");

describe.skipIf(noOther)(name("for an ordinary user", noOther), () => {
  it("the sandbox restricts other users as it does root", async () => {
    const { base, workspace, home, configDir } = fixture;
    const permissions = { deny: ["Read(a/k.txt)", "Write(c/w.txt)"] };
    write(configDir, { "cli-config.json": JSON.stringify({ sandbox: { mode: "enabled" }, permissions }) });
    write(configDir, { "sandbox.json": '{"limits":{"memoryMb":512,"processes":50}}', "chats/x": "SECRET" });
    write(workspace, { "a/k.txt": "SECRET", "c/w.txt": "old" });
    execFileSync("mkfifo", [join(home, "pipe")]);
    const user = 61_234;
    for (const path of treeOf(base)) chownSync(path, user, user);
    const program = await bundle("test/agent/sandbox-probe.ts");
    chmodSync(join(program, ".."), 0o755);
    const commands = [
      'id -u; echo x > "$HOME/escaped"; echo x > .git/hooks/pre-commit; mv .git .git2; mkdir .vscode; echo x > .vscode/a',
      "grep -E 'NoNewPrivs|CapEff' /proc/self/status; ls -d /proc/[0-9]* | wc -l; ls /proc/self/fd | wc -l",
      "echo n > n.txt && git add n.txt && git -c user.name=a -c user.email=a@b commit -qm two && git log --oneline | wc -l",
      "for i in $(seq 80); do sleep 2 & done; wait",
      "grep -rs SECRET ~/.cursor; mv a x; cat x/k.txt a/k.txt; mv c y; cp -r y c; echo new > c/w.txt; echo . ",
      "exec 3<> ~/pipe && echo PIPE; exec 4<> /proc/1/mem && echo MEMORY; ls /proc/1",
    ];
    const calls = commands.map((command) => ({ tool: "shell", command, timeout: 4000 }));
    write(base, { "job.json": JSON.stringify({ workspace, home, configDir, mode: "force", calls }) });
    const argv = ["--reuid", String(user), "--regid", String(user), "--clear-groups", process.execPath, program];
    const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home };
    const run = spawnSync("/usr/bin/setpriv", [...argv, join(base, "job.json"), join(base, "seen.json")], {
      env,
      encoding: "utf8",
      cwd: base,
    });
    expect(run.stderr).toBe("");
    const { calls: seen } = JSON.parse(readFileSync(join(base, "seen.json"), "utf8")) as SandboxSeen;
    expect(seen[0]!.output).toMatch(/^61234\n/);
    expect(seen[0]!.output.match(/Read-only file system/g)).toHaveLength(2);
    expect(seen[0]!.output).toMatch(/\.vscode is protected: what appeared there/);
    expect(seen[0]!.output).toMatch(/Device or resource busy/);
    // The second half of a pipe may not be there yet when the first one looks.
    expect(seen[1]!.output).toMatch(/CapEff:\t0{16}\nNoNewPrivs:\t1\n[34]\n4\n/);
    expect(seen[2]!.output).toBe("2\n");
    expect(seen[3]!.output).toMatch(/Resource temporarily unavailable/);
    expect(seen[4]!.output).not.toContain("SECRET");
    expect(readFileSync(join(workspace, "c/w.txt"), "utf8")).toBe("old");
    expect(seen[5]!.output).not.toMatch(/PIPE|MEMORY/);
    expect(existsSync(join(workspace, ".vscode"))).toBe(false);
  });
});

function treeOf(path: string): string[] {
  return statSync(path).isDirectory()
    ? [path, ...readdirSync(path).flatMap((each) => treeOf(join(path, each)))]
    : [path];
}

describe.skipIf(noOther)(name("for root without control groups", noOther), () => {
  it("a sandboxed command with too many processes is ended", async () => {
    const { base, workspace, home, configDir } = fixture;
    write(configDir, { "cli-config.json": '{"sandbox":{"mode":"enabled"}}' });
    write(configDir, { "sandbox.json": '{"limits":{"memoryMb":512,"processes":100}}' });
    const command = "for i in $(seq 400); do sleep 5 & done; wait";
    const calls = [
      { tool: "shell", command },
      { tool: "shell", command: "for i in $(seq 50); do sleep 0.2 & done; wait" },
    ];
    write(base, { "job.json": JSON.stringify({ workspace, home, configDir, mode: "force", calls }) });
    const agent = [
      process.execPath,
      await bundle("test/agent/sandbox-probe.ts"),
      join(base, "job.json"),
      join(base, "seen.json"),
    ];
    const argv = ["--mount", "sh", "-c", 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"', "sh", ...agent];
    const run = spawnSync("/usr/bin/unshare", argv, {
      env: { PATH: process.env["PATH"], HOME: home },
      encoding: "utf8",
    });
    expect(run.stderr).toBe("");
    const { calls: seen } = JSON.parse(readFileSync(join(base, "seen.json"), "utf8")) as SandboxSeen;
    expect(seen[0]).toMatchObject({ outcome: "failure", output: expect.stringContaining("more than 100 processes") });
    expect(seen[1]).toMatchObject({ outcome: "success" });
  });
});

describe.skipIf(noOther)(name("where a folder is mounted twice", noOther), () => {
  it("a deny rule about a folder that is mounted twice holds at both mount points", async () => {
    const { base, workspace, home, configDir } = fixture;
    const permissions = { deny: ["Read(a/k.txt)", "Write(c/w.txt)"] };
    write(configDir, { "cli-config.json": JSON.stringify({ sandbox: { mode: "enabled" }, permissions }) });
    write(configDir, { "chats/x": "SECRET" });
    write(workspace, { "a/k.txt": "SECRET", "c/w.txt": "old", "twice/.keep": "" });
    const [alias, other] = [join(home, "alias of it"), join(home, "conf")];
    for (const folder of [alias, other]) mkdirSync(folder);
    const command = `cat ${home}/alias*/a/k.txt; grep -rs SECRET ${other} ${home}/.cursor; echo new > twice/w.txt; mv twice t; cat ${home}/alias*/README.md`;
    write(base, {
      "job.json": JSON.stringify({ workspace, home, configDir, mode: "force", calls: [{ tool: "shell", command }] }),
    });
    const script = `mount --bind ${workspace} "${alias}" && mount --bind ${configDir} ${other} && mount --bind ${workspace}/c ${workspace}/twice && exec "$@"`;
    const files = [join(base, "job.json"), join(base, "seen.json")];
    const agent = [process.execPath, await bundle("test/agent/sandbox-probe.ts"), ...files];
    const env = { PATH: process.env["PATH"], HOME: home };
    const run = spawnSync("/usr/bin/unshare", ["--mount", "sh", "-c", script, "sh", ...agent], {
      env,
      encoding: "utf8",
    });
    expect(run.stderr).toBe("");
    const { calls } = JSON.parse(readFileSync(files[1]!, "utf8")) as SandboxSeen;
    expect(calls[0]!.output).not.toContain("SECRET");
    expect(calls[0]!.output).toContain("hello");
    expect(readFileSync(join(workspace, "c/w.txt"), "utf8")).toBe("old");
  });
});

const notBuilt = missing ?? (existsSync(cli) ? undefined : "the CLI is not built");

describe.skipIf(notBuilt)(name("our CLI inside another sandbox", notBuilt), () => {
  /** No network, a home that cannot be written, and no further namespaces where `closed`. */
  function inside(argv: readonly string[], options: { closed?: boolean } = {}) {
    const { base, workspace, home } = fixture;
    const bounds = ["--dev-bind", "/", "/", "--ro-bind", home, home, "--bind", workspace, workspace, "--proc", "/proc"];
    const closed = options.closed ? ["--disable-userns"] : [];
    const outer = [
      "--unshare-user",
      "--unshare-net",
      "--unshare-pid",
      "--die-with-parent",
      ...closed,
      ...bounds,
      "--chdir",
      workspace,
    ];
    const env = { PATH: process.env["PATH"], HOME: home, TMPDIR: base };
    return spawnSync("/usr/bin/bwrap", [...outer, process.execPath, cli, ...argv], {
      env,
      encoding: "utf8",
      timeout: 30_000,
    });
  }

  it("inside another sandbox, an offline run with --no-persist works", () => {
    const run = inside(["-p", "--trust", "--no-persist", "--model", "offline", "read README.md"]);
    expect(run.stdout).toContain("hello");
    expect(run.status).toBe(0);
    expect(existsSync(join(fixture.home, ".cursor/chats"))).toBe(false);
  });

  it("inside another sandbox, ours is reported as unavailable, and --sandbox enabled ends the run", () => {
    const status = inside(["sandbox", "status", "--format", "json"], { closed: true });
    expect(JSON.parse(status.stdout)).toMatchObject({
      available: false,
      problem: expect.stringMatching(
        /^The sandbox is not available: bubblewrap does not work here \(.+\)\. The system forbids/,
      ),
    });
    const run = inside(["-p", "--trust", "--no-persist", "--sandbox", "enabled", "--model", "offline", "hi"], {
      closed: true,
    });
    expect(run.status).toBe(1);
    expect(run.stderr).toMatch(/The sandbox is not available: .*\[SANDBOX_UNAVAILABLE\]/);
    const command = inside(["sandbox", "run", "true"], { closed: true });
    expect(command).toMatchObject({ status: 1, stderr: expect.stringContaining("SANDBOX_UNAVAILABLE") });
  });

  it("where no sandbox works, commands are rejected with the reason, and the run continues", () => {
    const script = [{ calls: [{ name: "Shell", args: { command: "touch made" } }] }, { text: "over" }];
    write(fixture.base, { "script.json": JSON.stringify(script) });
    const model = `script:${join(fixture.base, "script.json")}`;
    const args = ["-p", "--trust", "--no-persist", "--model", model, "--output-format", "json", "go"];
    const run = inside(args);
    const result = JSON.parse(run.stdout) as Record<string, unknown>;
    expect(result).toMatchObject({ is_error: false, result: "over" });
    expect(JSON.stringify(result["permission_denials"])).toContain("The sandbox is not available");
    expect(existsSync(join(fixture.workspace, "made"))).toBe(false);
  });

  it("an unreachable model ends the run within its limit", () => {
    const args = [
      "-p",
      "--trust",
      "--no-persist",
      "--max-time",
      "5s",
      "--model",
      "m",
      "-e",
      "http://model.test/v1",
      "hi",
    ];
    const startedAt = performance.now();
    const run = inside([...args, "--api-key", "k"]);
    expect(run.status).toBe(1);
    expect(run.stderr).toMatch(/\[(MODEL_UNREACHABLE|MAX_TIME)\]/);
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  });
});

describe.skipIf(missing)(name("the driver of the cases"), () => {
  it("the driver of sandbox cases fails a case in which a command writes outside the sandbox", async () => {
    mkdirSync(join(fixture.base, "x"));
    const given = {
      id: "sandbox.x1.off",
      group: "sandbox",
      config: { mode: "force", sandbox: "on", user_sandbox_json: { additionalReadwritePaths: ["{HOME}"] } },
      input: { tool: "shell", command: 'echo x > "$HOME/escaped"' },
      expect: { effect_absent: "home:escaped" },
      why: "",
    };
    expect(await runSandboxCase(given, { driver: "library" })).toMatchObject({ pass: false, safe: false });
    const odd = { ...given, expect: { sings: true } };
    expect((await runSandboxCase(odd, { driver: "library" })).detail).toContain("nobody knows how to check sings");
  });
});
