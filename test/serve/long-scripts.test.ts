// Long scripts that are ended by a signal leave nothing behind: no worker, no server, no folder.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { noNatsServer } from "../support/nats-server.ts";
import { repository } from "../support/run-cli.ts";
import { orSkipped } from "../support/skipping.ts";
import { until } from "./service-support.ts";

const reason = noNatsServer || (!existsSync("/proc/self/environ") && "there is no /proc here");

/** Processes of a script, known by the folder that it was given for temporary files. */
function processesOf(folder: string): { pid: number; command: string }[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, "utf8").includes(`TMPDIR=${folder}\0`)) return [];
      return [{ pid: Number(pid), command: readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ") }];
    } catch {
      return [];
    }
  });
}

/** What is left. */
async function endedBy(end: (script: number, node: number) => void): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "courser-long-"));
  try {
    const args = ["run", "long", "--", "fleet", "--runs", "400", "--lease", "5000"];
    const env = { ...process.env, TMPDIR: folder };
    const script = spawn("npm", args, { cwd: repository, env, stdio: "ignore", detached: true });
    const isStarted = () => {
      const commands = processesOf(folder).map(({ command }) => command);
      return commands.filter((command) => command.includes("host.mjs")).length === 4;
    };
    await until(isStarted, "the workers to be started", 60_000);
    const node = processesOf(folder).find(({ command }) => /^node scripts\/long\.mjs/.test(command))!;
    end(script.pid!, node.pid);
    await until(() => processesOf(folder).length === 0, "all of it to end", 30_000).catch(() => {});
    // The npm of newer versions of Node leaves its compile cache there.
    const files = readdirSync(folder).filter((name) => name !== "node-compile-cache");
    return [...processesOf(folder).map(({ command }) => command), ...files];
  } finally {
    for (const { pid } of processesOf(folder)) process.kill(pid, "SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

const ways: Record<string, (script: number, node: number) => void> = {
  "SIGTERM to npm": (script) => process.kill(script, "SIGTERM"),
  "SIGINT to all, as a terminal sends it": (script) => process.kill(-script, "SIGINT"),
  "SIGKILL to the script": (_, node) => process.kill(node, "SIGKILL"),
};

describe.concurrent("long scripts of fleets", () => {
  it.skipIf(reason).each(Object.entries(ways))(
    orSkipped("a long fleet test that ends takes its workers and its server with it: %s", reason),
    async (way, end) => {
      const left = await endedBy(end);
      // Whoever is killed outright cannot remove a folder.
      expect(way.startsWith("SIGKILL") ? left.filter((name) => !name.startsWith("courser-nats-")) : left).toEqual([]);
    },
    100_000,
  );
});
