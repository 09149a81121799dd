// Processes keys one at a time, since a slow connection delivers several at once: panels that one key closes or opens are settled
// before the next key is handled.
import type { Key } from "./key.ts";

/** Returns a function that queues keys for `press`. While a panel or pager gets them (`isElsewhere`), each may close it. */
export function createKeyQueue(press: (key: Key) => void, isElsewhere: () => boolean): (key: Key) => void {
  const waiting: Key[] = [];
  let isPressing = false;
  const next = (): void => {
    isPressing = false;
    while (waiting.length > 0 && !isPressing) {
      const mayChange = isElsewhere();
      press(waiting.shift()!);
      if (!mayChange) continue;
      isPressing = true;
      setImmediate(next);
    }
  };
  return (key) => {
    waiting.push(key);
    if (!isPressing) next();
  };
}
