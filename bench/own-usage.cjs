// Preloaded into a measured process: writes the peak of its memory (MB) and its CPU time (ms) to descriptor 3 when it ends.
process.on("exit", () => {
  try {
    const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
    require("node:fs").writeSync(3, `${maxRSS / 1024} ${(userCPUTime + systemCPUTime) / 1000}\n`);
  } catch {}
});
