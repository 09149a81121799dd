// Sources of this repository as programs that plain Node can run.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { atExit } from "../support/at-exit.ts";
import type { ProbeJob, Seen } from "./process-probe.ts";

export const repository = resolve(import.meta.dirname, "../..");

const made = new Map<string, Promise<string>>();

/** Made once a process, removed when it ends. */
export function bundle(source: string): Promise<string> {
  let program = made.get(source);
  if (!program) made.set(source, (program = build(source)));
  return program;
}

async function build(source: string): Promise<string> {
  const esbuild = await import("esbuild");
  const folder = mkdtempSync(join(tmpdir(), "courser-bundle-"));
  atExit(() => rmSync(folder, { recursive: true, force: true }));
  await esbuild.build({
    entryPoints: [join(repository, source)],
    bundle: true,
    // What is loaded late is not read by those who never load it: as one file, a start takes twice as long.
    splitting: true,
    platform: "node",
    format: "esm",
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    logLevel: "error",
  });
  return join(folder, `${basename(source, ".ts")}.mjs`);
}

/** What was seen, or why nothing was. */
export async function probe(job: ProbeJob, folder: string, onTerminal: boolean): Promise<Seen | string> {
  const program = await bundle("test/agent/process-probe.ts");
  const file = join(folder, `seen-${job.through}.json`);
  const argv = [process.execPath, program, JSON.stringify(job), file];
  // Where the agent itself has a terminal, a child without one shows the rule.
  const quoted = argv.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const isPossible = onTerminal && existsSync("/usr/bin/script");
  const command = isPossible ? ["/usr/bin/script", "-qec", quoted, "/dev/null"] : argv;
  const child = spawn(command[0]!, command.slice(1), { stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr = maxOf(stderr + chunk);
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), 150_000);
  const exit = await new Promise((resolve) => child.on("close", (code, signal) => resolve(code ?? signal)));
  clearTimeout(timer);
  if (exit !== 0 || !existsSync(file)) return `the agent ended with ${exit}: ${stderr}`;
  return JSON.parse(readFileSync(file, "utf8")) as Seen;
}

/** The end of a text, where the cause of a failure usually is. */
export function maxOf(text: string, most = 2000): string {
  return text.length <= most ? text : `…${text.slice(-most)}`;
}
