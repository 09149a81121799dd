// `fleet init` and `fleet limits`: set how long and how much a fleet keeps, and the limits of each sender. Opening a fleet
// creates what is missing.
import { usageError } from "../../../protocol/error-codes.ts";
import type { Overview, StreamState } from "../../../serve/fleet.ts";
import { byteSize, counted, dollars } from "../../../view/numbers.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { answer } from "../answer.ts";
import { refuseAgents } from "../refuse-agents.ts";
import { withAdmin } from "./context.ts";

export function changeLimits(invocation: Invocation): Promise<number> {
  refuseAgents(invocation, "what a fleet keeps");
  const days = numberFlag(invocation, "keep-days");
  if (days !== undefined && days < 1)
    throw usageError(`--keep-days '${days}' must be at least 1: a run must not outlive what is kept of it.`);
  const gigabytes = numberFlag(invocation, "max-size");
  const runs = numberFlag(invocation, "runs-per-sender", 0);
  if (runs !== undefined && !Number.isInteger(runs))
    throw usageError(`--runs-per-sender '${runs}' must be a whole number.`);
  const costPerDay = numberFlag(invocation, "cost-per-sender", 0);
  const quota = { ...(runs !== undefined && { runs }), ...(costPerDay !== undefined && { costPerDay }) };
  return withAdmin(invocation, async (fleet) => {
    await fleet.limit({
      ...(days !== undefined && { days }),
      ...(gigabytes !== undefined && { bytes: gigabytes * 1e9 }),
      ...(Object.keys(quota).length > 0 && { quota }),
    });
    const { streams, quota: now } = await fleet.overview();
    return answer(`${[...streams.map(streamLine), quotaLine(now)].join("\n")}\n`);
  });
}

function quotaLine({ runs, costPerDay }: Overview["quota"]): string {
  const atOnce =
    runs === undefined ? "any number of runs at once" : `at most ${counted(runs, "run")} at once in a pool`;
  const cost = costPerDay === undefined ? "at any cost" : `none after ${dollars(costPerDay)} in a day`;
  return `each sender: ${atOnce}, ${cost}`;
}

function streamLine({ name, replicas, maxAgeDays, maxBytes }: StreamState): string {
  const age = maxAgeDays === undefined ? "kept until removed" : `kept for ${maxAgeDays} days`;
  const size = maxBytes === undefined ? "" : `, at most ${byteSize(maxBytes)}`;
  return `${name}: ${replicas === 1 ? "1 copy" : `${replicas} copies`}, ${age}${size}`;
}

function numberFlag({ line }: Invocation, name: string, least = 0.001): number | undefined {
  const text = flagText(line.flags, name);
  if (text === undefined) return undefined;
  if (/^\d{1,6}(\.\d{1,3})?$/.test(text) && Number(text) >= least) return Number(text);
  throw usageError(`--${name} '${text}' must be a ${least > 0 ? "positive " : ""}number.`);
}
