// The screen, scrollback first: what is finished is written once, above a small live region, and belongs to the terminal from
// then on; only the live region is drawn again, line by line where it differs.
//
// Nothing is used but moves upwards, erasing below and to the right, and columns: no clearing, no scroll regions, no mouse.
import { cut, type Painted, widthOf } from "./painted.ts";
import type { Size, View } from "./view.ts";

/** What a screen is written to: `process.stdout`, or a test. `write` answers false when the terminal cannot follow. */
export interface ScreenOutput {
  write(text: string): boolean;
  once(event: "drain", then: () => void): unknown;
}

export interface Screen {
  /** Written with the next frame, above the live region, exactly once. */
  commit(lines: readonly Painted[]): void;
  /** The live region from now on. What was committed goes out with it, in one write. */
  draw(view: View): void;
  /** The terminal has another size. The next `draw` counts with it. */
  resize(size: Size): void;
  /** Takes the live region away; the cursor stands where it began. What is drawn next begins there. */
  clear(): void;
  /** Something else wrote to the terminal: the live region begins anew where the cursor is, or where the window ends. */
  forget(where?: "bottom"): void;
  readonly size: Size;
}

const beginFrame = "\x1b[?2026h";
const endFrame = "\x1b[?2026l";
/**
 * Terminals disagree on the width of these. A line that is wider than we think must not push others down, so that it is drawn
 * without wrapping. Others may wrap: where the window has become narrower while they were on their way, they take as many
 * rows as if the terminal had broken them anew, which is what the next frame counts with.
 */
const uncertain =
  /[^\x1b\x20-\u02ff\u0370-\u0482\u048a-\u058f\u2010-\u2027\u2030-\u205e\u2190-\u22ff\u2500-\u259f\u2713-\u2717\u2800-\u28ff\u2e80-\u9fff\uac00-\ud7a3\uff00-\uff60]/;
const drawn = (line: Painted): string => (uncertain.test(line) ? `\x1b[?7l${line}\x1b[?7h` : line);
/** A terminal has shown a frame after this long. */
const underWayMs = 300;
/**
 * From the first column, where the cursor stays. In two steps: tmux takes an erasure from the window's first cell on for one of
 * the whole window, and moves what was there into the scrollback, where the live region would stand for ever.
 */
const eraseBelow = "\x1b[K\x1b[C\x1b[J\r";
const hideCursor = "\x1b[?25l";
const showCursor = "\x1b[?25h";

/**
 * `reflows`: does the terminal break long lines anew when it becomes narrower? Nearly all do. `settleMs`: no frame is sent for so
 * long after the window changed, since a window that is dragged changes again at once, and a frame that meets another width than
 * it was made for leaves a part of the live region behind.
 */
export type ScreenOptions = { reflows?: boolean; settleMs?: number };

export function createScreen(out: ScreenOutput, first: Size, options: ScreenOptions = {}): Screen {
  const { reflows = true, settleMs = 50 } = options;
  let size = first;
  /** On the terminal now. */
  let shown: readonly Painted[] = [];
  let shownCursor: { row: number; column: number } | undefined;
  /** Row of the live region that the cursor is in. */
  let row = 0;
  /** The row it was in before the last frame, where that only changed lines. */
  let rowBefore = 0;
  let isResized = false;
  let resizedAt = 0;
  let sentAt = 0;
  let waiting: Painted[] = [];
  /** Drawn while the terminal could not follow: only the last one counts. */
  let postponed: View | undefined;
  let isFull = false;
  let settling: NodeJS.Timeout | undefined;
  /** How a live region begins where there was none. */
  let start = "\r";

  function write(text: string): void {
    sentAt = Date.now();
    if (out.write(text)) return;
    isFull = true;
    out.once("drain", () => {
      isFull = false;
      drawPostponed();
    });
  }

  function drawPostponed(): void {
    const view = postponed;
    postponed = undefined;
    if (view) draw(view);
  }

  /**
   * Rows between the first one of the live region and the cursor, as the terminal shows it now. The window may have changed
   * while the last frame was under way: where the cursor moved down in it, it came no further than so many rows. Too few
   * rows leave something behind, too many would take what was committed.
   */
  function rowsAbove(): number {
    if (!isResized || !reflows) return row;
    const certain = resizedAt - sentAt > underWayMs ? row : rowBefore;
    return shown
      .slice(0, row)
      .map((line, index) => (index >= certain ? 1 : Math.max(1, Math.ceil(widthOf(line) / Math.max(1, size.columns)))))
      .reduce((rows, each) => rows + each, 0);
  }

  function toTop(): string {
    const rows = Math.min(rowsAbove(), size.rows - 1);
    return `\r${rows > 0 ? `\x1b[${rows}A` : ""}`;
  }

  function draw(view: View): void {
    if (isFull || settling) {
      postponed = view;
      return;
    }
    const next = lastRows(view, size);
    const committed = waiting;
    waiting = [];
    const from = row;
    const isAnew = committed.length > 0 || isResized || shown.length === 0;
    const body = isAnew ? anew(committed, next.lines) : changes(next.lines);
    rowBefore = isAnew ? row : from;
    const cursor = next.cursor;
    const isMoved =
      cursor?.row !== shownCursor?.row || cursor?.column !== shownCursor?.column || (cursor?.row ?? row) !== row;
    shown = next.lines;
    if (body === "" && !isMoved) return;
    const place = cursor ? `${toRow(cursor.row)}\x1b[${cursor.column + 1}G${showCursor}` : "";
    shownCursor = cursor;
    write(`${beginFrame}${body === "" ? "" : hideCursor}${body}${place}${endFrame}`);
  }

  /** Everything from the top of the live region on. */
  function anew(committed: readonly Painted[], lines: readonly Painted[]): string {
    const isFirst = shown.length === 0 && !isResized;
    if (isFirst && committed.length === 0 && lines.length === 0) return "";
    const text = [
      isFirst ? start : `${toTop()}${eraseBelow}`,
      ...committed.map((line) => `${line}\r\n`),
      lines.map(drawn).join("\r\n"),
    ].join("");
    isResized = false;
    start = `\r${eraseBelow}`;
    row = Math.max(0, lines.length - 1);
    return text;
  }

  function changes(lines: readonly Painted[]): string {
    let text = "";
    for (const [index, line] of lines.entries()) {
      if (index < shown.length) {
        if (shown[index] !== line) text += `${toRow(index)}\r\x1b[K${drawn(line)}`;
      } else {
        text += `${toRow(index - 1)}\r\n\x1b[K${drawn(line)}`;
        row = index;
      }
    }
    if (lines.length < shown.length) {
      // Below the first line of the live region there is none that a `\n` would make.
      text +=
        lines.length === 0
          ? `${toRow(0)}\r${eraseBelow}`
          : `${toRow(lines.length)}\r${eraseBelow}${toRow(lines.length - 1)}`;
    }
    return text;
  }

  /** Moves within the live region, where every row exists. */
  function toRow(wanted: number): string {
    const by = wanted - row;
    row = wanted;
    if (by === 0) return "";
    return by < 0 ? `\x1b[${-by}A` : "\n".repeat(by);
  }

  function forget(where?: "bottom"): void {
    start = `\r${where === "bottom" ? `\x1b[${size.rows}B` : ""}${eraseBelow}`;
    shown = [];
    shownCursor = undefined;
    row = 0;
    rowBefore = 0;
    isResized = false;
  }

  return {
    commit(lines) {
      waiting.push(...lines);
    },
    draw,
    resize(next) {
      if (next.columns === size.columns && next.rows === size.rows) return;
      if (!isResized) resizedAt = Date.now();
      isResized = true;
      size = next;
      if (settleMs === 0) return;
      clearTimeout(settling);
      settling = setTimeout(() => {
        settling = undefined;
        drawPostponed();
      }, settleMs);
    },
    clear() {
      postponed = undefined;
      clearTimeout(settling);
      settling = undefined;
      const committed = waiting;
      waiting = [];
      if (shown.length > 0 || committed.length > 0)
        write(
          `${beginFrame}${shown.length > 0 ? `${toTop()}${eraseBelow}` : ""}${committed.map((line) => `${line}\r\n`).join("")}${showCursor}${endFrame}`,
        );
      forget();
    },
    forget,
    get size() {
      return size;
    },
  };
}

/** At most all rows but one: the last lines, since the editor and the newest is there. None is wider than the window. */
function lastRows({ lines: drawn, cursor }: View, { columns, rows }: Size): View {
  const most = Math.max(1, rows - 1);
  const lines = drawn.map((line) => cut(line, columns));
  if (lines.length <= most) return { lines, ...(cursor && { cursor }) };
  const left = lines.length - most;
  const moved = cursor && cursor.row >= left ? { row: cursor.row - left, column: cursor.column } : undefined;
  return { lines: lines.slice(left), ...(moved && { cursor: moved }) };
}

/** By what terminals say of themselves: these few keep the rows as they are and cut or hide what is wider. */
export function doesReflow(env: Readonly<Record<string, string | undefined>>): boolean {
  if (env["TMUX"]) return true;
  return !(env["XTERM_VERSION"] || /^(linux|screen|vt\d|cons)/.test(env["TERM"] ?? ""));
}
