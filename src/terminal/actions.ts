// Maps each key action of the app to its function. Actions that need two presses return a hint after the first.
import type { Recorded } from "../protocol/run.ts";
import type { App } from "./app.ts";
import { copyText } from "./clipboard.ts";
import { readClipboardImage } from "./clipboard-image.ts";
import { findCommand } from "./commands/index.ts";
import { nextMode, setMode } from "./commands/model-and-mode.ts";
import { chooseTurn } from "./commands/rewind.ts";
import { editExternally } from "./external-editor.ts";
import type { AppAction } from "./keymap.ts";
import { blanks, type Painted, wrap } from "./painted.ts";
import { showChanges } from "./review.ts";

/** Within how many milliseconds a second press of the same key counts as confirmation. */
export const twiceMs = 1500;
const pressed = new WeakMap<App, { action: AppAction; at: number }>();

/**
 * Performs an action and returns a hint for the footer, if any. `isHinted` is true while the previous hint is shown and no other
 * key was pressed.
 */
export function performAction(app: App, action: AppAction, { isHinted }: { isHinted: boolean }): string | undefined {
  const last = pressed.get(app);
  const isSecond = isHinted && last?.action === action && Date.now() - last.at < twiceMs;
  const hint = actions[action](app, isSecond);
  // Only a press that showed a hint counts as the first of two presses.
  if (hint === undefined) pressed.delete(app);
  else pressed.set(app, { action, at: Date.now() });
  return hint;
}

type Action = (app: App, isSecond: boolean) => string | undefined;

/** Runs an action asynchronously and reports its errors on the screen. */
function inBackground(work: (app: App) => Promise<unknown>): Action {
  return (app) => {
    void work(app).catch((error: Error) => app.complain(error.message));
    return undefined;
  };
}

function editorPlace({ env, conversation }: App): { env: NodeJS.ProcessEnv; cwd: string } {
  return { env, cwd: conversation.request.workspace };
}

function transcriptLines(
  app: App,
  events: readonly Recorded[],
  { columns, isExpanded }: { columns: number; isExpanded: boolean },
): Painted[] {
  const transcript = app.transcriptOf({ isExpanded });
  for (const recorded of events) transcript.event(recorded);
  return transcript.takeCommitted(columns);
}

/** Interrupts the turn and moves queued messages back to the editor: a user who stops a turn does not want the next one at once. */
async function interruptTurn(app: App): Promise<void> {
  app.setGoal(undefined);
  const texts = app.conversation.queue.length > 0 ? await app.conversation.takeBackAll() : [];
  app.conversation.interrupt();
  if (texts.length === 0) return;
  app.write([...texts, app.editor.text()].filter((text) => text.trim() !== "").join("\n\n"));
  await app.conversation.ended();
  const what = texts.length === 1 ? "The queued message is" : `The ${texts.length} queued messages are`;
  app.say(`${what} back in the editor, and not sent. Enter sends ${texts.length === 1 ? "it" : "them"}.`);
}

const actions: Readonly<Record<AppAction, Action>> = {
  interrupt(app, isSecond) {
    if (app.stopLive()) return undefined;
    if (app.conversation.isWorking) {
      void interruptTurn(app);
      return undefined;
    }
    if (!app.editor.isEmpty()) return isSecond ? void app.editor.clear() : "Esc again clears the text";
    if (!isSecond) return "Esc again goes back to an earlier message";
    void chooseTurn(app).catch((error: Error) => app.complain(error.message));
    return undefined;
  },
  stop(app, isSecond) {
    if (!app.editor.isEmpty()) return void app.editor.clear();
    if (app.stopLive()) return undefined;
    if (app.conversation.isWorking && !isSecond) {
      void interruptTurn(app);
      return "Interrupted. Ctrl+C again quits";
    }
    if (!isSecond) return "Ctrl+C again quits";
    return void app.leave();
  },
  leave(app, isSecond) {
    if (!app.editor.isEmpty()) return undefined;
    return isSecond ? void app.leave() : "Ctrl+D again quits";
  },
  nextMode(app) {
    setMode(app, nextMode(app.conversation.info.mode));
    return undefined;
  },
  background(app, isSecond) {
    if (!app.conversation.isWorking) return undefined;
    if (!isSecond) return "Ctrl+B again moves the running command to the background";
    void app.conversation.background().then((done) => {
      if (!done) app.say("No running command can be moved to the background.");
    });
    return undefined;
  },
  transcript: inBackground(async (app) => {
    const all: Recorded[] = [];
    for await (const recorded of app.conversation.history("all")) all.push(recorded);
    const raw = all.map(({ number, event }) => `${String(number).padStart(6)} ${JSON.stringify(event)}`);
    await app.read({
      title: "The whole conversation",
      views: [
        { key: "", label: "", lines: (columns) => transcriptLines(app, all, { columns, isExpanded: true }) },
        { key: "e", label: "folded", lines: (columns) => transcriptLines(app, all, { columns, isExpanded: false }) },
        {
          key: "r",
          label: "raw events",
          lines: (columns) => raw.flatMap((line) => wrap(app.palette.plain(line), columns, blanks(7))),
        },
      ],
      from: "end",
      async copy(text) {
        const copied = await copyText(text, editorPlace(app));
        if (copied.type === "copied") return "copied";
        return app.copyByTerminal(text) ? "copied, if your terminal lets programs copy" : copied.message;
      },
    });
  }),
  review: inBackground(showChanges),
  resume: inBackground(async (app) => {
    if (app.conversation.isWorking) return app.say("A turn is running. Esc interrupts it.");
    await findCommand("resume")!.run(app, "");
  }),
  redraw: inBackground((app) => app.reprint()),
  suspend(app) {
    app.suspend();
    return undefined;
  },
  externalEditor: inBackground(async (app) => {
    const edited = await app.lend(() => editExternally(app.editor.text(), editorPlace(app)));
    if (edited.type === "edited") app.editor.setEdited(edited.text);
    else app.complain(edited.message);
  }),
  pasteImage: inBackground(async (app) => {
    const found = await readClipboardImage(editorPlace(app));
    if (found.type === "image") app.editor.insertImage(found.image);
    else app.say(found.message);
    app.redraw();
  }),
  help: inBackground(async (app) => {
    await findCommand("help")!.run(app, "");
  }),
};
