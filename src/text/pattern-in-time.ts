// Regular expressions of strangers: JavaScript's engine goes back and forth for ever on some of them, so they have a time limit.

/** Expressions that neither repeat nor choose within a group are never slow. */
const harmless = /^[\w\s^$:|/,=@#%&~"'<>-]*$/;

/** Whether a text matches; undefined where that is not known, since the expression took too long. */
export type PatternTest = (text: string) => boolean | undefined;

/** Throws SyntaxError. Once an expression has taken too long, it is not tried again. */
export function patternTest(source: string, flags = ""): PatternTest {
  const pattern = new RegExp(source, flags);
  let leftMs = 300;
  return (text) => {
    if (harmless.test(source)) return pattern.test(text);
    if (leftMs <= 0) return undefined;
    const started = Date.now();
    const found = withinTime(leftMs, () => pattern.test(text));
    const tookMs = Date.now() - started;
    // What is quick costs nothing, however often it is done.
    if (tookMs > 20) leftMs -= tookMs;
    return found;
  };
}

let scope: Record<string, unknown> | undefined;

/** What the work returns; undefined if it was stopped because it took longer. */
export function withinTime<T>(ms: number, work: () => T): T | undefined {
  // A browser has no such means, and there only one's own patterns are tested.
  const vm = globalThis.process?.getBuiltinModule?.("node:vm");
  if (!vm) return work();
  scope ??= vm.createContext({});
  try {
    scope["work"] = work;
    // The limit is kept by another thread, which also stops what the script calls.
    return vm.runInContext("work()", scope, { timeout: Math.ceil(ms) }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    return undefined;
  }
}
