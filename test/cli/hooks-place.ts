// A workspace in which hook scripts run as they do for users: our programs are in PATH, and nothing else of ours is.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { cli, createWorkspace, repository, type Workspace } from "../support/run-cli.ts";

export const launcher = join(repository, "dist/courser-hook.cjs");

export type HookWorkspace = Workspace & {
  bin: string;
  /** An executable file. */
  script(name: string, text: string): string;
  /** Starts a program with the payload as its input. */
  start(
    program: string,
    args: readonly string[],
    payload?: unknown,
    options?: { cwd?: string; env?: Record<string, string> },
  ): Promise<{ exit: number | null; stdout: string; stderr: string }>;
};

export function createHookWorkspace(files: Record<string, string> = {}): HookWorkspace {
  const workspace = createWorkspace(files);
  const bin = join(dirname(workspace.path), "bin");
  mkdirSync(bin);
  symlinkSync(cli, join(bin, "courser"));
  symlinkSync(launcher, join(bin, "courser-hook"));
  workspace.env["PATH"] = [bin, workspace.env["PATH"]].join(delimiter);
  return {
    ...workspace,
    bin,
    script(name, text) {
      const file = workspace.file(name, text);
      chmodSync(file, 0o755);
      return file;
    },
    start(program, args, payload = {}, { cwd = workspace.path, env = {} } = {}) {
      const child = spawn(program, args, { cwd, env: { ...workspace.env, ...env }, stdio: ["pipe", "pipe", "pipe"] });
      let stdout = "";
      let stderr = "";
      child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
      child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
      child.stdin.on("error", () => {});
      child.stdin.end(typeof payload === "string" ? payload : JSON.stringify(payload));
      const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
      return new Promise((settle, reject) => {
        child.on("error", reject);
        child.on("close", (exit) => {
          clearTimeout(timer);
          settle({ exit, stdout, stderr });
        });
      });
    },
  };
}
