// `runs logs`: prints the log of a background run as text or as JSON lines; with --follow, until the run is over.
import { isOver } from "../../../serve/fleet.ts";
import type { Invocation } from "../../main.ts";
import { openStdout } from "../../stdout.ts";
import { wantsJson } from "../answer.ts";
import { chosenRun, withFleet } from "./context.ts";
import { createRunScreen } from "./run-lines.ts";

export function showLog(invocation: Invocation, words: readonly string[]): Promise<number> {
  return withFleet(invocation, async (fleet, end) => {
    const run = await chosenRun(fleet, words, invocation);
    const gone = new AbortController();
    const stdout = openStdout(() => gone.abort());
    const screen = createRunScreen(run.spec.request.workspace, (text) => stdout.write(text));
    const isJson = wantsJson(invocation);
    const isFollowed = invocation.line.flags.has("follow") && !isOver(run.state);
    for await (const logged of fleet.follow(run.id, 0, AbortSignal.any([gone.signal, end]))) {
      const { entry, position } = logged;
      if (isJson) stdout.write(`${JSON.stringify(logged)}\n`);
      else if (entry.type === "event" && entry.agent === undefined) screen.event(entry.event);
      else if (entry.type === "question") screen.line(`? It asks: ${invocation.name} runs answer ${run.id}`);
      else if (entry.type === "result" && entry.end.outcome !== "finished")
        screen.line(`${entry.end.outcome}: ${entry.end.text}`);
      await stdout.ready();
      if (!isFollowed && position >= run.position) break;
    }
    await stdout.flush();
    end.throwIfAborted();
    return gone.signal.aborted ? 141 : 0;
  });
}
