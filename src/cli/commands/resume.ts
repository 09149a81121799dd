// Resumes a chat: the latest one, or one that was chosen from a list.
import { basename } from "node:path";
import { nthChat } from "../../store/chats/find-chat.ts";
import type { Invocation } from "../main.ts";
import { contextOf } from "./sessions/context.ts";

/** Runs the command `resume`: continues the latest chat of this workspace, or else of all. Its arguments are the next prompt. */
export async function resume(invocation: Invocation): Promise<number> {
  const { configDir, workspace } = contextOf(invocation);
  const id = basename(nthChat(configDir, workspace, 1, invocation.name));
  const { isatty } = await import("node:tty");
  if (invocation.line.flags.has("print") || !isatty(0) || !isatty(1))
    return (await import("../print.ts")).runPrint(resuming(invocation, id));
  return resumeInTerminal(invocation, id);
}

/** Opens a chat in the terminal as if `--resume <id>` had been typed. */
export async function resumeInTerminal(invocation: Invocation, id: string): Promise<number> {
  const { startTerminal } = await import("../terminal.ts");
  return startTerminal(resuming(invocation, id));
}

function resuming(invocation: Invocation, id: string): Invocation {
  const flags = new Map(invocation.line.flags).set("resume", id);
  return { ...invocation, line: { ...invocation.line, command: undefined, flags } };
}
