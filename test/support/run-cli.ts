// Runs the built CLI the way a user or a program would, in a folder and a home of its own.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { atExit, killAllWithHome } from "./at-exit.ts";

export const repository = resolve(import.meta.dirname, "../..");
export const cli = join(repository, "dist/courser.cjs");

export type CliRun = {
  exit: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** Every line of stdout, parsed; throws when one is not JSON. */
  lines(): Record<string, any>[];
  /** What the run noticed, as the stream says it; a line each. */
  notices(): string;
  ms: number;
};

export type CliOptions = {
  cwd?: string;
  env?: Record<string, string>;
  /** Text: written, then closed. `open`: left open. Default: closed at once. */
  stdin?: string | "open";
  timeoutMs?: number;
  /** Called with the child once it runs, to send signals or to read slowly. */
  onStart?(child: import("node:child_process").ChildProcess): void;
  name?: string;
  /** The user and group to become, where the tests run as root. */
  user?: number;
};

export interface Workspace {
  /** Real path of the folder that the agent works in. */
  path: string;
  home: string;
  config: string;
  env: Record<string, string>;
  file(name: string, content: string | Uint8Array): string;
  run(args: readonly string[], options?: CliOptions): Promise<CliRun>;
  /** Print mode in stream-json with a scripted model. */
  play(script: unknown, args?: readonly string[], options?: CliOptions): Promise<CliRun>;
  remove(): void;
  [Symbol.dispose](): void;
}

export function createWorkspace(files: Record<string, string> = {}): Workspace {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "courser-")));
  const path = join(base, "work");
  const home = join(base, "home");
  const config = join(home, ".cursor");
  mkdirSync(path);
  mkdirSync(home);
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, LANG: "C.UTF-8" };
  const forget = atExit(() => {
    killAllWithHome(home);
    rmSync(base, { recursive: true, force: true });
  });
  const workspace: Workspace = {
    path,
    home,
    config,
    env,
    file(name, content) {
      const file = resolve(path, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      return file;
    },
    run: (args, options = {}) => runCli(args, { cwd: path, ...options, env: { ...env, ...options.env } }),
    play(script, args = [], options = {}) {
      const file = join(base, "script.json");
      writeFileSync(file, JSON.stringify(script));
      const fixed = ["-p", "--force", "--output-format", "stream-json", "--model", `script:${file}`];
      return workspace.run([...fixed, ...args, ...(args.includes("--") ? [] : ["go"])], options);
    },
    remove() {
      forget();
      rmSync(base, { recursive: true, force: true });
    },
    [Symbol.dispose]: () => workspace.remove(),
  };
  for (const [name, content] of Object.entries(files)) workspace.file(name, content);
  return workspace;
}

export function runCli(args: readonly string[], options: CliOptions): Promise<CliRun> {
  const started = performance.now();
  const child = spawn(process.execPath, [options.name ?? cli, ...args], {
    cwd: options.cwd,
    env: options.env,
    stdio: ["pipe", "pipe", "pipe"],
    ...(options.user !== undefined && { uid: options.user, gid: options.user }),
  });
  child.stdin.on("error", () => {});
  if (options.stdin !== "open") child.stdin.end(options.stdin ?? "");
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  options.onStart?.(child);
  const timer = setTimeout(() => child.kill("SIGKILL"), options.timeoutMs ?? 25_000);
  return new Promise((settle, reject) => {
    child.on("error", reject);
    child.on("close", (exit, signal) => {
      clearTimeout(timer);
      child.stdin.destroy();
      const stdout = Buffer.concat(out).toString("utf8");
      const lines = () =>
        stdout
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line) as Record<string, any>);
      settle({
        exit,
        signal,
        stdout,
        stderr: Buffer.concat(err).toString("utf8"),
        lines,
        notices: () =>
          lines()
            .flatMap(({ type, subtype, message }) => (type === "system" && subtype !== "init" ? [message] : []))
            .join("\n"),
        ms: performance.now() - started,
      });
    });
  });
}
