// `runs list`: lists background runs, and starts hosts for those that have none.
import { startHostsUnserved } from "../../../serve/launcher.ts";
import { homeDir } from "../../../store/config-dir.ts";
import type { Invocation } from "../../main.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { launchOf, withFleet } from "./context.ts";
import { runJson, runLines } from "./run-lines.ts";

export function listRuns(invocation: Invocation): Promise<number> {
  return withFleet(invocation, async (fleet) => {
    await startHostsUnserved(fleet, launchOf(invocation));
    const all = invocation.line.flags.has("all");
    const open = await fleet.runs({ states: ["queued", "running"], limit: 1000 });
    const ended = await fleet.runs({ states: ["finished", "error", "cancelled"], limit: all ? 1000 : 20 });
    const runs = [...open, ...ended];
    if (wantsJson(invocation)) return answerJson(runs.map(runJson));
    if (runs.length === 0) return answer(`There are no background runs. To start one: ${invocation.name} -b "…"\n`);
    return answer(`${runLines(runs, { home: homeDir(invocation.env), now: Date.now() }).join("\n")}\n`);
  });
}
