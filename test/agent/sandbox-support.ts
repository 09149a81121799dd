// A sandbox around a fixture, for tests that look at what commands in it can and cannot do.
import {
  createProcessRunner,
  type ProcessEnd,
  type ProcessRequest,
  type ProcessRunner,
} from "../../src/agent/process.ts";
import { createSandbox, planSandbox, type Sandbox, type SandboxOptions } from "../../src/agent/sandbox/index.ts";
import type { Rule } from "../../src/protocol/permission-rule.ts";
import { parseRule } from "../../src/protocol/permission-rule.ts";
import type { SandboxSettings } from "../../src/store/sandbox-settings.ts";
import { makeSandboxFixture, type SandboxFixture } from "./sandbox-fixture.ts";

export const plainSettings: SandboxSettings = {
  mode: "enabled",
  type: "workspace_readwrite",
  readwritePaths: [],
  readonlyPaths: [],
  readBoundary: "system",
  readPaths: [],
  tmpWrite: true,
  sharedBuildCache: false,
  network: { default: "deny", allow: [], deny: [] },
  environment: [],
  limits: { memoryMb: 2048, processes: 512, temporaryMb: 512 },
  warnings: [],
};

export type Box = SandboxFixture & {
  sandbox: Sandbox;
  processes: ProcessRunner;
  /** One line for bash, in the sandbox. */
  run(command: string, changes?: Partial<ProcessRequest>): Promise<ProcessEnd>;
  end(): Promise<void>;
};

export type BoxOptions = {
  fixture?: SandboxFixture;
  settings?: Partial<SandboxSettings>;
  rules?: readonly string[];
  roots?: readonly string[];
  home?: string;
} & Pick<SandboxOptions, "network">;

export async function makeBox(options: BoxOptions = {}): Promise<Box> {
  const fixture = options.fixture ?? makeSandboxFixture();
  const { workspace, configDir } = fixture;
  const home = options.home ?? fixture.home;
  const settings = { ...plainSettings, ...options.settings };
  const place = { workspace, roots: options.roots ?? [], home, configDir, rules: rulesOf(options.rules ?? []) };
  const plan = planSandbox(settings, { ...place, totalMemoryMb: 8192 });
  const processes = createProcessRunner();
  const sandbox = createSandbox({ plan, processes, ...(options.network && { network: options.network }) });
  const problem = await sandbox.problem();
  if (problem) throw new Error(problem);
  const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", HOME: home };
  return {
    ...fixture,
    sandbox,
    processes,
    run: (command, changes) =>
      processes.run({ command: ["bash", "-c", command], cwd: workspace, env, sandbox, timeoutMs: 20_000, ...changes }),
    async end() {
      await processes.endAll();
      await sandbox.end();
      fixture.remove();
    },
  };
}

/** `Read(x)` denies, `+Write(x)` allows. */
export function rulesOf(texts: readonly string[]): Rule[] {
  return texts.map((text) => {
    const verdict = text.startsWith("+") ? "allow" : "deny";
    const parsed = parseRule(text.replace("+", ""), { verdict, scope: "user", source: "test" });
    if ("problem" in parsed) throw new Error(parsed.problem);
    return parsed.rule;
  });
}
