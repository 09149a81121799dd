// `runs stop`: stops background runs.
import type { Invocation } from "../../main.ts";
import { answer } from "../answer.ts";
import { chosenRun, withFleet } from "./context.ts";

export function stopRuns(invocation: Invocation, words: readonly string[]): Promise<number> {
  return withFleet(invocation, async (fleet) => {
    const runs = [];
    for (const word of words) runs.push(await chosenRun(fleet, [word], invocation));
    const lines: string[] = [];
    for (const { id } of runs) {
      const isStopped = await fleet.cancel(id, "The run was stopped by its user.");
      lines.push(isStopped ? `✓ Stopped ${id}` : `${id} was over`);
    }
    return answer(`${lines.join("\n")}\n`);
  });
}
