// Refuses commands that only people may run, because an agent could remove its own limits with them.
import { UserError } from "../../protocol/error-codes.ts";
import type { Invocation } from "../main.ts";

/** Throws if an agent runs this command. `what` names in the message what agents may not change. */
export function refuseAgents({ env }: Invocation, what: string): void {
  if (!env["CURSOR_AGENT"]) return;
  throw new UserError(
    "UNTRUSTED",
    `An agent is running this command, and agents may not change ${what}. Type it in your own terminal.`,
  );
}
