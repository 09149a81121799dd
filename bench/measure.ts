// Measuring programs from outside: wall time, time to the first line, peak memory, CPU time; interleaved, medians.
import { spawn } from "node:child_process";
import { join } from "node:path";

export type Program = {
  command: string;
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
};

export type Sample = {
  wallMs: number;
  firstLineMs: number;
  /** Of programs of Node, where it was asked for: the largest process, and all of them together. */
  peakMb: number;
  cpuMs: number;
  exit: number | null;
  stdout: string;
  stderr: string;
};

export type MeasureOptions = {
  usage?: boolean;
  /** It may leave others behind: they are not waited for, and end with it. */
  ownGroup?: boolean;
  /** It is killed after so long; default one minute. */
  timeoutMs?: number;
  /** Called with its id as soon as it runs. */
  started?(pid: number): void;
};

export function runOnce(program: Program, options: MeasureOptions = {}): Promise<Sample> {
  const env = options.usage
    ? { ...program.env, NODE_OPTIONS: `--require=${join(import.meta.dirname, "own-usage.cjs")}` }
    : program.env;
  const started = performance.now();
  const child = spawn(program.command, program.args, {
    cwd: program.cwd,
    env,
    stdio: ["ignore", "pipe", "pipe", options.usage ? "pipe" : "ignore"],
    detached: options.ownGroup ?? false,
  });
  const endGroup = () => {
    try {
      if (options.ownGroup) process.kill(-child.pid!, "SIGKILL");
    } catch {} // nobody is left
  };
  if (child.pid !== undefined) options.started?.(child.pid);
  let firstLineMs = Number.NaN;
  let stdout = "";
  let stderr = "";
  let usage = "";
  child.stdout!.on("data", (chunk: Buffer) => {
    if (Number.isNaN(firstLineMs)) firstLineMs = performance.now() - started;
    stdout += chunk.toString();
  });
  child.stderr!.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  child.stdio[3]?.on("data", (chunk: Buffer) => {
    usage += chunk.toString();
  });
  const timer = setTimeout(() => (options.ownGroup ? endGroup() : child.kill("SIGKILL")), options.timeoutMs ?? 60_000);
  return new Promise((resolve, reject) => {
    let wallMs = 0;
    child.on("error", reject);
    child.on("exit", () => {
      wallMs = performance.now() - started;
      // A daemon may hold the pipes open.
      const letGo = () => {
        for (const pipe of [child.stdout!, child.stderr!]) pipe.destroy();
      };
      if (options.ownGroup) setTimeout(letGo, 500).unref();
    });
    child.on("close", (exit) => {
      clearTimeout(timer);
      endGroup();
      // A launcher that spawns reports more than once.
      const reports = usage
        .split("\n")
        .filter(Boolean)
        .map((line) => line.split(" ").map(Number) as [number, number]);
      const peakMb = Math.max(...reports.map(([megabytes]) => megabytes), 0);
      const cpuMs = reports.reduce((sum, [, milliseconds]) => sum + milliseconds, 0);
      resolve({ wallMs, firstLineMs, peakMb, cpuMs, exit, stdout, stderr });
    });
  });
}

/** In milliseconds, of the program and of all that it waited for. */
export function processorTime({ command, args, cwd, env }: Program): Promise<number> {
  const timed = 'TIMEFORMAT="%U %S"; time "$@" > /dev/null';
  const child = spawn("bash", ["-c", timed, "run", command, ...args], {
    cwd,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr!.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  return new Promise((settle, reject) => {
    child.on("error", reject);
    child.on("close", (exit) => {
      const [, user, system] = /([\d.]+) ([\d.]+)\s*$/.exec(said) ?? [];
      if (exit === 0) settle((Number(user) + Number(system)) * 1000);
      else reject(new Error(`${args.join(" ")} ended with ${exit}: ${said.slice(0, 500)}`));
    });
  });
}

/** Rounds in which every program runs once, so that a busy moment hits all alike. The first round is not counted. */
export async function interleave(
  programs: Record<string, Program>,
  rounds: number,
  options: MeasureOptions = {},
): Promise<Record<string, Sample[]>> {
  const samples: Record<string, Sample[]> = Object.fromEntries(Object.keys(programs).map((name) => [name, []]));
  for (let round = -1; round < rounds; round++) {
    for (const [name, program] of Object.entries(programs)) {
      const sample = await runOnce(program, options);
      if (sample.exit !== 0) throw new Error(`${name} ended with ${sample.exit}: ${sample.stderr.slice(0, 500)}`);
      if (round >= 0) samples[name]!.push(sample);
    }
  }
  return samples;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
