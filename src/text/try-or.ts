// Runs something that may throw where every failure means the same, such as reading a file that need not exist.

/** Returns what `work` returns, or `otherwise` if it throws. */
export function tryOr<Value, Otherwise>(work: () => Value, otherwise: Otherwise): Value | Otherwise {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
