// chooseOne: shows a list to choose from on a terminal where the app is not running.
import { UserError } from "../protocol/error-codes.ts";
import { colourDepth, isDarkBackground } from "./colours.ts";
import { createKeyboard } from "./keyboard.ts";
import { createPalette } from "./painted.ts";
import { type ListOptions, listPanel } from "./panels/list.ts";
import { createScreen, doesReflow } from "./screen.ts";
import { marksPastes, openTty } from "./tty.ts";

export type Surroundings = { input: NodeJS.ReadStream; output: NodeJS.WriteStream; env: NodeJS.ProcessEnv };

/** Lets the user choose from a list; undefined if nothing was chosen. What is typed afterwards stays unread for the next reader. */
export async function chooseOne<Value>(
  options: ListOptions<Value>,
  { input, output, env }: Surroundings,
): Promise<Value | undefined> {
  const palette = createPalette({ depth: colourDepth(env), dark: isDarkBackground(env) });
  const { panel, closed } = listPanel(palette, options);
  const tty = openTty({ input, output, env, onSuspend: () => screen.clear(), onResume: () => draw() });
  const screen = createScreen(output, tty.size, { reflows: doesReflow(env) });
  const draw = () => screen.draw(panel.view(screen.size));
  let isOpen = true;
  let isInterrupted = false;
  const keyboard = createKeyboard(
    (key) => {
      isInterrupted ||= key.type === "key" && key.name === "ctrl+c";
      panel.press(key);
      draw();
    },
    { hasMarks: marksPastes(env) },
  );
  void closed.then(() => {
    isOpen = false;
  });
  const onData = async (chunk: Buffer) => {
    input.pause();
    // Feed the input one line at a time, since the first Enter may already make the choice.
    const parts = chunk.toString("latin1").split(/(?<=[\r\n])/);
    while (parts.length > 0 && isOpen) {
      keyboard.feed(Buffer.from(parts.shift()!, "latin1"));
      await Promise.resolve();
    }
    if (parts.length > 0) input.unshift(Buffer.from(parts.join(""), "latin1"));
    if (isOpen) input.resume();
  };
  const onEnd = () => panel.cancel();
  const onResize = () => {
    screen.resize(tty.size);
    draw();
  };
  tty.enter();
  draw();
  input.on("data", onData).on("end", onEnd).on("error", onEnd).resume();
  output.on("resize", onResize);
  try {
    const chosen = await closed;
    if (isInterrupted) throw new UserError("INTERRUPTED", "Interrupted; nothing was chosen.");
    return chosen;
  } finally {
    output.off("resize", onResize);
    input.off("data", onData).off("end", onEnd).off("error", onEnd).pause();
    keyboard.close();
    screen.clear();
    tty.leave();
  }
}
