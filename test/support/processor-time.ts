// Time that this process spends working, in milliseconds: others on the machine do not make it longer, as they do with a clock.

/** Starts to count; each call of what it returns says how much it is. */
export function processorClock(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
}

export function processorMs(work: () => void): number {
  const spent = processorClock();
  work();
  return spent();
}
