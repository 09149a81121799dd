// Keys in turn: over a slow line several come at once. What a key closes is closed, and what that opens is open, before the
// next one is pressed.
import type { Key } from "./key.ts";

/** `isElsewhere`: who has the keys now may hand them on to somebody else. */
export function keysInTurn(press: (key: Key) => void, isElsewhere: () => boolean): (key: Key) => void {
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
