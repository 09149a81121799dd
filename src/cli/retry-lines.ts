// Reports retries of a model call to a waiting user, after a second.
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
      // Announce a long wait at once, a short one only when the waits add up to a second.
      if (delayMs >= patienceMs || Date.now() - waitingSince >= patienceMs) write(line);
      else timer = setTimeout(write, patienceMs, line).unref();
    },
  };
}
