// The editor: takes keys and produces text, independent of any terminal. Keys it has no use for are returned as unhandled.
import type { Key } from "../key.ts";
import { pastedText } from "../keyboard.ts";
import { type EditorAction, editorAction } from "../keymap.ts";
import type { Size, View } from "../view.ts";
import { createBuffer, joinUndoGroup, moveTo, replace, selection, type TextBuffer } from "./buffer.ts";
import { type CompletionSources, completionText } from "./completion.ts";
import { type EditorPalette, renderView, textWidth } from "./editor-view.ts";
import { type Editing, edits, typeText } from "./edits.ts";
import { type Draft, type History, newerEntry, olderEntry, type Walk } from "./history.ts";
import { emptyRing, endYank } from "./kill-ring.ts";
import { createLayout } from "./layout.ts";
import { expand, Folds, holdsToken, type Image, label } from "./paste.ts";
import { choose, type Popup, PopupSource } from "./popup.ts";
import { leaveInsert, newVim, pressVim, settleNormal, type Vim, vimStatus, visualSelection } from "./vim/index.ts";

export type EditorOptions = {
  palette: EditorPalette;
  complete?: CompletionSources;
  history?: History;
  vim?: boolean;
  placeholder?: string;
  /** Called when the view changed without a key, such as when the file list arrived. */
  onChange?(): void;
};

/** `shell` means that the text is a shell command. `mode` means that the user chose a skill for all following prompts. */
export type Pressed =
  | { type: "handled" }
  | { type: "unhandled" }
  | { type: "mode"; skill: string }
  | { type: "submit"; text: string; images: Image[]; shell: boolean };

export interface Editor {
  press(key: Key): Pressed;
  view(size: Size): View;
  /** Returns the text as it would be sent: pastes expanded, without the shell sign. */
  text(): string;
  setText(text: string, how?: { shell?: boolean }): void;
  /** Sets text that another program edited; pastes and images still in it stay folded. */
  setEdited(text: string): void;
  insertImage(image: Image): void;
  /** Clears the text, which undo can restore. */
  clear(): void;
  isEmpty(): boolean;
  isShell(): boolean;
  /** Returns the text in the editor, with its folded parts. */
  draft(): Draft;
  vim(): { mode: Vim["mode"] } | undefined;
  setVim(on: boolean): void;
}

const handled: Pressed = { type: "handled" };
const unhandled: Pressed = { type: "unhandled" };

export function createEditor({ palette, complete, history, onChange, ...options }: EditorOptions): Editor {
  const folds = new Folds();
  const layout = createLayout({
    show: (grapheme) => palette.plain(grapheme),
    label: (token) => label(folds.parts.get(token)),
  });
  const source = new PopupSource({
    sources: complete,
    history,
    onChange() {
      refreshPopup();
      onChange?.();
    },
  });
  const { placeholder = "" } = options;
  let editing: Editing = { buffer: createBuffer(), ring: emptyRing };
  let popup: Popup | undefined;
  let vim: Vim | undefined = options.vim ? newVim() : undefined;
  let isShell = false;
  let walk: Walk | undefined;
  let size: Size = { columns: 80, rows: 24 };
  let firstRow = 0;

  function press(key: Key): Pressed {
    const { text } = editing.buffer;
    const cutBefore = editing.ring;
    const walkBefore = walk;
    const pressed = popup?.type === "search" ? pressSearch(popup, key) : pressKey(key);
    if (editing.ring === cutBefore) editing = { ...editing, ring: endYank(editing.ring) };
    if (walk === walkBefore && pressed.type === "handled") walk = undefined;
    if (pressed.type === "handled" && popup?.type !== "search" && isTyping(key, text)) refreshPopup();
    return pressed;
  }

  /** Typing opens the completion list; once open, it follows the cursor. */
  function isTyping(key: Key, before: string): boolean {
    return popup !== undefined ? !isChoosing(key) : editing.buffer.text !== before && walk === undefined;
  }

  function isChoosing(key: Key): boolean {
    return key.type === "key" && ["up", "down", "ctrl+p", "ctrl+n"].includes(key.name);
  }

  function refreshPopup(): void {
    if (popup?.type === "search") return;
    const { text, cursor } = editing.buffer;
    const isNaming = !isShell && (vim === undefined || vim.mode === "insert");
    popup = isNaming ? source.at(text, cursor) : undefined;
  }

  function pressKey(key: Key): Pressed {
    if (key.type === "paste") {
      type(folds.forPaste(key.text));
      if (vim?.mode === "normal") editing = { ...editing, buffer: settleNormal(editing.buffer) };
      return handled;
    }
    const action = editorAction(key.name);
    const answer = popup?.type === "choices" ? pressChoices(popup, key.name) : undefined;
    if (answer) return answer;
    if (vim && vim.mode !== "insert") {
      const isEdge = vim.keys.length === 0 && vim.mode === "normal" && (key.text === "j" || key.text === "k");
      if (isEdge && step(key.text === "k" ? -1 : 1, { onlyHistory: true })) return handled;
      const next = pressVim(vim, editing.buffer, key);
      if (next) {
        vim = next.vim;
        editing = { ...editing, buffer: next.buffer };
        return handled;
      }
    }
    if (vim?.mode === "insert" && key.name === "escape") {
      const next = leaveInsert(vim, editing.buffer);
      vim = next.vim;
      editing = { ...editing, buffer: next.buffer };
      return handled;
    }
    if (editing.buffer.text === "" && (key.name === "!" || key.name === "?") && !isShell) {
      isShell = key.name === "!";
      return isShell ? handled : unhandled;
    }
    if (isShell && editing.buffer.text === "" && ["escape", "backspace", "delete", "ctrl+c"].includes(key.name)) {
      isShell = false;
      return handled;
    }
    // `@`, `/` and `!` are in the keymap only for the help; here they are typed like any character.
    if (key.text !== undefined) {
      type(foldIfNeeded(key.text));
      return handled;
    }
    return action === undefined ? unhandled : runAction(action);
  }

  function runAction(action: EditorAction): Pressed {
    const { buffer } = editing;
    switch (action) {
      case "submit":
        return submit();
      case "newline":
        type("\n");
        return handled;
      case "up":
      case "down":
        return step(action === "up" ? -1 : 1) ? handled : unhandled;
      case "selectUp":
      case "selectDown":
        moveRow(action === "selectUp" ? -1 : 1, buffer.anchor ?? buffer.cursor);
        return handled;
      case "searchHistory":
        if (!history) return unhandled;
        popup = source.search("");
        return handled;
      case "complete":
        refreshPopup();
        return popup ? handled : unhandled;
    }
    // Leave Ctrl+D, Ctrl+B and Ctrl+Y to the app if the editor is empty.
    if (buffer.text === "" && action === "deleteForward") return unhandled;
    const next = edits[action]?.(editing);
    if (!next) return unhandled;
    editing = vim?.mode === "insert" ? { ...next, buffer: joinUndoGroup(buffer, next.buffer, vim.group) } : next;
    if (vim?.mode === "normal") editing = { ...editing, buffer: settleNormal(editing.buffer) };
    return handled;
  }

  function type(text: string): void {
    editing = { ...editing, buffer: typeText(editing.buffer, text, vim?.group) };
  }

  function submit(): Pressed {
    const { text, cursor } = editing.buffer;
    if (text[cursor - 1] === "\\" && (cursor === text.length || text[cursor] === "\n")) {
      editing = { ...editing, buffer: replace(editing.buffer, { start: cursor - 1, end: cursor, text: "\n" }) };
      return handled;
    }
    if (text.trim() === "") return unhandled;
    const sent = draft();
    const { text: whole, images } = expand(sent.text, sent.parts);
    history?.add(sent);
    reset("");
    isShell = false;
    if (vim) vim = { ...newVim(), register: vim.register };
    return { type: "submit", text: whole, images, shell: sent.shell };
  }

  function reset(text: string): void {
    editing = { buffer: createBuffer(text), ring: endYank(editing.ring) };
    popup = undefined;
    walk = undefined;
    firstRow = 0;
  }

  /** Moves one row up or down; beyond the first or last row, or while browsing the history, moves through the history. */
  function step(by: 1 | -1, { onlyHistory = false } = {}): boolean {
    const { text, cursor } = editing.buffer;
    const isEdge = onlyHistory
      ? (by < 0 ? text.lastIndexOf("\n", cursor - 1) : text.indexOf("\n", cursor)) === -1 || (by < 0 && cursor === 0)
      : !moveRow(by);
    if (walk === undefined && !isEdge) return !onlyHistory;
    if (walk === undefined && by > 0) return false;
    if (walk !== undefined && !onlyHistory) editing = { ...editing, buffer: moveTo(editing.buffer, cursor) };
    const entries = history?.entries() ?? [];
    const current = walk ?? { draft: draft(), prefix: text.slice(0, cursor), index: -1 };
    const next = by < 0 ? olderEntry(entries, current) : newerEntry(entries, current);
    if (!next) walk = walk && { ...walk }; // stay at the oldest entry of the history
    if (!next) return walk !== undefined;
    setDraft(entries[next.index] ?? next.draft);
    walk = next.index === -1 ? undefined : next;
    if (vim?.mode === "normal") editing = { ...editing, buffer: settleNormal(editing.buffer) };
    return true;
  }

  /** Moves the cursor by one row. Returns false if there is no such row. */
  function moveRow(by: 1 | -1, anchor?: number): boolean {
    const { buffer } = editing;
    const width = textWidth(size);
    const place = layout.place(buffer.text, buffer.cursor, width);
    const row = place.row + by;
    if (row < 0 || row >= layout.rows(buffer.text, width).length) return false;
    const goal = buffer.goal ?? place.column;
    const cursor = layout.offset(buffer.text, row, goal, width);
    const moved: TextBuffer = moveTo(buffer, cursor, { goal, ...(anchor === undefined ? {} : { anchor }) });
    editing = { ...editing, buffer: vim?.mode === "normal" ? { ...settleNormal(moved), goal } : moved };
    return true;
  }

  /** Handles a key while the completion list is open. Returns undefined if the list has no use for the key. */
  function pressChoices(open: Popup & { type: "choices" }, name: string): Pressed | undefined {
    const { query, choices, chosen } = open;
    const choice = choices[chosen]!;
    if (name === "escape") {
      source.dismiss(query);
      popup = undefined;
      return handled;
    }
    if (name === "up" || name === "ctrl+p") popup = choose(open, -1);
    else if (name === "down" || name === "ctrl+n") popup = choose(open, 1);
    else if (name === "tab") acceptChoice();
    else if (name === "alt+enter" && choice.isSkill) {
      acceptChoice("");
      return { type: "mode", skill: choice.value.slice(1) };
    } else if (name === "enter") {
      const isTyped = choice.value === (query.kind === "command" ? `/${query.query}` : query.query);
      if (isTyped && !choice.isFolder) return undefined;
      const isReady = query.kind === "command" && !choice.needsArgument && !(choice.isGuess && chosen === 0);
      acceptChoice(isReady ? choice.value : undefined);
      if (isReady) return submit();
    } else return undefined;
    return handled;

    function acceptChoice(text = completionText(query, choice)): void {
      const { cursor } = editing.buffer;
      editing = {
        ...editing,
        buffer: replace(editing.buffer, { start: query.start, end: cursor, text }),
      };
      popup = undefined;
      refreshPopup();
    }
  }

  function pressSearch(open: Popup & { type: "search" }, key: Key): Pressed {
    if (key.type === "paste") popup = source.search(open.query + key.text.replace(/\s+/g, " ").slice(0, 200));
    else if (key.name === "escape" || key.name === "ctrl+c" || key.name === "ctrl+g") popup = undefined;
    else if (["up", "ctrl+p"].includes(key.name)) popup = choose(open, -1);
    else if (["down", "ctrl+n", "ctrl+s", "alt+r"].includes(key.name)) popup = choose(open, 1);
    else if (key.name === "backspace") popup = source.search(open.query.slice(0, -1));
    else if (key.name === "ctrl+u") popup = source.search("");
    else if (key.name === "enter" || key.name === "tab") {
      const found = open.found[open.chosen];
      popup = undefined;
      if (found) setDraft(found);
    } else if (key.text !== undefined) popup = source.search(open.query + key.text);
    else return unhandled;
    return handled;
  }

  /** Folds a text that contains a fold character, which would otherwise be taken for a fold. */
  function foldIfNeeded(text: string): string {
    const clean = pastedText(text);
    return holdsToken(clean) ? folds.forPaste(clean) : clean;
  }

  function draft(): Draft {
    const { text } = editing.buffer;
    return { text, parts: folds.usedIn(text), shell: isShell };
  }

  function setDraft({ text, parts, shell }: Draft): void {
    const { buffer } = editing;
    editing = {
      ...editing,
      buffer: replace(buffer, { start: 0, end: buffer.text.length, text: folds.adopt(text, parts) }),
    };
    isShell = shell;
  }

  return {
    press,
    view(asked) {
      size = asked;
      const selected = vim ? visualRange() : selection(editing.buffer);
      const shown = renderView(
        {
          text: editing.buffer.text,
          cursor: editing.buffer.cursor,
          ...(selected ? { selected } : {}),
          ...(popup ? { popup } : {}),
          shell: isShell,
          placeholder: isShell ? "A shell command; Esc leaves" : placeholder,
          status: vim ? vimStatus(vim) : "",
          firstRow,
        },
        { size, layout, palette },
      );
      firstRow = shown.firstRow;
      return shown.view;
    },
    text: () => expand(editing.buffer.text, folds.parts).text,
    setText(text, { shell = false } = {}) {
      const { buffer } = editing;
      editing = {
        ...editing,
        buffer: replace(buffer, { start: 0, end: buffer.text.length, text: foldIfNeeded(text) }),
      };
      isShell = shell;
      popup = undefined;
      walk = undefined;
    },
    setEdited(text) {
      const { buffer } = editing;
      const folded = folds.refold(foldIfNeeded(text), folds.usedIn(buffer.text));
      if (folded !== buffer.text)
        editing = { ...editing, buffer: replace(buffer, { start: 0, end: buffer.text.length, text: folded }) };
      popup = undefined;
      walk = undefined;
    },
    insertImage: (image) => type(folds.forImage(image)),
    clear() {
      this.setText("");
    },
    isEmpty: () => editing.buffer.text === "" && popup?.type !== "search",
    isShell: () => isShell,
    draft,
    vim: () => vim && { mode: vim.mode },
    setVim(on) {
      vim = on ? (vim ?? newVim()) : undefined;
    },
  };

  function visualRange(): { start: number; end: number } | undefined {
    return vim && visualSelection(vim, editing.buffer);
  }
}
