// Runs the interactive terminal: sets up the screen, keyboard and app, and cleans up at the end.
import { setFlagsFromString } from "node:v8";
import { findGit } from "../agent/instructions/environment.ts";
import { exitCodeOf } from "../protocol/error-codes.ts";
import { configDir, homeDir } from "../store/config-dir.ts";
import { openPromptFile } from "../store/prompt-history.ts";
import { loadSettings } from "../store/settings.ts";
import { App } from "./app.ts";
import { Attention } from "./attention.ts";
import { colourDepth, darknessOf, isDarkBackground, themeOf } from "./colours.ts";
import { commandChoices } from "./commands/index.ts";
import { createEditor } from "./editor/editor.ts";
import { createHistory } from "./editor/history.ts";
import { createKeyQueue } from "./key-queue.ts";
import { createKeyboard } from "./keyboard.ts";
import { createPalette } from "./painted.ts";
import { createScreen, doesReflow } from "./screen.ts";
import type { TerminalStart } from "./start.ts";
import { createTranscript } from "./transcript/index.ts";
import { marksPastes, openTty } from "./tty.ts";

/** Input this early was typed before raw mode, where Enter is sent as a line feed. */
const typedAheadMs = 50;

/** Runs the interactive terminal. Returns the program's exit code. */
export async function runTerminal(start: TerminalStart): Promise<number> {
  keepHeapSmall();
  const { request, host, input, output } = start;
  const { env } = host;
  const settings = loadSettings({ configDir: configDir(env), workspace: request.workspace, trusted: false });
  const display = (settings.raw["display"] ?? {}) as Record<string, unknown>;
  const depth = colourDepth(env);
  const dark = isDarkBackground(env);
  const palette = createPalette({ depth, dark, theme: themeOf(display["theme"]) });
  const tty = openTty({ input, output, env, onSuspend: () => screen.clear(), onResume: () => app.resumed() });
  const screen = createScreen(output, tty.size, { reflows: doesReflow(env), redraw: () => app.redraw() });
  const toggles = {
    vim: settings.vimMode,
    thinking: display["showThinkingBlocks"] === true,
    lineNumbers: display["showLineNumbers"] !== false,
    statusIndicators: display["showStatusIndicators"] !== false,
  };
  const listing = new AbortController();
  const files = async () => {
    const { createProcessRunner } = await import("../agent/process.ts");
    const { workspaceFiles } = await import("./workspace-files.ts");
    const { workspace } = app.conversation.request;
    return workspaceFiles({ workspace, processes: createProcessRunner(), signal: listing.signal });
  };
  const prompts = openPromptFile({ configDir: configDir(env), workspace: request.workspace });
  const editor = createEditor({
    palette,
    vim: toggles.vim,
    placeholder: "Ask, or type / for commands, @ for files",
    history: createHistory({
      file: { ...prompts, ...(request.ephemeral && { add: () => {} }) },
      redact: host.redact ?? ((text) => text),
    }),
    complete: { commands: () => commandChoices(app.conversation.names), files },
    onChange: () => app.redraw(),
  });
  const app: App = new App({
    start,
    tty,
    screen,
    palette,
    editor,
    toggles,
    transcript: ({ isExpanded, rendering, onChange }) =>
      createTranscript({
        palette,
        workspace: request.workspace,
        home: homeDir(env),
        rendering,
        isExpanded,
        display: toggles,
        ...(onChange && { onChange }),
      }),
    attention: new Attention({
      tty,
      write: (text) => output.write(text),
      env,
      program: host.program,
      notifies: settings.raw["notifications"] !== false,
      hasTitle: () => toggles.statusIndicators,
    }),
    branch: () => findGit(request.workspace)?.branch,
    statusLine: settings.raw["statusLine"],
  });
  const onAnswer = (sequence: string) => {
    screen.answered(sequence);
    const isDark = darknessOf(sequence);
    if (isDark === undefined) return;
    palette.setDark(isDark);
    app.redraw();
  };
  const press = createKeyQueue(
    (key) => app.press(key),
    () => app.isElsewhere,
  );
  const keyboard = createKeyboard(press, { onAnswer, hasMarks: marksPastes(env) });
  const startedAt = Date.now();
  const onData = (chunk: Buffer) => {
    const isTypedAhead = Date.now() - startedAt < typedAheadMs;
    keyboard.feed(isTypedAhead ? chunk.toString().replaceAll("\n", "\r") : chunk);
  };
  const onEnd = () => app.leave();
  const onTerminate = () => app.leave(exitCodeOf("TERMINATED"));
  const onResize = () => app.resized(tty.size);
  tty.enter();
  app.paint();
  // Ask for the background colour, since shades are only used if it is known.
  if (depth === 24 && dark === undefined) tty.askBackground();
  input.on("data", onData).on("end", onEnd).on("error", onEnd).resume();
  output.on("resize", onResize);
  // SIGWINCH also arrives when a window is back at its former size.
  process.on("SIGWINCH", onResize).once("SIGTERM", onTerminate);
  try {
    void app.begin();
    return await app.done;
  } finally {
    listing.abort();
    await app.end();
    output.off("resize", onResize);
    process.off("SIGWINCH", onResize).off("SIGTERM", onTerminate);
    input.off("data", onData).off("end", onEnd).off("error", onEnd).pause();
    keyboard.close();
    tty.leave();
  }
}

/**
 * Keeps the memory of a session that is open all day small. The young generation of the heap would otherwise grow larger than all
 * live objects; keeping its initial size costs a tenth more CPU time and saves a quarter of the memory.
 */
function keepHeapSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}
