// `persist`, in the original CLI's words: `persist list`, `persist attach`, `persist stop`. Anything else is a prompt for a new
// background run, to which the terminal attaches at once.
import { usageError } from "../../../protocol/error-codes.ts";
import { startInBackground } from "../../background.ts";
import type { Invocation } from "../../main.ts";
import { runInner } from "../inner-command.ts";
import { attachTo } from "./attach.ts";
import { withFleet } from "./context.ts";
import { persistCommands } from "./index.ts";

export async function persist(invocation: Invocation): Promise<number> {
  const [first] = invocation.line.words;
  if (first !== undefined && persistCommands.some(({ name }) => name === first)) {
    const outer = { name: "persist", commands: persistCommands };
    return runInner(outer, invocation, async () => 0);
  }
  if (first === undefined) {
    const program = invocation.name;
    throw usageError(`'persist' needs a prompt or a command: ${program} persist "…", ${program} persist list`);
  }
  const { isatty } = await import("node:tty");
  return withFleet(invocation, async (fleet) => {
    const attended = isatty(0) && isatty(1);
    const run = await startInBackground(invocation, fleet, { attended });
    if (attended) return attachTo(invocation, fleet, run);
    process.stdout.write(`${run.id}\n`);
    return 0;
  });
}
