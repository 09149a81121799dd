// Scroller: which rows are in the page, and where the page stands. What is being read never moves by itself; who reads the end
// stays at the end.
import type { Openness } from "../view-options.tsx";
import type { Block } from "./blocks.ts";
import { Heights } from "./heights.ts";
import type { TimelineLog } from "./log.ts";

/** Above and below what is seen, in pixels; and how many rows at most. */
const margin = 800;
const mostRows = 300;
const mostPrinted = 5000;
/** Before anything was measured. */
const guessedView = 900;

/** The block at the upper edge, and how far it is scrolled beyond it. */
export type ReadingPosition = { id: string; inner: number };

/** What moves through a timeline from outside. */
export type TimelineControls = {
  /** The id of a block or of a call. False: there is none. */
  goTo(id: string): boolean;
  /** Where it is read; undefined at the end, which is followed. */
  read(): ReadingPosition | undefined;
  /** As `goTo`, and the keyboard stays where it is. */
  readFrom(position: ReadingPosition): boolean;
  move(by: "next" | "previous" | "next-turn" | "previous-turn" | "first" | "last"): void;
  /** Opens or closes the row that the keyboard is at. */
  toggle(): void;
  toggleAll(): void;
};

export class Scroller {
  readonly openness: Openness;
  readonly controls: TimelineControls;
  /** The row that the keyboard is at. */
  chosen = -1;
  /** What came since the reader left the end. */
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

  /** Another log of the same session, such as one that begins earlier: what is being read stays where it is. */
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

  /** Draws what comes, once a frame. */
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
    // Pictures that are loaded, folds, and the width of the window change heights.
    const observer = new ResizeObserver(() => this.#measure() || this.#redrawSoon());
    observer.observe(element);
    observer.observe(element.querySelector(":scope > .cr-rows")!);
    return () => {
      observer.disconnect();
      this.#element = undefined;
    };
  }

  /** On paper nothing can be scrolled: as long as that lasts, everything is in the page. */
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

  /** The rows to draw, and the space that stands for the others. */
  range(): { first: number; last: number; before: number; after: number } {
    const { blocks } = this.#log;
    if (this.#isPrinted) return { first: 0, last: Math.min(blocks.length, mostPrinted), before: 0, after: 0 };
    while (this.#heights.count > blocks.length) this.#heights.pop();
    for (let index = this.#heights.count; index < blocks.length; index++)
      this.#heights.push(guessedHeight(blocks[index]!));
    this.unseen = this.#isAtEnd ? 0 : Math.max(0, blocks.length - this.#seenCount);
    const view = this.#element?.clientHeight ?? guessedView;
    const total = this.#heights.total;
    // The last rows cannot be scrolled to the upper edge.
    const lowest = Math.max(0, total - view);
    const top = this.#isAtEnd
      ? lowest
      : Math.min(lowest, this.#heights.offsetOf(this.#anchor.index) + this.#anchor.inner);
    const first = this.#heights.indexAt(Math.max(0, top - margin));
    const last = Math.min(blocks.length, first + mostRows, this.#heights.indexAt(top + view + margin) + 1);
    this.#drawn = { first, last };
    return { first, last, before: this.#heights.offsetOf(first), after: total - this.#heights.offsetOf(last) };
  }

  /** After drawing: measures, puts the page where it was, and draws again where that was not enough. */
  settle(): void {
    if (!this.#measure()) this.#redraw();
  }

  /** True: what is in the page is enough. */
  #measure(): boolean {
    const element = this.#element;
    // What is hidden has no heights, and stays where it was.
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
    // Drawn again only if that changes something: this is called by drawing.
    const next = this.range();
    return next.first === first && next.last === last;
  }

  /** With the next frame. */
  #redrawSoon(): void {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      this.#redraw();
    });
  }

  scrolled(): void {
    const element = this.#element;
    // The browser tells of it a frame later: the timeline may be gone, or hidden.
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
    // On a button, a link or a fold, Enter is theirs.
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
    // A row that is seen already is not moved.
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
    // Where the page is ahead of the rows, it holds on to one that is there: the height of the others is a guess.
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

  /** Whether what is in the page reaches beyond what is seen. */
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

/** Space above a row that was gone to. */
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

/** Near enough that the scroll bar hardly moves when it is measured. */
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
