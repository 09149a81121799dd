// Preloaded into a measured process: writes the peak of its memory (MB) and its CPU time (ms) when it ends, to the file that is
// named, where processes outlive the one that was started, or to descriptor 3.
const { appendFileSync, readFileSync, writeSync } = require("node:fs");

process.on("exit", () => {
  try {
    const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
    const file = process.env["COURSER_BENCH_USAGE"];
    const line = `${peakMb() ?? maxRSS / 1024} ${(userCPUTime + systemCPUTime) / 1000}
`;
    if (file) appendFileSync(file, line);
    else writeSync(3, line);
  } catch {}
});

/** On Linux, `maxRSS` of a new process begins with that of the process which started it; the kernel's own mark does not. */
function peakMb() {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
  } catch {
    return undefined;
  }
}
