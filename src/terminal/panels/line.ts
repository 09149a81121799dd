// Panel that asks for one line of text: a reason, a name, or a key that must stay hidden.
import { charactersOf } from "../../text/width.ts";
import { cut, join, type Palette, widthOf } from "../painted.ts";
import { createPanel, type Panel } from "./panel.ts";

export type LineOptions = {
  title: string;
  /** The text that is shown while the line is empty. */
  hint?: string;
  text?: string;
  /** A note that is shown below the line in place of the key help. */
  note?: string;
  /** Hides the text, so that it can be read neither over a shoulder nor in the scrollback. */
  isHidden?: boolean;
};

/** Creates a panel in which the user types one line. `closed` resolves to undefined if the user cancels with Esc or Ctrl+C. */
export function linePanel(
  palette: Palette,
  { title, hint = "", text = "", note, isHidden = false }: LineOptions,
): { panel: Panel; closed: Promise<string | undefined> } {
  let before = [...charactersOf(text)];
  let after: string[] = [];
  const insert = (typed: string) => before.push(...charactersOf(typed.replace(/\s*[\r\n]+\s*/g, " ")));
  const edits: Readonly<Record<string, () => void>> = {
    backspace: () => before.pop(),
    delete: () => after.shift(),
    left: () => before.length > 0 && after.unshift(before.pop()!),
    right: () => after.length > 0 && before.push(after.shift()!),
    home: () => (after = [...before.splice(0), ...after]),
    "ctrl+a": () => (after = [...before.splice(0), ...after]),
    end: () => before.push(...after.splice(0)),
    "ctrl+e": () => before.push(...after.splice(0)),
    "ctrl+u": () => (before = []),
    "ctrl+k": () => (after = []),
    "ctrl+w": () => (before = [...charactersOf(before.join("").replace(/\S+\s*$/, ""))]),
  };
  return createPanel<string>((close) => ({
    view({ columns }) {
      const masked = (characters: readonly string[]) =>
        isHidden ? "•".repeat(characters.length) : characters.join("");
      const name = join(cut(palette.bold(` ${title}`), columns >> 1), palette.plain(" "));
      // Scroll horizontally: text that does not fit is cut at the left.
      const room = Math.max(4, columns - 2 - widthOf(name));
      let typed = palette.plain(masked(before));
      for (let from = Math.max(1, before.length - room); widthOf(typed) > room; from++)
        typed = palette.plain(`…${masked(before.slice(from))}`);
      const head = join(name, typed);
      const isEmpty = before.length + after.length === 0;
      const line = isEmpty ? join(head, palette.soft(hint)) : join(head, palette.plain(masked(after)));
      return {
        lines: [
          cut(line, columns - 1),
          cut(palette.soft(`   ${note === undefined ? "" : `${note} · `}enter confirms · esc cancels`), columns - 1),
        ],
        cursor: { row: 0, column: Math.min(columns - 1, widthOf(head)) },
      };
    },
    press(key) {
      if (key.type === "paste") return insert(key.text);
      const edit = edits[key.name];
      if (edit) edit();
      else if (key.name === "enter") close([...before, ...after].join(""));
      else if (key.name === "escape" || key.name === "ctrl+c" || key.name === "ctrl+d") close(undefined);
      else if (key.text !== undefined) insert(key.text);
    },
  }));
}
