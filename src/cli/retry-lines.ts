// Why nothing comes: a person who waits for a model that is asked again is told after a second.
import type { AgentEvent } from "../protocol/event.ts";
import { visible } from "../text/visible.ts";
import { withoutSecrets } from "./stdout.ts";

const patienceMs = 1000;

export function createRetryLines(write: (line: string) => void): { event(event: AgentEvent): void } {
  let timer: NodeJS.Timeout | undefined;
  let waitingSince: number | undefined;
  return {
    event(event) {
      clearTimeout(timer);
      if (event.type !== "retry") {
        if (event.type !== "notice") waitingSince = undefined;
        return;
      }
      waitingSince ??= Date.now();
      const { reason = "the answer was cut off", delayMs = 0, attempt } = event;
      const wait = delayMs >= patienceMs ? ` in ${Math.ceil(delayMs / 1000)} s` : "";
      const line = `Retrying${wait} (attempt ${attempt + 1}): ${visible(withoutSecrets(reason)).replace(/\s+/g, " ")}`;
      // A longer wait is announced at once; a short one only where those before it made a second.
      if (delayMs >= patienceMs || Date.now() - waitingSince >= patienceMs) write(line);
      else timer = setTimeout(write, patienceMs, line).unref();
    },
  };
}
