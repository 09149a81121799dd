// Dispatches submitted text: a slash command, a shell command, a prompt, or an error message for an unknown command.
import { UserError } from "../protocol/error-codes.ts";
import type { App } from "./app.ts";
import { readTyped, type SlashCommand } from "./commands/index.ts";
import type { Pressed } from "./editor/editor.ts";
import { runShellCommand } from "./shell-mode.ts";

/** The submission in progress. Later ones wait for it: `/clear` and a prompt may come in one burst of keys. */
const running = new WeakMap<App, Promise<void>>();

export function submitText(app: App, sent: Extract<Pressed, { type: "submit" }>): void {
  if (sent.shell) {
    void reportUserErrors(app, () => runShellCommand(app, sent.text));
    return;
  }
  const typed = readTyped(sent.text, app.conversation.names);
  const before = running.get(app);
  if (typed.type === "command" ? typed.command.isBeside : !before) {
    void handleSubmit(app, sent);
    return;
  }
  const work = (before ? before.then(() => handleSubmit(app, sent)) : handleSubmit(app, sent)).finally(() => {
    if (running.get(app) === work) running.delete(app);
  });
  running.set(app, work);
}

function handleSubmit(app: App, { text, images }: Extract<Pressed, { type: "submit" }>): Promise<void> {
  return reportUserErrors(app, async () => {
    let typed = readTyped(text, app.conversation.names);
    if (typed.type === "unknown") {
      // A server that connected in the meantime may have added prompts.
      await app.conversation.refreshNames();
      typed = readTyped(text, app.conversation.names);
    }
    switch (typed.type) {
      case "command":
        await runCommand(app, typed.command, typed.rest, text);
        break;
      case "unknown":
        app.complain(typed.message);
        if (app.editor.isEmpty()) app.write(text); // put the text back into the editor, so that it is not lost
        break;
      case "prompt":
        app.submit(text, images);
    }
  });
}

/** Handles ↑ in an empty editor: moves the last queued message back to the editor. Returns false if none is queued. */
export function tryTakeBack(app: App): boolean {
  if (!app.editor.isEmpty() || app.conversation.queue.length === 0) return false;
  void app.conversation.takeBack().then((text) => {
    if (text !== undefined) app.write(text);
    else app.redraw();
  });
  return true;
}

/** Enter in an empty editor: sends queued messages without waiting for the running turn. */
export function sendNow(app: App): void {
  if (app.conversation.queue.length > 0) app.conversation.interrupt();
}

async function runCommand(app: App, command: SlashCommand, rest: string, text: string): Promise<void> {
  await app.opened;
  if (command.name !== "quit") app.echo(text.trim());
  if (command.needsIdle && app.conversation.isWorking)
    return app.complain(`/${command.name} has to wait until the turn ends. Esc interrupts it.`);
  await command.run(app, rest);
}

/** Reports user errors on the screen; lets other errors through, so that bugs are not hidden. */
async function reportUserErrors(app: App, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof UserError) return app.complain(error.message);
    app.complain(`Unexpected error: ${error instanceof Error ? error.stack : String(error)}`);
  }
}
