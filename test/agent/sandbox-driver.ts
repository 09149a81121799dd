// Runs a case of the group `sandbox`: real commands in the real sandbox, through the library and through the built CLI.
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Case, CaseResult } from "../support/case.ts";
import { codeIn, type Fault, faultsWithWays, listOf, shownFaults } from "../support/ways.ts";
import { bundle, maxOf, repository } from "./process-bundle.ts";
import {
  git,
  type Listener,
  listen,
  makeSandboxFixture,
  type SandboxFixture,
  sandboxMissing,
  write,
} from "./sandbox-fixture.ts";
import type { CallSeen, SandboxJob, SandboxSeen } from "./sandbox-probe.ts";

export async function runSandboxCase(given: Case, options: { driver: "library" | "cli" }): Promise<CaseResult> {
  const skipped = sandboxMissing();
  const fixture = makeSandboxFixture();
  const listeners: Listener[] = [];
  try {
    if (skipped) return resultOf(given, [], { skipped });
    const sock = join(fixture.home, "host.sock");
    const abstract = `courser-case-${process.pid}-${Math.random().toString(36).slice(2)}`;
    for (const where of ["port", sock, `\0${abstract}`]) listeners.push(await listen(where));
    const place = { ...fixture, port: listeners[0]!.port, sock, abstract };
    const { config, input } = filled(given, place);
    prepare(config, input, fixture);
    const seen = await (options.driver === "cli" ? throughCli : throughLibrary)(
      config,
      callsOf(input, given),
      fixture,
      input,
    );
    await waitFor(given.expect);
    const all: Seen = {
      ...seen,
      connections: listeners.reduce((sum, listener) => sum + listener.connections, 0),
      isThere: (path) => existsSync(placeOf(path, fixture)),
      isEmpty: (path) => readFileSync(placeOf(path, fixture)).length === 0,
    };
    return resultOf(given, judged(all, given), {});
  } finally {
    for (const listener of listeners) await listener.close();
    fixture.remove();
  }
}

type Seen = AgentSeen & { connections: number; isThere(path: string): boolean; isEmpty(path: string): boolean };
type AgentSeen = SandboxSeen & { isAlive: boolean };
type Parts = { config: Record<string, any>; input: Record<string, any> };

function filled(given: Case, place: SandboxFixture & { port: number; sock: string; abstract: string }): Parts {
  const link = join(place.base, "link");
  if (!existsSync(link)) symlinkSync(place.workspace, link);
  const text = JSON.stringify({ config: given.config, input: given.input })
    .replace(/(\/dev\/(?:tcp|udp)\/)\{LISTENER\}/g, `$1127.0.0.1/${place.port}`)
    .replaceAll("{LISTENER}", `127.0.0.1:${place.port}`)
    .replaceAll("{LISTENER_HOST}", "127.0.0.1")
    .replaceAll("{LISTENER_PORT}", String(place.port))
    .replaceAll("{WS}", place.workspace)
    .replaceAll("{WS_LINK}", link)
    .replaceAll("{HOME}", place.home)
    .replaceAll("{SOCK}", place.sock)
    .replaceAll("{ABSTRACT}", place.abstract);
  return JSON.parse(text) as Parts;
}

function prepare(config: Parts["config"], input: Parts["input"], fixture: SandboxFixture): void {
  const { base, workspace, home, configDir } = fixture;
  const setup = input["setup"] ?? {};
  for (const name of setup["remove"] ?? []) rmSync(join(workspace, name), { recursive: true });
  for (const name of setup["dirs"] ?? []) mkdirSync(join(workspace, name), { recursive: true });
  write(workspace, setup["files"] ?? {});
  write(home, setup["home_files"] ?? {});
  write(base, setup["outside_files"] ?? {});
  for (const [name, target] of Object.entries(setup["hardlinks"] ?? {}))
    linkSync(join(workspace, target as string), join(workspace, name));
  for (const name of setup["home_fifos"] ?? []) execFileSync("mkfifo", [join(home, name)]);
  for (const name of setup["exec"] ?? []) chmodSync(join(workspace, name), 0o755);
  for (const [name, target] of Object.entries(setup["symlinks"] ?? {}))
    symlinkSync(target as string, join(workspace, name));
  if (setup["nested_repo"]) {
    const folder = join(workspace, setup["nested_repo"].path);
    mkdirSync(folder, { recursive: true });
    git(folder, "init", "-q");
    const { config: values = {}, hooks = {} } = setup["nested_repo"];
    for (const [key, value] of Object.entries(values)) git(folder, "config", key, value as string);
    write(join(folder, ".git/hooks"), hooks);
  }
  if (config["project_sandbox_json"])
    write(workspace, { ".cursor/sandbox.json": JSON.stringify(config["project_sandbox_json"]) });
  const { mem_mb: memoryMb, pids: processes } = config["limits"] ?? {};
  const user = config["user_sandbox_json"] ?? (config["limits"] ? { limits: { memoryMb, processes } } : undefined);
  if (user) write(configDir, { "sandbox.json": JSON.stringify(user) });
  const permissions = { allow: config["allow"] ?? [], deny: config["deny"] ?? [] };
  const mode = config["sandbox"] === "off" ? "disabled" : "enabled";
  write(configDir, { "cli-config.json": JSON.stringify({ version: 1, permissions, sandbox: { mode } }) });
}

function callsOf(input: Parts["input"], { expect }: Case): Record<string, unknown>[] {
  const steps = (input["steps"] ?? [input]) as Record<string, unknown>[];
  const calls = steps.map(({ setup: _setup, steps: _steps, ...call }) => ({ tool: "shell", ...call }));
  // What could carry a question to a name server is seen from inside.
  return "dns_queries" in expect ? [...calls, { tool: "shell", command: "cat /proc/net/dev" }] : calls;
}

function environmentOf(
  config: Parts["config"],
  input: Parts["input"],
  { home, configDir }: SandboxFixture,
): Record<string, string> {
  const own = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", HOME: home, CURSOR_CONFIG_DIR: configDir, TERM: "dumb" };
  const secrets = { AGENT_SECRET: "AGENT_SECRET-value-1234567890", CURSOR_API_KEY: "CURSOR_API_KEY-value-123456" };
  const wanted = { ...config["env"], ...input["setup"]?.["env"] } as Record<string, string>;
  const expanded = Object.entries(wanted).map(([name, value]) => [name, value.replaceAll("$PATH", own.PATH)]);
  return { ...own, ...secrets, ...Object.fromEntries(expanded) };
}

/** A machine that lacks something, made of this one. */
function hostOf(host: unknown): string[] {
  if (typeof host !== "string") return [];
  const whole = ["/usr/bin/bwrap", "--dev-bind", "/", "/"];
  if (/user ?n(ame)?s|namespace/i.test(host)) return [...whole, "--unshare-user", "--disable-userns", "--"];
  return [...whole, "--ro-bind", "/dev/null", "/usr/bin/bwrap", "--"];
}

async function throughLibrary(
  config: Parts["config"],
  calls: Record<string, unknown>[],
  fixture: SandboxFixture,
  input: Parts["input"],
): Promise<AgentSeen> {
  const { base, workspace, home, configDir } = fixture;
  const mode = config["mode"] === "force" ? "force" : "default";
  const files = [join(base, "job.json"), join(base, "seen.json")] as const;
  writeFileSync(files[0], JSON.stringify({ workspace, home, configDir, mode, calls } satisfies SandboxJob));
  const argv = [...hostOf(config["host"]), process.execPath, await bundle("test/agent/sandbox-probe.ts"), ...files];
  const { exit, stderr } = await start(argv, workspace, environmentOf(config, input, fixture));
  if (!existsSync(files[1]))
    return { calls: [], warnings: [`the agent ended with ${exit}: ${stderr}`], isAlive: false };
  return { ...(JSON.parse(readFileSync(files[1], "utf8")) as SandboxSeen), isAlive: exit === 0 };
}

async function throughCli(
  config: Parts["config"],
  calls: Record<string, unknown>[],
  fixture: SandboxFixture,
  input: Parts["input"],
): Promise<AgentSeen> {
  const { base, workspace } = fixture;
  const script = join(base, "script.json");
  const said = [...calls.map(({ tool, ...args }) => ({ calls: [{ name: String(tool), args }] })), { text: "done" }];
  const permission = config["mode"] === "force" ? "--force" : "--trust";
  const cli = [
    join(repository, "dist/courser.cjs"),
    "-p",
    permission,
    "--no-persist",
    "--output-format",
    "stream-json",
  ];
  const argv = [...hostOf(config["host"]), process.execPath, ...cli, "--model", `script:${script}`, "go"];
  // The number of the agent is known once it is started, and must be in the script before it reads that.
  const waiting = ["/bin/bash", "-c", 'read -r _; exec "$@" < /dev/null', "agent", ...argv];
  const { exit, stdout, stderr } = await start(waiting, workspace, environmentOf(config, input, fixture), (pid, go) => {
    const text = JSON.stringify(said).replaceAll("{AGENT_PID}", String(pid)).replaceAll("{PPID}", String(process.pid));
    writeFileSync(script, text);
    go();
  });
  const lines = stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, any>);
  const ends = lines.filter((line) => line["type"] === "tool_call" && line["subtype"] === "completed");
  const result = lines.find((line) => line["type"] === "result");
  return {
    calls: ends.map((line) => callSeen(Object.entries(line["tool_call"] as object)[0]![1])),
    warnings: [stderr],
    isAlive: exit === 0 && result?.["is_error"] === false,
  };
}

function callSeen({ result }: { result: Record<string, any> }): CallSeen {
  const [outcome, value] = Object.entries(result)[0] as [string, Record<string, any>];
  const isRefused = /rejected|ermissionDenied/.test(outcome);
  const output =
    value["interleavedOutput"] ?? `${value["stdout"] ?? ""}${value["stderr"] ?? ""}${value["reason"] ?? ""}`;
  return { verdict: isRefused ? "ask" : "allow", outcome, exit: value["exitCode"] ?? null, output };
}

type Ended = { exit: number | string | null; stdout: string; stderr: string };

function start(
  [program, ...args]: readonly string[],
  cwd: string,
  env: Record<string, string>,
  ready?: (pid: number, go: () => void) => void,
): Promise<Ended> {
  const child = spawn(program!, args, { cwd, env, stdio: [ready ? "pipe" : "ignore", "pipe", "pipe"] });
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name]!.on("data", (chunk: Buffer) => {
      texts[name] += chunk;
    });
  child.stdin?.on("error", () => {});
  ready?.(child.pid!, () => child.stdin!.end("\n"));
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
  return new Promise((resolve) => {
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      resolve({ exit: code ?? signal, stdout: texts.stdout, stderr: maxOf(texts.stderr) });
    });
  });
}

const effect = /^(?:(ws|home|outside|base):)?(.+?)(?:\s+after (\d+(?:\.\d+)?) ?s(?:econds)?)?$/;

function placeOf(text: string, { base, workspace, home }: SandboxFixture): string {
  const [, where = "ws", path = ""] = effect.exec(text) ?? [];
  const roots: Record<string, string> = { ws: workspace, home, outside: base, base };
  return join(roots[where]!, path);
}

/** Some effects come late. */
async function waitFor(expect: Case["expect"]): Promise<void> {
  const texts = [expect["effect_absent"], expect["effect_present"]].flatMap(listOf).filter(Boolean) as string[];
  const longest = Math.max(0, ...texts.map((text) => Number(effect.exec(text)?.[3] ?? 0)));
  await new Promise((resolve) => setTimeout(resolve, longest * 1000));
}

type Check = (wanted: any, seen: Seen) => boolean;

const outputOf = (seen: Seen) => seen.calls.map((call) => call.output).join("\n");
const all = (wanted: unknown, test: (each: string) => boolean) => (listOf(wanted) as string[]).every(test);

const checks: Record<string, Check> = {
  verdict: (wanted, seen) => seen.calls[0]?.verdict === wanted,
  effect_absent: (wanted, seen) => seen.calls.length > 0 && all(wanted, (path) => !seen.isThere(path)),
  effect_present: (wanted, seen) => all(wanted, seen.isThere),
  file_empty: (wanted, seen) => seen.calls.length > 0 && all(wanted, seen.isEmpty),
  connections: (wanted, seen) => seen.calls.length > 0 && seen.connections === wanted,
  dns_queries: (wanted, seen) => (waysOut(seen).length > 0 ? 1 : 0) === wanted,
  output_absent: (wanted, seen) => seen.calls.length > 0 && all(wanted, (text) => !outputOf(seen).includes(text)),
  output_contains: (wanted, seen) => all(wanted, (text) => outputOf(seen).includes(text)),
  agent_alive: (wanted, seen) => seen.isAlive === wanted,
  open_fds_max: (most, seen) => descriptors(outputOf(seen)) > 0 && descriptors(outputOf(seen)) <= most,
  exit: (wanted, seen) => seen.calls[0]?.exit === wanted,
  tool_result: (wanted, seen) => (seen.calls[0]?.outcome === "success") === (wanted === "success"),
  warns: (wanted, seen) => /sandbox/i.test(`${seen.warnings.join(" ")} ${outputOf(seen)}`) === wanted,
};

/** Interfaces other than the one that leads back. */
function waysOut(seen: Seen): string[] {
  const table = seen.calls.at(-1)?.output ?? "eth0:";
  return [...table.matchAll(/^\s*([\w.-]+):/gm)].map(([, name]) => name!).filter((name) => name !== "lo");
}

/** As `ls` shows them, long or short. */
function descriptors(output: string): number {
  const long = output.split("\n").filter((line) => line.includes(" -> ")).length;
  return long > 0 ? long : (output.match(/^\d+$/gm)?.length ?? 0);
}

function judged(seen: Seen, given: Case): Fault[] {
  return faultsWithWays(given.expect, {
    faults: (expect) => faultsOf(expect, seen),
    isSo: (sentence) => isSo(sentence, seen),
  });
}

function faultsOf({ acceptable, never, ...expect }: Record<string, unknown>, seen: Seen): Fault[] {
  const faults: Fault[] = [];
  for (const [key, wanted] of Object.entries(expect)) {
    const check = checks[key];
    if (!check) faults.push({ key: "unknown", text: `nobody knows how to check ${key}` });
    else if (!check(wanted, seen)) {
      const isSafe = key === "verdict" && listOf(acceptable).includes(seen.calls[0]?.verdict);
      faults.push({ key: isSafe ? "exact" : key, text: `should be ${JSON.stringify(wanted)}: ${shown(seen)}` });
    }
  }
  for (const one of listOf(never ?? []) as string[]) if (isSo(one, seen)) faults.push({ key: "never", text: one });
  return faults;
}

function isSo(sentence: string, seen: Seen): boolean {
  const code = codeIn(sentence);
  if (code !== undefined) return outputOf(seen).includes(code);
  if (/reject|refus|not run|denied/i.test(sentence)) return seen.calls[0]?.outcome === "rejected";
  return false;
}

/** What the sandbox let happen is not safe; how it was said may only be inexact. */
const harmless = new Set(["unknown", "exact", "exit", "warns"]);

function resultOf(given: Case, faults: Fault[], extra: { skipped?: string }): CaseResult {
  const pass = faults.length === 0 && extra.skipped === undefined;
  return {
    pass,
    safe: faults.every(({ key }) => harmless.has(key)),
    exact: pass,
    verdict: pass ? "as expected" : "different",
    expected: JSON.stringify(given.expect),
    detail: shownFaults(faults),
    ...extra,
  };
}

function shown({ calls, warnings, isAlive, connections }: Seen): string {
  return maxOf(JSON.stringify({ calls, warnings, isAlive, connections }), 700);
}
