// `sandbox …`: switching it, asking about it, and running a command in it.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseJsonc } from "../../src/store/jsonc.ts";
import { makeSandboxFixture, type SandboxFixture, sandboxMissing, write } from "../agent/sandbox-fixture.ts";

const cli = join(import.meta.dirname, "../../dist/courser.cjs");
const missing = sandboxMissing();
const name = (text: string) => (missing ? `${text} (skipped: ${missing})` : text);

let fixture: SandboxFixture;
beforeEach(() => {
  fixture = makeSandboxFixture();
});
afterEach(() => fixture.remove());

type Options = { input?: string; env?: Record<string, string>; signal?: { name: NodeJS.Signals; when: RegExp } };

function courser(args: readonly string[], { input = "", env = {}, signal }: Options = {}) {
  const { workspace, home, configDir } = fixture;
  const whole = { PATH: process.env["PATH"], HOME: home, CURSOR_CONFIG_DIR: configDir, ...env };
  const child = spawn(process.execPath, [cli, "sandbox", ...args], { cwd: workspace, env: whole });
  const said = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    said.stdout += chunk;
    if (signal?.when.test(said.stdout)) child.kill(signal.name);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    said.stderr += chunk;
  });
  child.stdin.end(input);
  const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
  return new Promise<typeof said & { status: number | null }>((resolve) => {
    child.on("close", (status) => {
      clearTimeout(timer);
      resolve({ ...said, status });
    });
  });
}

const config = () => parseJsonc(readFileSync(join(fixture.configDir, "cli-config.json"), "utf8"));

describe("sandbox enable, disable and reset", () => {
  it("sandbox enable, disable and reset are saved in cli-config.json", async () => {
    write(fixture.configDir, {
      "cli-config.json": '{"version": 1, "permissions": {"allow": ["Shell(ls)"], "deny": []}}',
    });
    expect((await courser(["enable"])).stdout).toMatch(/^The sandbox is enabled/);
    expect(config()).toMatchObject({ sandbox: { mode: "enabled" }, permissions: { allow: ["Shell(ls)"] } });
    expect((await courser(["disable"])).stdout).toMatch(/^The sandbox is disabled/);
    expect(config()).toMatchObject({ sandbox: { mode: "disabled" } });
    expect((await courser(["reset"])).stdout).toMatch(/back to its default/);
    expect(config()).not.toHaveProperty("sandbox");
  });

  it("sandbox enable and reset keep comments and other settings", async () => {
    const file = join(fixture.configDir, "cli-config.json");
    const text =
      '{\n  // for all projects\n  "sandbox": {\n    "networkAccess": "allowlist",\n    "later": 1 // kept\n  }\n}\n';
    writeFileSync(file, text);
    await courser(["enable"]);
    expect(config()).toEqual({ sandbox: { networkAccess: "allowlist", later: 1, mode: "enabled" } });
    await courser(["reset"]);
    expect(readFileSync(file, "utf8")).toBe(text.replace('    "networkAccess": "allowlist",\n', ""));
  });

  it("sandbox enable, disable and reset refuse to run inside an agent", async () => {
    for (const word of ["enable", "disable", "reset"]) {
      const run = await courser([word], { env: { CURSOR_AGENT: "1" } });
      expect(run).toMatchObject({ status: 1, stderr: expect.stringContaining("agents may not change the sandbox") });
    }
    expect(existsSync(join(fixture.configDir, "cli-config.json"))).toBe(false);
  });

  it("sandbox rejects unknown and surplus words with a suggestion", async () => {
    expect(await courser(["enabel"])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/Did you mean sandbox enable\?/),
    });
    expect(await courser(["enable", "now"])).toMatchObject({ status: 2 });
    expect(await courser(["run"])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/sandbox run <cmd\.\.\.>/),
    });
    expect((await courser([])).stdout).toMatch(/Usage: courser sandbox/);
  });
});

describe.skipIf(missing)(name("asking"), () => {
  it("sandbox status says whether the sandbox works and what it allows", async () => {
    write(fixture.configDir, {
      "sandbox.json": '{"networkPolicy": {"allow": ["a.test"]}, "additionalReadwritePaths": ["/opt"]}',
    });
    write(fixture.workspace, { ".cursor/sandbox.json": '{"type": "insecure_none"}' });
    const { stdout, stderr } = await courser(["status"]);
    expect(stdout).toMatch(/^Available: yes$/m);
    expect(stdout).toMatch(/^Writable: {2}the workspace, \/opt$/m);
    expect(stdout).toMatch(/^Network: {3}a\.test$/m);
    expect(stderr).toMatch(/insecure_none.*may only narrow/);
    const json = JSON.parse((await courser(["status", "--format", "json"])).stdout) as Record<string, unknown>;
    expect(json).toMatchObject({ mode: "auto", available: true, network: { allow: ["a.test"] } });
  });
});

describe.skipIf(missing)(name("running"), () => {
  it("sandbox run passes input, output and the exit code through", async () => {
    const run = await courser(["run", "cat; echo err >&2; exit 7"], { input: "in\n" });
    expect(run).toEqual({ stdout: "in\n", stderr: "err\n", status: 7 });
    expect(await courser(["run", "--", "ls", "-d", "src"])).toMatchObject({ stdout: "src\n", status: 0 });
    expect(await courser(["run", "--", "no-such-program-here", "x"])).toMatchObject({ status: 127 });
  });

  it("sandbox run forwards signals and leaves nothing behind", async () => {
    const command = "trap 'echo bye; exit 3' TERM; echo ready; sleep 9 & wait";
    const run = await courser(["run", command], { signal: { name: "SIGTERM", when: /ready\n$/ } });
    expect(run).toMatchObject({ stdout: "ready\nbye\n", status: 3 });
    const interrupted = await courser(["run", "echo ready; sleep 9"], { signal: { name: "SIGINT", when: /ready\n$/ } });
    expect(interrupted.status).toBe(130);
    expect(existsSync(join(fixture.workspace, ".vscode"))).toBe(false);
  });

  it("sandbox run opens, closes and hides what its flags say", async () => {
    write(fixture.base, { "more/x": "", "none/x": "" });
    const flags = ["--allow-paths", `../more`, "--readonly-paths", "src", "--blocked-patterns", ".env,*.md"];
    const line = "touch ../more/a ../none/b src/c d; cat .env README.md list.txt | wc -l; echo $HOME > $HOME/x";
    const { stderr, stdout } = await courser(["run", ...flags, line]);
    expect(stdout.trim()).toBe("5000");
    expect(stderr.match(/Permission denied/g)).toHaveLength(2);
    const made = ["more/a", "none/b", "ws/src/c", "ws/d", "home/x"].filter((path) =>
      existsSync(join(fixture.base, path)),
    );
    expect(made).toEqual(["more/a", "ws/d"]);
  });

  it("sandbox run keeps blocked paths from being created, and rejects missing paths", async () => {
    const line = "touch .env.local fine; mkdir -p secrets; ls secrets";
    const run = await courser(["run", "--blocked-patterns", ".env*,secrets/**", line]);
    const there = [".env.local", "secrets", "fine"].filter((path) => existsSync(join(fixture.workspace, path)));
    expect([there, run.stderr]).toEqual([["fine"], expect.stringContaining(".env.local.blocked")]);
    const refused = await courser(["run", "--allow-paths", "../nope", "true"]);
    expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining("../nope does not exist") });
  });

  it("sandbox run has no keys in its environment, and no network without --network", async () => {
    const env = { OPENAI_API_KEY: "sk-1234567890abcdef", PLAIN: "1" };
    const run = await courser(["run", "env; tail -n +3 /proc/net/dev | cut -d: -f1"], { env });
    expect(run.stdout).not.toMatch(/sk-1234|PLAIN|HTTPS_PROXY/);
    expect(run.stdout.trim()).toMatch(/\s+lo$/);
    const open = await courser([
      "run",
      "--network",
      "env | grep ^HTTPS_PROXY; curl -s -m 5 http://127.0.0.1:9/ --noproxy x; true",
    ]);
    expect(open.stdout).toMatch(/HTTPS_PROXY=http:\/\/127\.0\.0\.1:3128\n/);
    expect(open.stdout + open.stderr).toMatch(/refused 127\.0\.0\.1:9: 127\.0\.0\.1 is this machine, which is closed/);
  });

  it("sandbox run --sb-debug shows the command it starts", async () => {
    const { stderr } = await courser(["run", "--sb-debug", "true"]);
    expect(stderr).toMatch(/"--unshare-net".*"--" /);
  });
});
