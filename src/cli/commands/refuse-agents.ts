// Some commands are for people: an agent could take its own guards away.
import { UserError } from "../../protocol/error-codes.ts";
import type { Invocation } from "../main.ts";

/** `what`: in the words of the sentence, what agents do not change. */
export function refuseAgents({ env }: Invocation, what: string): void {
  if (!env["CURSOR_AGENT"]) return;
  throw new UserError(
    "UNTRUSTED",
    `An agent runs this command, and agents do not change ${what}. Type it in a terminal of your own.`,
  );
}
