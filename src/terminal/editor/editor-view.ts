// Renders the editor: a sign, the text with the real cursor, and the popup list below.
import { cut, padded, widthOf } from "../../text/width.ts";
import { counted } from "../../view/numbers.ts";
import { join, type Painted } from "../painted.ts";
import type { Size, View } from "../view.ts";
import type { Layout, Row } from "./layout.ts";
import { expand } from "./paste.ts";
import { type Popup, popupSize } from "./popup.ts";

export type EditorPalette = Record<
  "plain" | "soft" | "bold" | "accent" | "warn" | "reverse",
  (text: string) => Painted
>;

export type Shown = {
  text: string;
  cursor: number;
  selected?: { start: number; end: number };
  popup?: Popup;
  shell: boolean;
  placeholder: string;
  /** Shown at the right of the first row: the vim mode and the keys of an unfinished command. */
  status: string;
  /** The first visible row of the last frame: the text scrolls only when the cursor would leave it. */
  firstRow: number;
};

/** Columns for the sign and a blank before the text, if the window is wide enough. */
function marginOf({ columns }: Size): number {
  return columns >= 8 ? 2 : 0;
}

function marginPaint(paint: (text: string) => Painted, sign: string, size: Size): Painted {
  return paint(sign.slice(0, marginOf(size)));
}

/** Returns the width for text. One column is left free for the cursor at the end of a full row. */
export function textWidth(size: Size): number {
  return Math.max(1, size.columns - marginOf(size) - 1);
}

const maxChoices = 8;

export function renderView(
  shown: Shown,
  { size, layout, palette }: { size: Size; layout: Layout; palette: EditorPalette },
): { view: View; firstRow: number } {
  if (shown.popup?.type === "search") return { view: searchView(shown.popup, size, palette), firstRow: shown.firstRow };
  const width = textWidth(size);
  const rows = layout.rows(shown.text, width);
  const place = layout.place(shown.text, shown.cursor, width);
  const height = Math.min(rows.length, Math.max(1, Math.floor(size.rows / 3)));
  const lowest = Math.min(shown.firstRow, rows.length - height);
  const firstRow = Math.max(place.row - height + 1, Math.min(lowest, place.row), 0);
  const sign = shown.shell ? marginPaint(palette.warn, "! ", size) : marginPaint(palette.accent, "› ", size);
  const margin = marginOf(size);
  const lines = rows.slice(firstRow, firstRow + height).map((row, index) => {
    const before = firstRow + index === 0 ? sign : marginPaint(palette.plain, "  ", size);
    return join(before, ...rowParts(shown, row, { layout, palette, width }));
  });
  if (shown.text === "") lines[0] = join(sign, palette.soft(cut(palette.plain(shown.placeholder), width)));
  addStatus(lines, shown, { rows, firstRow, layout, palette, size });
  return {
    view: {
      lines: [...lines, ...(shown.popup ? popupLines(shown.popup, size, palette) : [])],
      cursor: { row: place.row - firstRow, column: Math.min(margin + place.column, size.columns - 1) },
    },
    firstRow,
  };
}

type RowContext = { layout: Layout; palette: EditorPalette; width: number };

/** Paints a row of the editor; neighbouring cells of the same kind are painted together. */
function rowParts(visible: Shown, row: Row, { layout, palette, width }: RowContext): Painted[] {
  const parts: Painted[] = [];
  let run = "";
  let kind: "plain" | "accent" | "reverse" = "plain";
  const flush = () => {
    if (run !== "") parts.push(palette[kind](run));
    run = "";
  };
  for (const cell of layout.cells(visible.text, row, width)) {
    const isSelected = visible.selected && cell.start >= visible.selected.start && cell.start < visible.selected.end;
    const next = isSelected ? "reverse" : cell.isToken ? "accent" : "plain";
    if (next !== kind) flush();
    kind = next;
    run += cell.shown;
  }
  flush();
  return parts;
}

function addStatus(
  lines: Painted[],
  shown: Shown,
  context: { rows: readonly Row[]; firstRow: number; layout: Layout; palette: EditorPalette; size: Size },
): void {
  if (shown.status === "") return;
  const { rows, firstRow, layout, palette, size } = context;
  const width = textWidth(size);
  let used = shown.text === "" ? widthOf(cut(palette.plain(shown.placeholder), width)) : 0;
  for (const cell of layout.cells(shown.text, rows[firstRow]!, width)) used += cell.width;
  const room = size.columns - marginOf(size) - used - 2;
  if (room >= shown.status.length)
    lines[0] = join(lines[0]!, palette.soft(" ".repeat(room - shown.status.length + 1) + shown.status));
}

function searchView(popup: Popup & { type: "search" }, size: Size, palette: EditorPalette): View {
  const label = size.columns >= 16 ? "search: " : "";
  const query = tailWithin(palette.plain(popup.query), Math.max(1, size.columns - label.length - 1));
  const lines = [join(palette.soft(cut(label, size.columns)), palette.plain(query))];
  if (popup.found.length === 0)
    lines.push(palette.soft(cut("  no earlier message contains these words", size.columns)));
  return {
    lines: [...lines, ...popupLines(popup, size, palette)],
    cursor: { row: 0, column: Math.min(label.length + widthOf(query), size.columns - 1) },
  };
}

function tailWithin(text: string, width: number): string {
  let kept = text;
  while (widthOf(kept) > width) kept = kept.slice(1);
  return kept;
}

function popupLines(popup: Popup, size: Size, palette: EditorPalette): Painted[] {
  const height = Math.min(maxChoices, popupSize(popup), Math.max(1, Math.floor(size.rows / 3)));
  const first = Math.min(Math.max(0, popup.chosen - height + 1), popupSize(popup) - height);
  const rows =
    popup.type === "choices"
      ? popup.choices.map(({ value, detail }) => ({ name: value, detail }))
      : popup.found.map((draft) => ({
          name: oneLine(draft.shell ? `!${wholeText(draft)}` : wholeText(draft)),
          detail: "",
        }));
  // Escape names before measuring them: file names can contain any character.
  const visible = rows
    .slice(first, first + height)
    .map(({ name, detail }) => ({ name: palette.plain(name), detail: palette.plain(detail) }));
  const room = Math.max(1, size.columns - marginOf(size));
  const nameWidth = Math.min(room, Math.max(...visible.map(({ name }) => widthOf(name))));
  // For commands, show how many match, since only some are visible.
  const isCommands = popup.type === "choices" && popup.query.kind === "command" && popupSize(popup) > 1;
  const count = isCommands
    ? [palette.soft(cut(`  ${popup.chosen + 1} of ${counted(popupSize(popup), "command")}`, room))]
    : [];
  const lines = visible.map(({ name, detail }, index) => {
    const isChosen = first + index === popup.chosen;
    const shownName = detail === "" ? cut(name, room) : padded(cut(name, nameWidth), nameWidth);
    const left = room - widthOf(shownName) - 2;
    return join(
      marginPaint(isChosen ? palette.accent : palette.plain, isChosen ? "› " : "  ", size),
      isChosen ? palette.bold(shownName) : palette.plain(shownName),
      palette.soft(detail !== "" && left > 4 ? `  ${cut(detail, left)}` : ""),
    );
  });
  return [...lines, ...count];
}

function wholeText({ text, parts }: { text: string; parts: Parameters<typeof expand>[1] }): string {
  return expand(text, parts).text;
}

function oneLine(text: string): string {
  return text.slice(0, 500).replace(/\s+/g, " ").trim();
}
