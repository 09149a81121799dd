// The screen: finished lines are written once, above a small live region, and belong to the terminal's scrollback from then on.
// Only the live region is drawn again, line by line where it differs.
//
// Uses only upward moves, erasing below and to the right, and columns: no clearing, no scroll regions, no mouse.
import { cut, nothing, type Painted, widthOf } from "./painted.ts";
import type { Size, View } from "./view.ts";

/** The output of a screen: `process.stdout`, or a test. `write` returns false when the terminal cannot keep up. */
export interface ScreenOutput {
  write(text: string): boolean;
  once(event: "drain", then: () => void): unknown;
}

export interface Screen {
  /** Writes lines above the live region with the next frame, exactly once. */
  commit(lines: readonly Painted[]): void;
  /** Replaces the live region. Committed lines are sent with it, in one write. */
  draw(view: View): void;
  /** Called when the size changed, even if only for a moment. The next `draw` takes it into account. */
  resize(size: Size): void;
  /** Handles a reply of the terminal, which may answer a query that this screen sent. */
  answered(sequence: string): void;
  /** Resolves when no answer is pending that another program would read as keys. */
  allAnswered(): Promise<void>;
  /** Resolves when the terminal has read all frames: with Ctrl+C in another program, the system discards what was not read. */
  allRead(): Promise<void>;
  /** Removes the live region and puts the cursor where it began. The next frame begins there. */
  clear(): void;
  /** Called when another program wrote to the terminal: the live region begins anew at the cursor, or at the bottom of the window. */
  forget(where?: "bottom"): void;
  readonly size: Size;
  /** The least number of rows that the window has above the live region, as far as it is known. */
  readonly rowsAbove: number;
}

const beginFrame = "\x1b[?2026h";
const endFrame = "\x1b[?2026l";
/** Characters whose width differs between terminals. */
const uncertain =
  /[^\x1b\x20-\u02ff\u0370-\u0482\u048a-\u058f\u2010-\u2027\u2030-\u205e\u2190-\u22ff\u2500-\u259f\u2713-\u2717\u2800-\u28ff\u2e80-\u9fff\uac00-\ud7a3\uff00-\uff60]/g;
/**
 * Erases from the first column down and leaves the cursor there. In two steps: tmux takes an erasure from the window's first cell
 * for one of the whole window, and would move the live region into the scrollback for good.
 */
const eraseBelow = "\x1b[K\x1b[C\x1b[J\r";
const hideCursor = "\x1b[?25l";
const showCursor = "\x1b[?25h";
/** Query the cursor position, here and at the right edge, each twice: keys that look like an answer do not come in pairs. */
const askPlace = "\x1b[6n\x1b[6n";
const askEnd = `\x1b[999G${askPlace}\x1b[5n\r`; // the status report marks the last answer
/** How many committed lines are kept in case some have to be written again. */
const maxKept = 100;

/**
 * `reflows` is true if the terminal rewraps long lines when it becomes narrower, as nearly all do. No frame is sent for
 * `settleMs` after a resize, since a window being dragged changes again at once. `answerMs` is how long a terminal may take to
 * report its width. `redraw` is called when lines wait to be drawn.
 */
export type ScreenOptions = { reflows?: boolean; settleMs?: number; answerMs?: number; redraw?: () => void };

type Place = { row: number; column: number };

/** A frame that moved up over the lines `over` and asked how far it came; `kept` are the committed lines above these. */
type Query = { over: readonly Painted[]; kept: readonly Painted[] };

/**
 * The terminal reads frames later than they are written, and the window may have been resized in between, more than once. Two
 * rules protect committed lines in every case:
 *
 * - A frame moves down only over lines that it writes itself, and those may wrap. So there are never fewer rows between the top
 *   of the live region and the cursor than counted, and moving up by the count never reaches committed lines.
 * - In a window that became narrower, those lines take more rows, but only until it is made wider again. A frame that relies on
 *   this queries how far it moved up, and at what width, and commits nothing. If it moved too far, the answer tells which
 *   committed lines it erased, and they are written again, even if the answer is late. Some keys look like an answer (Ctrl+F3):
 *   with more answers than asked for, the most that could have been erased is written again.
 */
export function createScreen(out: ScreenOutput, first: Size, options: ScreenOptions = {}): Screen {
  const { reflows = true, settleMs = 50, answerMs = 3000, redraw } = options;
  let size = first;
  /** The lines of the live region on the terminal now. */
  let shown: readonly Painted[] = [];
  let shownCursor: { row: number; column: number } | undefined;
  /** The width that they were drawn for. */
  let shownColumns = first.columns;
  /** The line of the live region that the cursor is in. */
  let row = 0;
  let isResized = false;
  let waiting: Painted[] = [];
  let kept: Painted[] = [];
  /** The last frame drawn while the terminal could not keep up. */
  let postponed: View | undefined;
  let isFull = false;
  let settling: NodeJS.Timeout | undefined;
  /** The queries without an answer, oldest first. */
  const queries: Query[] = [];
  /** True while committed lines wait for the answer to the last of them. */
  let isAsking = false;
  let isAnswered: Promise<void> = Promise.resolve();
  let stopWaiting = () => {};
  /** True if the terminal did not answer the first query; it gets no other one. */
  let isSilent = false;
  let hasAnswered = false;
  /** Cursor positions reported by the terminal since its last status report. */
  let places: Place[] = [];
  let rowsAbove = 0;
  /** The sequence that starts a live region where there was none. */
  let start = "\r";

  function write(text: string): void {
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

  function takeCommitted(): string {
    if (isAsking) return "";
    const lines = waiting;
    waiting = [];
    kept = [...kept, ...lines].slice(-maxKept);
    return lines.map((line) => `${line}\r\n`).join("");
  }

  function ask(query: Query): void {
    queries.push(query);
    isAsking = true;
    isAnswered = new Promise((resolve) => {
      const timer = setTimeout(() => {
        isSilent = !hasAnswered;
        stopWaiting();
        if (waiting.length > 0) redraw?.();
      }, answerMs);
      stopWaiting = () => {
        isAsking = false;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Commits lines again that the frame of the oldest query erased by moving up too far, before all waiting lines. */
  function onStatusReport(): void {
    const query = queries.shift();
    const pairs = places.filter((place, index) =>
      places.slice(0, index).some((earlier) => isSamePlace(place, earlier)),
    );
    const reports = pairs.length > 1 ? pairs : places;
    places = [];
    if (!query) return;
    hasAnswered = true;
    isSilent = false;
    if (reports.length > 1) rowsAbove = Math.min(...reports.slice(1).map(({ row }) => row)) - 1;
    const again = reports
      .flatMap((from, index) => reports.slice(index + 1).map((to) => erasedLines(query, from.row, to)))
      .reduce((most, lines) => (lines.length > most.length ? lines : most), []);
    if (queries.length === 0) {
      if (isAsking) kept = kept.slice(0, kept.length - again.length);
      stopWaiting();
    }
    waiting.unshift(...again);
    if (waiting.length > 0) redraw?.();
  }

  function draw(view: View): void {
    if (isFull || settling) {
      postponed = view;
      return;
    }
    postponed = undefined;
    const next = lastRows(view, size);
    const { cursor } = next;
    const isMoved = cursor?.row !== shownCursor?.row || cursor?.column !== shownCursor?.column;
    const isAnew = isResized || shown.length === 0 || (waiting.length > 0 && !isAsking);
    const lines = next.lines.map((line, index) => drawn(line, { isBelow: cursor !== undefined && index > cursor.row }));
    const body = isAnew ? redrawText(lines) : changedRows(next.lines, lines, cursor?.row ?? row);
    shown = next.lines;
    shownColumns = size.columns;
    if (body === "" && !isMoved) return;
    // Without a cursor, it is left in the first column: at the end of a long line, a narrower window would move it down.
    const place = cursor ? `${upTo(cursor.row)}\x1b[${cursor.column + 1}G${showCursor}` : "\r";
    shownCursor = cursor;
    write(`${beginFrame}${body === "" ? "" : hideCursor}${body}${place}${endFrame}`);
  }

  /**
   * Disables wrapping for lines below the cursor, as some terminals move the cursor when those are rejoined, and for lines that
   * may be wider than measured, which would push others down. Other lines wrap, and in a narrower window take as many rows as if
   * the terminal had rewrapped them.
   */
  function drawn(line: Painted, { isBelow }: { isBelow: boolean }): string {
    return isBelow || mayOverflow(line, size.columns) ? `\x1b[?7l${line}\x1b[?7h` : line;
  }

  /** Moves to the start of the live region and erases everything below. */
  function eraseAll(): string {
    return shown.length === 0 ? start : `\r${cursorUp(Math.min(row, size.rows - 1))}${eraseBelow}`;
  }

  function redrawText(lines: readonly string[]): string {
    if (shown.length === 0 && waiting.length === 0 && lines.length === 0) return "";
    // A line drawn without wrapping takes one row or, if it was drawn before the window became narrower, several.
    const over = shown.slice(0, row).map((line) => (mayOverflow(line, shownColumns) ? nothing : line));
    const rows = reflows ? Math.min(rowsOf(over, size.columns), size.rows - 1) : row;
    let erased = eraseAll();
    if (isResized && rows > row && !isAsking) {
      const goUp = `\r${cursorUp(rows)}${eraseBelow}`;
      erased = isSilent ? goUp : `${askPlace}${goUp}${askEnd}`;
      if (!isSilent) ask({ over, kept });
    }
    const text = `${erased}${takeCommitted()}${lines.join("\r\n")}`;
    isResized = false;
    start = `\r${eraseBelow}`;
    row = Math.max(0, lines.length - 1);
    return text;
  }

  /**
   * Draws the lines that differ. Unchanged lines above the cursor are passed over, since the rows back down to it are those that the
   * frame moved up; from the cursor on, every line down to the last one that differs is written.
   */
  function changedRows(next: readonly Painted[], lines: readonly string[], cursorRow: number): string {
    const differs = next.map((line, index) => line !== shown[index]);
    const isShorter = next.length < shown.length;
    if (!differs.includes(true) && !isShorter && cursorRow === row) return "";
    const last = Math.max(0, next.length - 1);
    const from = Math.min(differs.includes(true) ? differs.indexOf(true) : last, last, row, cursorRow);
    const isAbove = !isShorter && differs.lastIndexOf(true) < row && cursorRow <= row;
    const end = isAbove ? row : last;
    const isKept = (index: number) => !isShorter && !differs[index] && (index < row || isAbove);
    const texts = lines.slice(from, end + 1).map((line, at) => (isKept(from + at) ? "" : `\x1b[K${line}`));
    const text = `${upTo(from)}\r${isShorter ? eraseBelow : ""}${texts.join("\r\n")}`;
    row = end;
    return text;
  }

  function upTo(wanted: number): string {
    const by = row - wanted;
    row = wanted;
    return cursorUp(by);
  }

  function forget(where?: "bottom"): void {
    start = `\r${where === "bottom" ? "\x1b[999B" : ""}${eraseBelow}`;
    shown = [];
    shownCursor = undefined;
    row = 0;
    isResized = false;
  }

  return {
    commit(lines) {
      for (const line of lines) waiting.push(line);
      rowsAbove += rowsOf(lines, size.columns);
    },
    draw,
    resize(next) {
      isResized = true;
      size = next;
      if (settleMs === 0) return;
      clearTimeout(settling);
      settling = setTimeout(() => {
        settling = undefined;
        drawPostponed();
      }, settleMs);
    },
    answered(sequence) {
      const [, line, column] = /^\x1b\[(\d+);(\d+)R$/.exec(sequence) ?? [];
      if (column !== undefined && queries.length > 0)
        places = [...places.slice(-20), { row: Number(line), column: Number(column) }];
      if (sequence === "\x1b[0n") onStatusReport();
    },
    allAnswered: () => isAnswered,
    allRead() {
      if (isSilent) return isAnswered;
      ask({ over: [], kept: [] });
      write(askEnd);
      return isAnswered;
    },
    clear() {
      postponed = undefined;
      clearTimeout(settling);
      settling = undefined;
      if (shown.length === 0 && (waiting.length === 0 || isAsking)) return;
      write(`${beginFrame}${eraseAll()}${takeCommitted()}${showCursor}${endFrame}`);
      forget();
    },
    forget,
    get size() {
      return size;
    },
    get rowsAbove() {
      return rowsAbove;
    },
  };
}

function cursorUp(rows: number): string {
  return rows > 0 ? `\x1b[${rows}A` : "";
}

/** The number of rows these lines take at this width. */
function rowsOf(lines: readonly Painted[], columns: number): number {
  return lines
    .map((line) => Math.max(1, Math.ceil(widthOf(line) / Math.max(1, columns))))
    .reduce((rows, each) => rows + each, 0);
}

/** Returns the committed lines that a frame erased which moved up from one row to another. */
function erasedLines({ over, kept }: Query, from: number, to: Place): readonly Painted[] {
  let lost = from - to.row - rowsOf(over, to.column);
  let first = kept.length;
  for (; lost > 0 && first > 0; lost -= rowsOf([kept[first]!], to.column)) first--;
  return kept.slice(first);
}

function isSamePlace(one: Place, other: Place): boolean {
  return one.row === other.row && one.column === other.column;
}

function mayOverflow(line: Painted, columns: number): boolean {
  const doubts = line.match(uncertain)?.length ?? 0;
  return doubts > 0 && widthOf(line) + doubts > columns;
}

/** Limits the view to the last rows of the window but one, where the editor and the newest lines are, and cuts lines to its width. */
function lastRows({ lines: drawn, cursor }: View, { columns, rows }: Size): View {
  const most = Math.max(1, rows - 1);
  const lines = drawn.map((line) => cut(line, columns));
  if (lines.length <= most) return { lines, ...(cursor && { cursor }) };
  const left = lines.length - most;
  const moved = cursor && cursor.row >= left ? { row: cursor.row - left, column: cursor.column } : undefined;
  return { lines: lines.slice(left), ...(moved && { cursor: moved }) };
}

/** Detects by environment variables the few terminals that do not rewrap lines but cut or hide what is wider. */
export function doesReflow(env: Readonly<Record<string, string | undefined>>): boolean {
  if (isTmux(env)) return true;
  return !(env["XTERM_VERSION"] || /^(linux|screen|vt\d|cons)/.test(env["TERM"] ?? ""));
}

export function isTmux(env: Readonly<Record<string, string | undefined>>): boolean {
  return env["TMUX"] !== undefined || env["TERM"]?.startsWith("tmux") === true;
}
