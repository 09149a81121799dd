// One line of text that is asked for: a reason, a name, a key that must not be seen.
import { charactersOf } from "../../text/width.ts";
import { cut, join, type Palette, widthOf } from "../painted.ts";
import { createPanel, type Panel } from "./panel.ts";

export type LineOptions = {
  title: string;
  /** Shown while nothing is typed. */
  hint?: string;
  text?: string;
  /** Below it, in the place of what keys do. */
  note?: string;
  /** Nobody must read it over a shoulder, or in a scrollback. */
  isHidden?: boolean;
};

/** Undefined: called off by Esc or Ctrl+C. */
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
      const shown = (characters: readonly string[]) => (isHidden ? "•".repeat(characters.length) : characters.join(""));
      const name = join(cut(palette.bold(` ${title}`), columns >> 1), palette.plain(" "));
      // What is written goes on to the right; what does not fit goes at the left.
      const room = Math.max(4, columns - 2 - widthOf(name));
      let typed = palette.plain(shown(before));
      for (let from = Math.max(1, before.length - room); widthOf(typed) > room; from++)
        typed = palette.plain(`…${shown(before.slice(from))}`);
      const head = join(name, typed);
      const isEmpty = before.length + after.length === 0;
      const line = isEmpty ? join(head, palette.soft(hint)) : join(head, palette.plain(shown(after)));
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
