// The pager: shows long text on the alternate screen; the conversation on the main screen stays unchanged.
import type { Key } from "../key.ts";
import { cut, join, nothing, type Painted, type Palette, padded, plainText, spread, wrap } from "../painted.ts";
import type { Size } from "../view.ts";

/** One of several views of the content, between which keys switch. */
export type PageView = {
  key: string;
  label: string;
  lines(columns: number): readonly Painted[];
};

export type PagerOptions = {
  title: string;
  views: readonly [PageView, ...PageView[]];
  /** Where the view is scrolled to at first. */
  from?: "top" | "end";
  /** Copies text to the clipboard, and returns a message about the result. */
  copy?(text: string): Promise<string>;
  /** Additional keys that close the pager. */
  keys?: Readonly<Record<string, { help: string; press(): void }>>;
};

type Search = { isTyping: boolean; text: string };

export class Pager {
  readonly #options: PagerOptions;
  readonly #palette: Palette;
  #view: PageView;
  #columns = 0;
  #lines: readonly Painted[] = [];
  #top: number;
  #page = 1;
  #search: Search = { isTyping: false, text: "" };
  #message = "";

  readonly #changed: () => void;

  constructor(palette: Palette, options: PagerOptions, changed: () => void) {
    this.#changed = changed;
    this.#palette = palette;
    this.#options = options;
    this.#view = options.views[0];
    this.#top = options.from === "end" ? Number.POSITIVE_INFINITY : 0;
  }

  /** Renders as many lines as fit on the screen. */
  rows({ columns, rows }: Size): Painted[] {
    this.#layOut(columns);
    this.#page = Math.max(1, rows - 2);
    this.#top = Math.max(0, Math.min(this.#top, this.#lines.length - this.#page));
    const visibleLines = this.#lines
      .slice(this.#top, this.#top + this.#page)
      .map((line) => cut(this.#highlightMatches(line), columns));
    while (visibleLines.length < this.#page) visibleLines.push(nothing);
    return [this.#head(columns), ...visibleLines, this.#footer(columns)].slice(0, rows);
  }

  /** Handles a key. Returns false if it closes the pager. */
  press(key: Key): boolean {
    this.#message = "";
    if (this.#search.isTyping) {
      this.#type(key);
      return true;
    }
    if (key.type === "paste") return true;
    if (["q", "escape", "ctrl+c", "ctrl+o", "ctrl+d"].includes(key.name)) return false;
    const keyAction = this.#options.keys?.[key.name];
    if (keyAction) {
      keyAction.press();
      return false;
    }
    const move = moves[key.name];
    const view = this.#options.views.find((each) => each.key === key.name);
    if (move) this.#top = Math.max(0, this.#top + move(this.#page));
    else if (key.name === "/") this.#search = { isTyping: true, text: "" };
    else if (key.name === "n") this.#find(1);
    else if (key.name === "shift+n") this.#find(-1);
    else if (key.name === "c" && this.#options.copy) {
      this.#message = "copying …";
      void this.#options.copy(this.#lines.map(plainText).join("\n")).then((message) => {
        this.#message = message;
        this.#changed();
      });
    } else if (view) {
      this.#view = view === this.#view ? this.#options.views[0] : view;
      this.#columns = 0;
    }
    return true;
  }

  #layOut(columns: number): void {
    if (columns === this.#columns) return;
    const part = this.#lines.length === 0 ? undefined : this.#top / this.#lines.length;
    this.#lines = this.#view.lines(columns).flatMap((line) => wrap(line, columns));
    if (part !== undefined) this.#top = Math.round(part * this.#lines.length);
    this.#columns = columns;
  }

  #type(key: Key): void {
    const { text } = this.#search;
    if (key.type === "paste") this.#search.text += key.text.replace(/\s+/g, " ");
    else if (key.name === "enter") {
      this.#search.isTyping = false;
      this.#find(0);
    } else if (key.name === "escape" || key.name === "ctrl+c") this.#search = { isTyping: false, text: "" };
    else if (key.name === "backspace") this.#search.text = [...text].slice(0, -1).join("");
    else if (key.text !== undefined) this.#search.text += key.text;
  }

  /** Moves to the next line that matches the search, starting at the top of the screen and wrapping around. */
  #find(direction: 1 | 0 | -1): void {
    const wanted = this.#search.text.toLowerCase();
    if (wanted === "") return;
    const count = this.#lines.length;
    for (let step = direction === 0 ? 0 : 1; step <= count; step++) {
      const index = (((this.#top + (direction || 1) * step) % count) + count) % count;
      if (!plainText(this.#lines[index]!).toLowerCase().includes(wanted)) continue;
      this.#top = index;
      return;
    }
    this.#message = `no line contains “${this.#search.text}”`;
  }

  #highlightMatches(line: Painted): Painted {
    const wanted = this.#search.text.toLowerCase();
    if (wanted === "" || this.#search.isTyping) return line;
    const text = plainText(line);
    const at = text.toLowerCase().indexOf(wanted);
    if (at < 0) return line;
    const { plain, reverse } = this.#palette;
    const end = at + wanted.length;
    return join(plain(text.slice(0, at)), reverse(text.slice(at, end)), plain(text.slice(end)));
  }

  #head(columns: number): Painted {
    const end = Math.min(this.#lines.length, this.#top + this.#page);
    const place = `${this.#lines.length === 0 ? 0 : this.#top + 1}–${end} of ${this.#lines.length}`;
    return spread(this.#palette.bold(` ${this.#options.title}`), this.#palette.soft(`${place} `), columns);
  }

  #footer(columns: number): Painted {
    const { soft, warn, plain } = this.#palette;
    if (this.#search.isTyping) return cut(plain(`/${this.#search.text}`), columns);
    if (this.#message !== "") return cut(warn(` ${this.#message}`), columns);
    const others = this.#options.views.slice(1).map(({ key, label }) => ` · ${key} ${label}`);
    const keyHints = Object.entries(this.#options.keys ?? {}).map(
      ([key, { help }]) => ` · ${keySigns[key] ?? key} ${help}`,
    );
    const copies = this.#options.copy ? " · c copy" : "";
    return cut(
      padded(soft(` q quits · ↑↓ space · / search · n N${others.join("")}${keyHints.join("")}${copies}`), columns),
      columns,
    );
  }
}

const keySigns: Readonly<Record<string, string>> = { left: "←", right: "→" };

const moves: Readonly<Record<string, (page: number) => number>> = {
  up: () => -1,
  k: () => -1,
  down: () => 1,
  j: () => 1,
  enter: () => 1,
  space: (page) => page,
  pagedown: (page) => page,
  "ctrl+f": (page) => page,
  pageup: (page) => -page,
  b: (page) => -page,
  "ctrl+b": (page) => -page,
  "ctrl+u": (page) => -Math.ceil(page / 2),
  home: () => Number.NEGATIVE_INFINITY,
  g: () => Number.NEGATIVE_INFINITY,
  end: () => Number.MAX_SAFE_INTEGER,
  "shift+g": () => Number.MAX_SAFE_INTEGER,
};
