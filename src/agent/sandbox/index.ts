// The sandbox that shell commands run in. Whether it works here is tried once, before the first command that needs it.

import type { HostProxyOptions } from "../host-proxy.ts";
import type { ProcessRunner } from "../process.ts";
import type { SandboxPlan } from "./plan.ts";

export type { SandboxPlan } from "./plan.ts";
export { planSandbox, withNetwork } from "./plan.ts";

export interface Sandbox {
  plan: SandboxPlan;
  /** Why it cannot be used here, and what to do about it; undefined when it can. */
  problem(): Promise<string | undefined>;
  /** Lays one command into it. Throws unless `problem` has answered that there is none. */
  enter(request: EnterRequest): SandboxedCommand;
  /** The agent itself is about to write this file, with permission: no command that runs meanwhile made it. */
  expect(path: string): void;
  /** Takes away what it made. */
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
  /** A shell of the system's own, for what must be done outside. */
  bash: string;
  env: Record<string, string>;
  /** To be called when `command` was started. */
  started(pid: number): void;
  /** Sends a signal to what runs inside; false when it cannot. */
  signal(name: NodeJS.Signals): boolean;
  /** To be called when the command has ended, however it did. */
  leave(): { notes: string[]; notBegun?: string };
}

export type SandboxOptions = {
  plan: SandboxPlan;
  processes: Pick<ProcessRunner, "run">;
  platform?: NodeJS.Platform;
  env?: NodeJS.ProcessEnv;
  /** How listed hosts are found and reached, where that is not the system's own way. */
  network?: Pick<HostProxyOptions, "resolve" | "connect">;
};

/** The sandbox of one kind of system, open. */
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
