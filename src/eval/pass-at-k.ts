// pass@k: the probability that at least one of k attempts passes, estimated without bias from n attempts of which c passed.

export function passAtK(attempts: number, passed: number, k: number): number {
  if (attempts - passed < k) return 1;
  let allFail = 1;
  for (let index = attempts - passed + 1; index <= attempts; index++) allFail *= 1 - k / index;
  return 1 - allFail;
}

/** The mean over tasks, given their attempts and passes. Only tasks with at least k attempts count. */
export function meanPassAtK(tasks: readonly { attempts: number; passed: number }[], k: number): number | undefined {
  const counted = tasks.filter(({ attempts }) => attempts >= k);
  if (counted.length === 0) return undefined;
  return counted.reduce((sum, { attempts, passed }) => sum + passAtK(attempts, passed, k), 0) / counted.length;
}
