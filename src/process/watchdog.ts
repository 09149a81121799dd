// Watchdog: a thread that interrupts the main thread when it no longer responds, so that time limits hold whatever it does. Used for
// unattended runs: print mode, and with it the runs that hosts, services and workers drive. In a terminal the user sees a hang and can
// end it; a server for editors carries many sessions, and all would end because of one.

export interface Watchdog {
  stop(): void;
}

/** How often the main thread signals that it is alive and the watchdog checks for it, in milliseconds. */
const beatMs = 500;
const stuckName = "courser.stuck";

/**
 * Watches whether the main thread responds. `deadline` is a time of day after which it must respond sooner. `onStuck` interrupts what
 * keeps the thread busy, which cannot continue: it must end the process without waiting. If the thread is blocked in a system call, the
 * process is killed.
 */
export function startWatchdog({
  deadline,
  onStuck,
  onStarted,
}: {
  deadline?: number | undefined;
  onStuck(): void;
  onStarted?: (() => void) | undefined;
}): Watchdog {
  const { Worker } = process.getBuiltinModule("node:worker_threads");
  const { closeSync } = process.getBuiltinModule("node:fs");
  const beats = new Int32Array(new SharedArrayBuffer(4));
  Object.defineProperty(globalThis, Symbol.for(stuckName), {
    configurable: true,
    value() {
      Atomics.add(beats, 0, 1);
      process.once("exit", () => closeSync(2)); // hides Node's message that it waits for a debugger
      onStuck();
    },
  });
  const worker = new Worker(script, {
    eval: true,
    workerData: { beats, beatMs, stuckName, deadline: deadline ?? Number.POSITIVE_INFINITY },
    env: {},
    execArgv: [],
    trackUnmanagedFds: false,
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 },
  });
  worker.unref();
  if (onStarted) worker.once("online", onStarted);
  // If no thread can be started, the run continues without a watchdog.
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
 * The watchdog thread. A busy main thread gets ten seconds of processor time, or 1.5 past the deadline; a blocked one gets two minutes,
 * or six seconds past the deadline. It counts ticks rather than wall time, so that a computer that slept does not look like a hang.
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
  const before = Atomics.load(beats, 0);
  try {
    const { Session } = require("node:inspector");
    const session = new Session();
    session.connectToMainThread();
    session.post("Runtime.evaluate", { expression: "globalThis[Symbol.for(" + JSON.stringify(stuckName) + ")]()" });
  } catch {}
  // What was called is ending the process, which takes its time on a busy machine.
  setTimeout(() => setTimeout(kill, Atomics.load(beats, 0) === before ? 0 : 20_000), 2500);
}

function kill() {
  try {
    require("node:fs").writeSync(2, "Error: The program waited for the system without an end: it was killed. [INTERNAL]\\n");
  } catch {}
  process.kill(process.pid, "SIGKILL");
}
`;
