// Starting the child of these tests: bundled once a process, with its package beside it; with faults if wanted.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { atExit } from "../support/at-exit.ts";
import { temporaryWithoutBlanks } from "../support/temporary.ts";
import type { ChildJob } from "./store-child.ts";

const repository = resolve(import.meta.dirname, "../..");

let program: Promise<string> | undefined;
let library: string | undefined;

export type StoreChild = {
  process: ChildProcess;
  lines: string[];
  /** Resolves when a line that fits was said; rejects when the child ends without. */
  said(pattern: RegExp): Promise<string>;
  ended: Promise<{ exit: number | null; signal: NodeJS.Signals | null; stderr: string }>;
};

export type ChildOptions = { env?: Record<string, string>; umask?: string; user?: number };

export async function startChild(job: ChildJob, { env = {}, umask, user }: ChildOptions = {}): Promise<StoreChild> {
  program ??= bundle();
  const node = [process.execPath, await program, JSON.stringify(job)];
  const command = umask === undefined ? node : ["sh", "-c", `umask ${umask}; exec "$@"`, "sh", ...node];
  const child = spawn(command[0]!, command.slice(1), {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
    ...(user !== undefined && { uid: user, gid: user }),
  });
  const lines: string[] = [];
  const listeners = new Set<() => void>();
  let rest = "";
  let stderr = "";
  let isOver = false;
  const wake = () => {
    for (const listener of listeners) listener();
  };
  child.stdout.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split("\n");
    rest = parts.pop()!;
    lines.push(...parts);
    wake();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = new Promise<{ exit: number | null; signal: NodeJS.Signals | null; stderr: string }>(
    (settle, reject) => {
      child.on("error", reject);
      child.on("close", (exit, signal) => {
        isOver = true;
        wake();
        settle({ exit, signal, stderr });
      });
    },
  );
  return {
    process: child,
    lines,
    ended,
    said: (pattern) =>
      new Promise((settle, reject) => {
        const look = () => {
          const line = lines.find((each) => pattern.test(each));
          if (line === undefined && !isOver) return;
          listeners.delete(look);
          if (line !== undefined) settle(line);
          else reject(new Error(`the child ended without saying ${pattern}: ${lines.at(-1)} ${stderr}`));
        };
        listeners.add(look);
        look();
      }),
  };
}

/** The environment that brings faults; a sentence where they cannot be made. */
export function faults(settings: Record<string, string | number>): Record<string, string> | string {
  if (process.platform !== "linux") return "faults are made for Linux only";
  try {
    library ??= compile();
  } catch {
    return "there is no C compiler here to make faults with";
  }
  const values = Object.entries(settings).map(([name, value]) => [name, String(value)]);
  return { LD_PRELOAD: library, ...Object.fromEntries(values) };
}

function compile(): string {
  // LD_PRELOAD takes a blank for the end of a path.
  const folder = mkdtempSync(join(temporaryWithoutBlanks(), "courser-faults-"));
  atExit(() => rmSync(folder, { recursive: true, force: true }));
  const output = join(folder, "faults.so");
  const source = join(import.meta.dirname, "fault-shim.c");
  execFileSync("cc", ["-shared", "-fPIC", "-O1", "-o", output, source, "-ldl"], { stdio: "ignore" });
  return output;
}

async function bundle(): Promise<string> {
  const { build } = await import("esbuild");
  const folder = mkdtempSync(join(tmpdir(), "courser-store-child-"));
  atExit(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  copySqlite(folder);
  const outfile = join(folder, "store-child.mjs");
  await build({
    entryPoints: [join(repository, "test/store/store-child.ts")],
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    outfile,
    logLevel: "error",
  });
  return outfile;
}

/** For a program in `folder` that another user runs too, who may have no way into the repository. */
export function copySqlite(folder: string): void {
  const name = "node_modules/@photostructure/sqlite";
  for (const part of ["package.json", "dist", `prebuilds/${process.platform}-${process.arch}`])
    cpSync(join(repository, name, part), join(folder, name, part), { recursive: true });
}
