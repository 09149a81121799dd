// `fleet init` and `fleet limits`: how long and how much a fleet keeps. Opening it has created what was not there.
import { UserError } from "../../../protocol/error-codes.ts";
import type { StreamFacts } from "../../../serve/engines/nats/overview.ts";
import { byteSize } from "../../../view/numbers.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { answer } from "../answer.ts";
import { refuseAgents } from "../refuse-agents.ts";
import { withAdmin } from "./context.ts";

export function changeLimits(invocation: Invocation): Promise<number> {
  refuseAgents(invocation, "what a fleet keeps");
  const days = numberOf(invocation, "keep-days");
  if (days !== undefined && days < 1)
    throw new UserError(
      "USAGE",
      `--keep-days '${days}' must be at least 1: a run must not outlive what is kept of it.`,
    );
  const gigabytes = numberOf(invocation, "max-size");
  return withAdmin(invocation, async (admin) => {
    if (days !== undefined || gigabytes !== undefined)
      await admin.limit({
        ...(days !== undefined && { days }),
        ...(gigabytes !== undefined && { bytes: gigabytes * 1e9 }),
      });
    const { streams } = await admin.overview();
    return answer(`${streams.map(lineOf).join("\n")}\n`);
  });
}

function lineOf({ name, replicas, maxAgeDays, maxBytes }: StreamFacts): string {
  const age = maxAgeDays === undefined ? "kept until removed" : `kept for ${maxAgeDays} days`;
  const size = maxBytes === undefined ? "" : `, at most ${byteSize(maxBytes)}`;
  return `${name}: ${replicas === 1 ? "1 copy" : `${replicas} copies`}, ${age}${size}`;
}

function numberOf({ line }: Invocation, name: string): number | undefined {
  const text = flagText(line.flags, name);
  if (text === undefined) return undefined;
  if (/^\d{1,6}(\.\d{1,3})?$/.test(text) && Number(text) > 0) return Number(text);
  throw new UserError("USAGE", `--${name} '${text}' must be a positive number.`);
}
