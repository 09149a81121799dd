// Runs untrusted regular expressions with a time limit, because some make the engine backtrack almost endlessly.

/** Matches expressions without repetition and groups, which are never slow. */
const harmless = /^[\w\s^$:|/,=@#%&~"'<>-]*$/;

/** Returns whether a text matches, or undefined if the expression took too long. */
export type PatternTest = (text: string) => boolean | undefined;

/** Compiles a regular expression. Once its tests have used up their time, it is not run again. Throws a SyntaxError if it is invalid. */
export function patternTest(source: string, flags = ""): PatternTest {
  const pattern = new RegExp(source, flags);
  let leftMs = 300;
  return (text) => {
    if (harmless.test(source)) return pattern.test(text);
    if (leftMs <= 0) return undefined;
    const started = Date.now();
    const found = withinTime(leftMs, () => pattern.test(text));
    const tookMs = Date.now() - started;
    // Ignore quick tests, however many there are.
    if (tookMs > 20) leftMs -= tookMs;
    return found;
  };
}

let scope: Record<string, unknown> | undefined;

/** Returns the result of `work`, or undefined if it was stopped because it took too long. */
export function withinTime<T>(ms: number, work: () => T): T | undefined {
  // A browser has no `vm`, and only trusted patterns are tested there.
  const vm = globalThis.process?.getBuiltinModule?.("node:vm");
  if (!vm) return work();
  scope ??= vm.createContext({});
  try {
    scope["work"] = work;
    // Run the test in a VM context, whose time limit another thread enforces.
    return vm.runInContext("work()", scope, { timeout: Math.ceil(ms) }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    return undefined;
  }
}
