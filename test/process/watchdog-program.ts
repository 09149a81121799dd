// A program that is stuck from the start: its ending takes as many milliseconds as its argument says, then it exits with 7.
import { startWatchdog } from "../../src/process/watchdog.ts";

const endingMs = Number(process.argv[2]);
const wait = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

startWatchdog({
  deadline: 0,
  onStuck() {
    wait(endingMs);
    process.exit(7);
  },
  onStarted() {
    for (;;);
  },
});
setInterval(() => {}, 1000);
