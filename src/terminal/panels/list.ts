// Panel with a list to choose from: arrows move, typing filters, Enter chooses, Esc leaves.
import { fuzzyFilter } from "@earendil-works/pi-tui/dist/fuzzy.js";
import type { Key } from "../key.ts";
import {
  cut,
  cutMiddle,
  join,
  nothing,
  type Painted,
  type Palette,
  padded,
  spread,
  widthOf,
  wrap,
} from "../painted.ts";
import { layoutWidth, rightMargin, type Size, type View } from "../view.ts";
import { createPanel, type OpenedPanel } from "./panel.ts";

export type ListItem<Value> = {
  value: Value;
  label: string;
  /** Text after the label, in a soft colour. */
  detail?: string;
  /** Text after the detail, which is only shown in wide windows. */
  aside?: string;
  /** Text at the right edge of the row. */
  note?: string;
  /** Text below the list while the item is selected. */
  more?: string;
  /** The text that must contain each word of the filter; by default, label and detail are searched for its letters. */
  words?: string;
};

export type ListOptions<Value> = {
  /** The title; a function if it can change while the list is open. */
  title: string | (() => string);
  items: readonly ListItem<Value>[];
  /** The index of the item that is selected at first. */
  selected?: number;
  filter?: string;
  /** The help text for the Enter key. */
  enter?: string;
  /** Additional keys. `press` is called with the selected item; if it returns a value, that is the choice. */
  keys?: Readonly<Record<string, { help: string; press(item: ListItem<Value>): Value | undefined }>>;
};

/** The maximum number of lines in any window, so that the conversation above stays visible. */
const maxLines = 12;

/** How many columns are needed to show the aside and the note. */
const asideRoom = 48;

const moves: Readonly<Record<string, (height: number) => number>> = {
  up: () => -1,
  "ctrl+p": () => -1,
  down: () => 1,
  "ctrl+n": () => 1,
  tab: () => 1,
  pageup: (height) => -height,
  pagedown: (height) => height,
  home: () => Number.NEGATIVE_INFINITY,
  end: () => Number.POSITIVE_INFINITY,
};

export function listPanel<Value>(palette: Palette, options: ListOptions<Value>): OpenedPanel<Value> {
  let filter = options.filter ?? "";
  let left = narrowed();
  let selected = Math.max(0, Math.min(options.selected ?? 0, left.length - 1));
  let first = 0;
  let height = maxLines;

  function narrowed(): readonly ListItem<Value>[] {
    if (filter === "") return options.items;
    const wanted = filter.toLowerCase().split(/\s+/);
    // Fuzzy matching would find nearly everything in long texts, so those must contain each word of the filter.
    const [long, short] = [options.items.filter(({ words }) => words), options.items.filter(({ words }) => !words)];
    return [
      ...fuzzyFilter(short, filter, ({ label, detail = "" }) => `${label} ${detail}`),
      ...long.filter(({ words = "" }) => wanted.every((word) => words.toLowerCase().includes(word))),
    ];
  }

  function setFilter(text: string): void {
    filter = text;
    left = narrowed();
    selected = 0;
    first = 0;
  }

  function view({ columns, rows }: Size): View {
    height = Math.max(1, Math.min(maxLines, rows - 6));
    first = Math.max(0, Math.min(first, selected, left.length - 1));
    if (selected >= first + height) first = selected - height + 1;
    const title = typeof options.title === "string" ? options.title : options.title();
    const prompt = join(palette.bold(` ${title} `), palette.plain(filter));
    const shown = left.slice(first, first + height);
    const widest = (texts: readonly string[]) => Math.max(0, ...texts.map((text) => widthOf(palette.plain(text)))) + 2;
    const width = Math.min(Math.max(40, columns >> 1), widest(shown.map(({ label }) => label)));
    const aside = width + widest(shown.map(({ detail = "" }) => detail)) + 3;
    // In a wide window, keep the notes close to their items.
    const needed = aside + widest(shown.map((item) => item.aside ?? "")) + widest(shown.map(({ note = "" }) => note));
    const edge = Math.min(columns - rightMargin, Math.max(layoutWidth(columns), needed));
    const lines = shown.map((item, index) =>
      itemLine(item, first + index === selected, { columns, width, aside, edge }),
    );
    if (lines.length === 0) lines.push(palette.soft("   no matches"));
    const counted =
      left.length === options.items.length ? `${left.length}` : `${left.length} of ${options.items.length}`;
    const own = Object.entries(options.keys ?? {}).map(([name, { help }]) => `${name} ${help}`);
    const keys = ["↑↓ move", "type to filter", `enter ${options.enter ?? "selects"}`, "esc cancels", ...own];
    // In a narrow window, omit the best-known keys first.
    const helps = keys.map((_, known) => palette.soft(`   ${[counted, ...keys.slice(known)].join(" · ")}`));
    const help = cut(helps.find((line) => widthOf(line) < columns) ?? helps.at(-1)!, columns - 1);
    const more = options.items.some((item) => item.more !== undefined)
      ? wrap(palette.plain(`   ${left[selected]?.more ?? ""}`), columns - 1, palette.plain("   "))
      : [];
    const head = cut(prompt, columns - 1);
    return {
      lines: [head, ...lines, ...more, help],
      cursor: { row: 0, column: Math.min(columns - 1, widthOf(prompt)) },
    };
  }

  function itemLine(
    { label, detail = "", aside = "", note = "" }: ListItem<Value>,
    isSelected: boolean,
    at: { columns: number; width: number; aside: number; edge: number },
  ): Painted {
    const name = isSelected ? palette.both("bold", "accent") : palette.plain;
    const sign = isSelected ? palette.accent(" › ") : palette.plain("   ");
    // The end of a path or a name says as much as its beginning.
    const shortened = (width: number) => (/\s/.test(label) ? cut(name(label), width) : name(cutMiddle(label, width)));
    const noted = palette.soft(note);
    const room = at.edge - widthOf(sign) - at.width - widthOf(noted) - 2;
    // A few letters of a detail would say nothing.
    const detailed = room < Math.min(8, detail.length) ? nothing : palette.soft(detail);
    const labelled =
      detailed === "" ? shortened(at.width + Math.max(0, room)) : padded(shortened(at.width - 2), at.width);
    const left = join(sign, labelled, detailed);
    const hasRoom = aside !== "" && at.columns - at.aside >= asideRoom;
    const whole = hasRoom ? join(padded(left, at.aside), palette.soft(aside)) : left;
    return spread(whole, noted, at.edge);
  }

  return createPanel<Value>((close) => ({
    view,
    press(key) {
      if (key.type === "paste") return setFilter(filter + key.text.replace(/\s+/g, " "));
      const item = left[selected];
      const own = options.keys?.[key.name];
      const move = moves[key.name];
      if (own) {
        const chosen = item && own.press(item);
        if (chosen !== undefined) close(chosen);
      } else if (move) selected = Math.max(0, Math.min(left.length - 1, selected + move(height)));
      else if (key.name === "escape" || key.name === "ctrl+c" || key.name === "ctrl+d") close(undefined);
      else if (key.name === "enter") item && close(item.value);
      else typed(key);
    },
  }));

  function typed(key: Extract<Key, { type: "key" }>): void {
    if (key.name === "backspace") setFilter([...filter].slice(0, -1).join(""));
    else if (key.name === "ctrl+u") setFilter("");
    else if (key.name === "ctrl+w") setFilter(filter.replace(/\S+\s*$/, ""));
    else if (key.text !== undefined) setFilter(filter + key.text);
  }
}
