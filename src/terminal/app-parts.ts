// The dependencies that the app is constructed with.
import type { Attention } from "./attention.ts";
import type { Toggles } from "./desk.ts";
import type { Editor } from "./editor/editor.ts";
import type { Palette } from "./painted.ts";
import type { Screen } from "./screen.ts";
import type { TerminalStart } from "./start.ts";
import type { Transcript } from "./transcript/index.ts";
import type { Rendering } from "./transcript/rendering.ts";
import type { Tty } from "./tty.ts";

export type AppParts = {
  start: TerminalStart;
  tty: Tty;
  screen: Screen;
  palette: Palette;
  editor: Editor;
  transcript(options: {
    isExpanded: boolean;
    rendering?: Rendering | undefined;
    onChange?: (() => void) | undefined;
  }): Transcript;
  toggles: Toggles;
  branch(): string | undefined;
  /** The value of `statusLine` in cli-config.json, not validated yet. */
  statusLine: unknown;
  attention: Attention;
};
