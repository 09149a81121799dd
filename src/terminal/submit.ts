// What a text that was sent becomes: a command of ours, a command of the shell, a prompt, or a hint that it is none of them.
import { UserError } from "../protocol/error-codes.ts";
import type { App } from "./app.ts";
import { readTyped, type SlashCommand } from "./commands/index.ts";
import type { Pressed } from "./editor/editor.ts";
import { runShellCommand } from "./shell-mode.ts";

export function submitText(app: App, { text, images, shell }: Extract<Pressed, { type: "submit" }>): void {
  if (shell) {
    guard(app, () => runShellCommand(app, text));
    return;
  }
  const typed = readTyped(text, app.names);
  switch (typed.type) {
    case "command":
      runCommand(app, typed.command, typed.rest);
      break;
    case "unknown":
      app.complain(typed.message);
      app.write(text); // nothing that was typed is lost
      break;
    case "prompt":
      app.submit(text, images);
  }
}

/** Enter in an empty editor: what is queued does not wait for the turn that runs. */
export function sendNow(app: App): void {
  if (app.conversation.queue.length > 0) app.conversation.interrupt();
}

function runCommand(app: App, command: SlashCommand, rest: string): void {
  if (command.needsIdle && app.conversation.isWorking)
    app.complain(`/${command.name} waits until the turn has ended. Esc interrupts it.`);
  else
    guard(app, async () => {
      await app.opened;
      await command.run(app, rest);
    });
}

/** A mistake of the user's is told; a bug of ours is not hidden. */
function guard(app: App, work: () => Promise<void>): void {
  void work().catch((error: unknown) => {
    if (error instanceof UserError) return app.complain(error.message);
    app.complain(`This went wrong, and should not have: ${error instanceof Error ? error.stack : String(error)}`);
  });
}
