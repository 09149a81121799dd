// Scroller: decides which rows are in the DOM and keeps the scroll position. Content being read never moves by itself; a reader
// at the end stays at the end.
import type { Openness } from "../view-options.tsx";
import type { Block } from "./blocks.ts";
import { Heights } from "./heights.ts";
import type { TimelineLog } from "./log.ts";

/** Pixels rendered above and below the visible part, and the maximum number of rows. */
const margin = 800;
const maxRows = 300;
const maxPrinted = 5000;
/** The assumed height of the view in pixels before it is measured. */
const guessedView = 900;

/** The block at the upper edge, and how far it is scrolled beyond it. */
export type ReadingPosition = { id: string; inner: number };

/** Functions that control the timeline from outside. */
export type TimelineControls = {
  /** Scrolls to a block or a call by its id. Returns false if there is none. */
  goTo(id: string): boolean;
  /** Returns the reading position, or undefined if the reader follows the end. */
  read(): ReadingPosition | undefined;
  /** Like `goTo`, but does not move the keyboard focus. */
  readFrom(position: ReadingPosition): boolean;
  move(by: "next" | "previous" | "next-turn" | "previous-turn" | "first" | "last"): void;
  /** Opens or closes the row with the keyboard focus. */
  toggle(): void;
  toggleAll(): void;
};

export class Scroller {
  readonly openness: Openness;
  readonly controls: TimelineControls;
  /** The index of the row that has the keyboard focus. */
  chosen = -1;
  /** The number of blocks that were added since the reader left the end. */
  unseen = 0;

  #log: TimelineLog;
  readonly #redraw: () => void;
  readonly #heights = new Heights();
  readonly #open = new Map<string, boolean>();
  #isAllOpen: boolean | undefined;
  #element: HTMLElement | undefined;
  /** The row at the upper edge, and how far it is scrolled beyond it. */
  #anchor = { index: 0, inner: 0 };
  #isAtEnd = true;
  #lastTop = 0;
  #drawn = { first: 0, last: 0 };
  #seenCount = 0;
  #isPrinted = false;
  #frame: number | undefined;

  constructor(log: TimelineLog, redraw: () => void) {
    this.#log = log;
    this.#redraw = redraw;
    this.openness = {
      isOpen: (id) => this.#open.get(id) ?? this.#isAllOpen,
      set: (id, isOpen) => {
        this.#open.set(id, isOpen);
        redraw();
      },
    };
    this.controls = {
      goTo: (id) => this.#goTo(this.#log.find(id)),
      read: () => {
        const id = this.#log.blocks[this.#anchor.index]?.id;
        return this.#isAtEnd || id === undefined ? undefined : { id, inner: this.#anchor.inner };
      },
      readFrom: (position) => this.#readFrom(position),
      move: (by) => this.#move(by),
      toggle: () => this.#toggle(),
      toggleAll: () => {
        this.#isAllOpen = !this.#isAllOpen;
        this.#open.clear();
        redraw();
      },
    };
  }

  /** Switches to another log of the same session, such as one that begins earlier. The scroll position is kept. */
  replace(log: TimelineLog): void {
    const anchor = this.#log.blocks[this.#anchor.index]?.id;
    const chosen = this.#log.blocks[this.chosen]?.id;
    const earlier = log.blocks.length - this.#log.blocks.length;
    this.#log = log;
    while (this.#heights.count > 0) this.#heights.pop();
    this.#anchor = { index: Math.max(0, anchor === undefined ? 0 : log.find(anchor)), inner: this.#anchor.inner };
    this.chosen = chosen === undefined ? -1 : log.find(chosen);
    this.#seenCount = Math.max(0, this.#seenCount + earlier);
  }

  /** Renders changes of the log, at most once per frame. */
  follow(): () => void {
    const stop = this.#log.subscribe(() => this.#redrawSoon());
    return () => {
      stop();
      if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
      this.#frame = undefined;
    };
  }

  attach(element: HTMLElement): () => void {
    this.#element = element;
    // Heights change with loaded pictures, folds, and the width of the window.
    const observer = new ResizeObserver(() => this.#measure() || this.#redrawSoon());
    observer.observe(element);
    observer.observe(element.querySelector(":scope > .cr-rows")!);
    return () => {
      observer.disconnect();
      this.#element = undefined;
    };
  }

  /** Puts all rows into the DOM while printing, since paper cannot be scrolled. */
  followPrinting(): () => void {
    const set = (isPrinted: boolean) => () => {
      this.#isPrinted = isPrinted;
      this.#redraw();
    };
    const [begin, end] = [set(true), set(false)];
    addEventListener("beforeprint", begin);
    addEventListener("afterprint", end);
    return () => {
      removeEventListener("beforeprint", begin);
      removeEventListener("afterprint", end);
    };
  }

  /** Returns the rows to render, and the space that stands for the others. */
  range(): { first: number; last: number; before: number; after: number } {
    const { blocks } = this.#log;
    if (this.#isPrinted) return { first: 0, last: Math.min(blocks.length, maxPrinted), before: 0, after: 0 };
    while (this.#heights.count > blocks.length) this.#heights.pop();
    for (let index = this.#heights.count; index < blocks.length; index++)
      this.#heights.push(guessedHeight(blocks[index]!));
    this.unseen = this.#isAtEnd ? 0 : Math.max(0, blocks.length - this.#seenCount);
    const view = this.#element?.clientHeight ?? guessedView;
    const total = this.#heights.total;
    // Limit the position, since the last rows cannot be scrolled to the upper edge.
    const lowest = Math.max(0, total - view);
    const top = this.#isAtEnd
      ? lowest
      : Math.min(lowest, this.#heights.offsetOf(this.#anchor.index) + this.#anchor.inner);
    const first = this.#heights.indexAt(Math.max(0, top - margin));
    const last = Math.min(blocks.length, first + maxRows, this.#heights.indexAt(top + view + margin) + 1);
    this.#drawn = { first, last };
    return { first, last, before: this.#heights.offsetOf(first), after: total - this.#heights.offsetOf(last) };
  }

  /** Called after rendering: measures, restores the scroll position, and renders again if the rows do not suffice. */
  settle(): void {
    if (!this.#measure()) this.#redraw();
  }

  /** Measures the rendered rows. Returns whether they fill the view. */
  #measure(): boolean {
    const element = this.#element;
    // A hidden timeline has no heights, so it keeps its position.
    if (!element || element.clientHeight === 0 || this.#isPrinted) return true;
    for (const row of element.querySelectorAll<HTMLElement>(":scope > .cr-rows > [data-row]")) {
      const index = Number(row.dataset.row);
      if (index < this.#heights.count) this.#heights.set(index, row.getBoundingClientRect().height);
    }
    const { first, last } = this.#drawn;
    const [before, after] = element.querySelectorAll<HTMLElement>(":scope > .cr-space");
    before!.style.height = `${this.#heights.offsetOf(first)}px`;
    after!.style.height = `${this.#heights.total - this.#heights.offsetOf(last)}px`;
    if (this.#isAtEnd) {
      this.#seenCount = this.#log.blocks.length;
      this.#scrollTo(element.scrollHeight - element.clientHeight);
    } else {
      this.#scrollTo(this.#heights.offsetOf(this.#anchor.index) + this.#anchor.inner);
    }
    if (this.#isCovered()) return true;
    // Render again only if that changes something, since rendering calls this.
    const next = this.range();
    return next.first === first && next.last === last;
  }

  /** Schedules a rendering for the next frame. */
  #redrawSoon(): void {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      this.#redraw();
    });
  }

  scrolled(): void {
    const element = this.#element;
    // Check again: the scroll event comes a frame later, when the timeline may be gone or hidden.
    if (!element || element.clientHeight === 0 || this.#isPrinted) return;
    const top = element.scrollTop;
    const isUp = top < this.#lastTop - 1;
    const rest = element.scrollHeight - element.clientHeight - top;
    const wasAtEnd = this.#isAtEnd;
    if (rest <= 4) this.#isAtEnd = true;
    else if (isUp || rest > 200) this.#isAtEnd = false;
    this.#lastTop = top;
    this.#setAnchor(top);
    if (wasAtEnd !== this.#isAtEnd || !this.#isCovered()) this.#redraw();
  }

  key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
    const action = keys[event.key];
    // Enter on a button, a link or a fold belongs to that element.
    if (!action || (event.key === "Enter" && target.closest("button,a,summary"))) return;
    event.preventDefault();
    if (action === "toggle" || action === "toggleAll") this.controls[action]();
    else this.#move(action);
  }

  #move(by: Parameters<TimelineControls["move"]>[0]): void {
    const { blocks } = this.#log;
    if (by === "last") {
      this.#isAtEnd = true;
      this.chosen = blocks.length - 1;
      this.#redraw();
      this.#focusChosen();
      return;
    }
    const from = this.chosen >= 0 ? this.chosen : this.#anchor.index - 1;
    const isTurn = (block: Block | undefined) => block?.type === "user" && !block.isAside;
    const target = {
      first: () => 0,
      next: () => from + 1,
      previous: () => from - 1,
      "next-turn": () => blocks.findIndex((block, index) => index > from && isTurn(block)),
      "previous-turn": () => blocks.findLastIndex((block, index) => index < from && isTurn(block)),
    }[by]();
    if (target >= 0 && target < blocks.length) this.#goTo(target, { isNear: by === "next" || by === "previous" });
  }

  #goTo(index: number, { isNear } = { isNear: false }): boolean {
    const element = this.#element;
    if (index < 0 || index >= this.#log.blocks.length || !element) return false;
    this.range();
    this.chosen = index;
    const top = this.#heights.offsetOf(index);
    const isSeen =
      top >= element.scrollTop &&
      top + Math.min(this.#heights.heightOf(index), element.clientHeight) <= element.scrollTop + element.clientHeight;
    this.#isAtEnd = false;
    // Do not scroll to a row that is already visible.
    if (!isNear || !isSeen) this.#anchor = { index, inner: -gap };
    this.#redraw();
    this.#focusChosen();
    return true;
  }

  #readFrom({ id, inner }: ReadingPosition): boolean {
    const index = this.#log.find(id);
    if (index < 0 || !this.#element) return false;
    this.range();
    this.#isAtEnd = false;
    this.#anchor = { index, inner };
    this.#redraw();
    return true;
  }

  #focusChosen(): void {
    requestAnimationFrame(() => {
      const row = this.#element?.querySelector<HTMLElement>(`:scope > .cr-rows > [data-row="${this.chosen}"]`);
      row?.focus({ preventScroll: true });
    });
  }

  #toggle(): void {
    const block = this.#log.blocks[this.chosen];
    const fold = this.#element?.querySelector<HTMLElement>(`:scope > .cr-rows > [data-row="${this.chosen}"] summary`);
    if (block && fold) fold.click();
  }

  #setAnchor(top: number): void {
    const { first, last } = this.#drawn;
    const at = this.#heights.indexAt(top);
    // If scrolling was faster than rendering, use a rendered row as anchor, since the heights of others are estimates.
    const isNear = this.#heights.offsetOf(first) < top + this.#element!.clientHeight && at < last;
    const index = isNear ? Math.max(first, at) : at;
    this.#anchor = { index, inner: top - this.#heights.offsetOf(index) };
  }

  #scrollTo(top: number): void {
    const element = this.#element!;
    const wanted = Math.max(0, Math.min(top, element.scrollHeight - element.clientHeight));
    if (Math.abs(element.scrollTop - wanted) > 0.5) element.scrollTop = wanted;
    this.#lastTop = element.scrollTop;
  }

  /** Returns whether the rendered rows extend far enough beyond the visible part. */
  #isCovered(): boolean {
    const element = this.#element!;
    const { first, last } = this.#drawn;
    const top = element.scrollTop;
    const isAbove = first === 0 || this.#heights.offsetOf(first) <= top - margin / 2;
    const isBelow =
      last >= this.#log.blocks.length || this.#heights.offsetOf(last) >= top + element.clientHeight + margin / 2;
    return isAbove && isBelow;
  }
}

/** How many pixels are left free above a row that was scrolled to. */
const gap = 12;

const keys: Record<string, Parameters<TimelineControls["move"]>[0] | "toggle" | "toggleAll"> = {
  j: "next",
  k: "previous",
  "]": "next-turn",
  "[": "previous-turn",
  g: "first",
  G: "last",
  o: "toggle",
  Enter: "toggle",
  O: "toggleAll",
};

/** Estimated closely enough that the scroll bar hardly moves when the row is measured. */
function guessedHeight(block: Block): number {
  switch (block.type) {
    case "user":
      return 66 + 21 * Math.min(30, Math.floor(block.text.length / 80));
    case "text":
      return 16 + 21 * Math.ceil(block.text.length / 90);
    case "call":
    case "calls":
      return 45;
    default:
      return 30;
  }
}
