// The sandbox on macOS: sandbox-exec with a profile built for each command.
import { existsSync, mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { realOrSame } from "../../policy/paths.ts";
import { makeTemporaryFolder } from "../output-folder.ts";
import { confinedEnvironment, privateCaches } from "./environment.ts";
import { judgeByPolicy } from "./hosts.ts";
import type { SandboxBackend, SandboxOptions } from "./index.ts";
import { proxyVariables } from "./relay.ts";
import { loadHiding, ruledPaths } from "./ruled-paths.ts";
import { seatbeltProfile } from "./seatbelt.ts";

/** The sandbox program of macOS. The absolute path avoids a different one in PATH. */
const sandboxExec = "/usr/bin/sandbox-exec";

export async function openMacos({
  plan,
  processes,
  env: own = process.env,
  network,
}: SandboxOptions): Promise<SandboxBackend | { unavailable: string }> {
  const refuse = (unavailable: string) => ({ unavailable });
  if (!existsSync(sandboxExec)) return refuse(`${sandboxExec} is missing`);
  const trial = await processes.run({
    command: [sandboxExec, "-p", "(version 1)(allow default)", "/usr/bin/true"],
    cwd: "/",
    env: {},
    timeoutMs: 10_000,
  });
  if (trial.exitCode !== 0)
    return refuse(
      `sandbox-exec does not work here (${trial.stderr.trim() || "it gave no reason"}). Is this program already in one`,
    );

  const folder = realOrSame(makeTemporaryFolder(tmpdir(), "sandbox"));
  const temporary = join(folder, "tmp");
  mkdirSync(temporary, { mode: 0o700 });
  const hiding = await loadHiding(plan);
  const proxy =
    plan.network.type === "proxy"
      ? await (await import("../host-proxy.ts")).startHostProxy({
          judge: judgeByPolicy(plan.network),
          env: own,
          ...network,
        })
      : undefined;

  return {
    enter({ command, env, readable = [] }) {
      const { mounts, notes } = ruledPaths(plan, hiding);
      const programs = (env["PATH"] ?? "").split(":").filter(isAbsolute).map(realOrSame);
      const needed = [...programs.flatMap((each) => [each, dirname(each)]), ...readable];
      const profile = seatbeltProfile(plan, { temporary, ruled: mounts, needed, proxyPort: proxy?.port });
      return {
        command: [
          sandboxExec,
          "-p",
          profile,
          "/bin/bash",
          "-c",
          innerStage(plan.limits.processes),
          "sandbox",
          ...command,
        ],
        env: {
          ...confinedEnvironment(env, plan.environment),
          ...(plan.temporary && {
            TMPDIR: temporary,
            ...privateCaches(temporary, {
              hasNetwork: plan.network.type === "proxy" && plan.network.default === "allow",
            }),
          }),
          ...(proxy && proxyVariables(proxy.port)),
          CURSOR_SANDBOX: "seatbelt",
        },
        bash: "/bin/bash",
        started: () => {},
        signal: () => false,
        leave: () => ({ notes: [...notes, ...(proxy?.takeRefusals() ?? [])] }),
      };
    },
    expect() {}, // the sandbox profile itself stops commands from creating protected names
    async end() {
      await proxy?.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Closes all descriptors but the first three. macOS has no memory limit that it enforces. */
function innerStage(processes: number): string {
  return [
    'for d in /dev/fd/*; do d=${d##*/}; if [ "$d" -gt 2 ]; then eval "exec $d>&-"; fi; done 2>/dev/null',
    "ulimit -c 0",
    `ulimit -u ${processes} 2>/dev/null`,
    'exec "$@"',
  ].join("\n");
}
