// Some commands are for people: an agent could take its own guards away.
import { UserError } from "../../protocol/error-codes.ts";
import type { Invocation } from "../main.ts";

/** `what`: in the words of the sentence, what agents may not change. */
export function refuseAgents({ env }: Invocation, what: string): void {
  if (!env["CURSOR_AGENT"]) return;
  throw new UserError(
    "UNTRUSTED",
    `An agent is running this command, and agents may not change ${what}. Type it in your own terminal.`,
  );
}
