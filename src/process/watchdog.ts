// Watchdog: a thread beside the main one that interrupts it when it no longer answers, so that limits hold whatever it does.

export interface Watchdog {
  stop(): void;
}

/** How often the main thread shows that it lives, and the other one looks. */
const beatMs = 500;
const stuckName = "courser.stuck";

/**
 * `deadline`: a time of day after which the main thread must at least answer. `onStuck` is called in the midst of what keeps the
 * main thread busy, which nothing can continue: it ends the process, without waiting for anything. Where it cannot be called,
 * since the main thread waits for the system, the process is killed.
 */
export function startWatchdog({ deadline, onStuck }: { deadline?: number | undefined; onStuck(): void }): Watchdog {
  const { Worker } = process.getBuiltinModule("node:worker_threads");
  const { closeSync } = process.getBuiltinModule("node:fs");
  const beats = new Int32Array(new SharedArrayBuffer(4));
  Object.defineProperty(globalThis, Symbol.for(stuckName), {
    configurable: true,
    value() {
      process.once("exit", () => closeSync(2)); // where Node would say that it waits for a debugger
      onStuck();
    },
  });
  const worker = new Worker(script, {
    eval: true,
    workerData: { beats, beatMs, stuckName, deadline: deadline ?? Number.POSITIVE_INFINITY },
    env: {},
    execArgv: [],
    trackUnmanagedFds: false,
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 },
  });
  worker.unref();
  // Where no thread can be started, the run goes on without this.
  worker.on("error", () => {});
  const beat = setInterval(() => Atomics.add(beats, 0, 1), beatMs).unref();
  return {
    stop() {
      clearInterval(beat);
      void worker.terminate();
    },
  };
}

/**
 * The other thread. A main thread that computes is given ten seconds of processor time, past the deadline 1.5; one that waits
 * two minutes, past the deadline six seconds. Ticks are counted, since a computer that slept is not a program that hangs.
 */
const script = `
const { workerData: { beats, beatMs, stuckName, deadline } } = require("node:worker_threads");
let beat = -1, missed = 0, busySince = 0;
const busyMs = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };

const looking = setInterval(() => {
  const now = Atomics.load(beats, 0);
  if (now !== beat) { beat = now; missed = 0; busySince = busyMs(); return; }
  missed++;
  const silentMs = missed * beatMs, computedMs = busyMs() - busySince;
  const isLate = Date.now() > deadline;
  if (computedMs >= (isLate ? 1500 : 10_000) || silentMs >= (isLate ? 6000 : 120_000)) end();
}, beatMs);

function end() {
  clearInterval(looking);
  try {
    const { Session } = require("node:inspector");
    const session = new Session();
    session.connectToMainThread();
    session.post("Runtime.evaluate", { expression: "globalThis[Symbol.for(" + JSON.stringify(stuckName) + ")]()" });
  } catch {}
  setTimeout(() => {
    try {
      require("node:fs").writeSync(2, "Error: The program waited for the system without an end: it was killed. [INTERNAL]\\n");
    } catch {}
    process.kill(process.pid, "SIGKILL");
  }, 2500);
}
`;
