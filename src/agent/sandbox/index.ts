// The sandbox that shell commands run in. Whether it works here is tested once, before the first command that needs it.

import type { HostProxyOptions } from "../host-proxy.ts";
import type { ProcessRunner } from "../process.ts";
import type { SandboxPlan } from "./plan.ts";

export type { SandboxPlan } from "./plan.ts";
export { planSandbox, withNetwork } from "./plan.ts";

export interface Sandbox {
  plan: SandboxPlan;
  /** Returns why the sandbox cannot be used here and what to do about it, or undefined if it can. */
  problem(): Promise<string | undefined>;
  /** Wraps one command. Throws unless `problem` has returned undefined before. */
  enter(request: EnterRequest): SandboxedCommand;
  /** The agent itself is about to write this file, with permission: do not blame a running command for it. */
  expect(path: string): void;
  /** Ends the sandbox and removes everything that it created. */
  end(): Promise<void>;
}

export type EnterRequest = {
  command: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Folders outside the workspace that the command must be able to read. */
  readable?: readonly string[];
};

export interface SandboxedCommand {
  command: readonly string[];
  /** The path of the system's own bash, which is used outside the sandbox. */
  bash: string;
  env: Record<string, string>;
  /** Call this after `command` has started. */
  started(pid: number): void;
  /** Sends a signal to the processes inside; returns false if it cannot. */
  signal(name: NodeJS.Signals): boolean;
  /** Call this after the command has ended, for any reason. */
  leave(): { notes: string[]; notBegun?: string };
}

export type SandboxOptions = {
  plan: SandboxPlan;
  processes: Pick<ProcessRunner, "run">;
  platform?: NodeJS.Platform;
  env?: NodeJS.ProcessEnv;
  /** Replaces the system's lookup and connection to permitted hosts. */
  network?: Pick<HostProxyOptions, "resolve" | "connect">;
};

/** A sandbox implementation for one operating system. */
export type SandboxBackend = Pick<Sandbox, "enter" | "expect" | "end">;

export function createSandbox(options: SandboxOptions): Sandbox {
  let opening: Promise<SandboxBackend | { unavailable: string }> | undefined;
  let backend: SandboxBackend | undefined;
  return {
    plan: options.plan,
    async problem() {
      opening ??= open(options);
      const opened = await opening;
      if ("unavailable" in opened) return `The sandbox is not available: ${opened.unavailable}.`;
      backend = opened;
      return undefined;
    },
    enter(request) {
      if (!backend) throw new Error("The sandbox is not open.");
      return backend.enter(request);
    },
    expect: (path) => backend?.expect(path),
    async end() {
      const opened = await opening;
      backend = undefined;
      if (opened && "end" in opened) await opened.end();
    },
  };
}

async function open(options: SandboxOptions): Promise<SandboxBackend | { unavailable: string }> {
  const platform = options.platform ?? process.platform;
  const { planProblem } = await import("./plan.ts");
  const problem = planProblem(options.plan);
  if (problem) return { unavailable: problem };
  switch (platform) {
    case "linux":
      return (await import("./linux.ts")).openLinux(options);
    case "darwin":
      return (await import("./macos.ts")).openMacos(options);
    default:
      return {
        unavailable: `there is none for ${platform === "win32" ? "Windows" : platform}. Use WSL or a container`,
      };
  }
}
