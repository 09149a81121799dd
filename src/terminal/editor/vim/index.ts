// Vim: handles keys of normal, visual and replace mode. Insert mode is the editor itself.
import type { Key } from "../../key.ts";
import { moveTo, replace, type TextBuffer } from "../buffer.ts";
import { nextGrapheme, previousGrapheme } from "../graphemes.ts";
import { firstNonBlank, lineEnd, lineStart } from "../moves.ts";
import { simpleCommands } from "./commands.ts";
import { type Find, motions, type Reach, takesCharacter } from "./motions.ts";
import { type Range, textObjects } from "./objects.ts";
import { exclusiveRange, operators, rangeTo } from "./operators.ts";
import { type Command, parse } from "./parse.ts";
import { type Change, settleNormal, type Vim, type Work } from "./state.ts";
import { extentOf, rangeOfExtent, runVisual, visualSelection } from "./visual.ts";
import { isLineEnd } from "./words.ts";

export { newVim, settleNormal, type Vim } from "./state.ts";
export { visualSelection } from "./visual.ts";

/** Keys that mean the same as a letter in vim. */
const letterOf: Record<string, string> = {
  left: "h",
  right: "l",
  backspace: "h",
  home: "0",
  end: "$",
  delete: "x",
  space: " ",
  "ctrl+r": "ctrl+r",
};

/** Handles a key outside insert mode. Returns undefined if vim has no use for it; the caller then handles it. */
export function pressVim(vim: Vim, buffer: TextBuffer, key: Key & { type: "key" }): Work | undefined {
  if (vim.mode === "replace") return pressReplace({ vim, buffer }, key);
  const isVisual = vim.mode !== "normal";
  if (key.name === "escape") {
    if (!isVisual && vim.keys.length === 0) return undefined;
    return enterNormal({ vim, buffer });
  }
  const arrows: Record<string, string> = isVisual || vim.keys.length > 0 ? { up: "k", down: "j" } : {};
  const takesAny = ["r", "f", "F", "t", "T"].includes(vim.keys.at(-1) ?? "");
  const letter =
    key.text ?? letterOf[key.name] ?? arrows[key.name] ?? (takesAny && key.name === "enter" ? "\n" : undefined);
  if (letter === undefined)
    return vim.keys.length > 0 && key.name !== "enter" ? { vim: { ...vim, keys: [] }, buffer } : undefined;
  // If there is nothing to redo, the app handles Ctrl+R.
  if (letter === "ctrl+r" && vim.keys.length === 0 && (isVisual || buffer.undone.length === 0)) return undefined;
  const keys = [...vim.keys, letter];
  const command = parse(keys, { isVisual });
  if (command === "more") return { vim: { ...vim, keys }, buffer };
  if (command === "none") return { vim: { ...vim, keys: [] }, buffer };
  // Remember the character search for `;` and `,`, even if it found nothing.
  const find = isFind(command) ? { find: { key: command.motion, character: command.argument } } : {};
  const ready: Work = { vim: { ...vim, ...find, keys: [] }, buffer };
  const started: Work = {
    ...ready,
    vim: { ...ready.vim, group: `vim ${vim.commands + 1}`, commands: vim.commands + 1 },
  };
  return (isVisual ? inVisual(started, command) : inNormal(started, command)) ?? ready;
}

function isFind(command: Command): command is Command & { motion: Find["key"]; argument: string } {
  return command.motion !== undefined && takesCharacter.has(command.motion);
}

function enterNormal({ vim, buffer }: Work): Work {
  const { anchor: _, overwritten: __, inserting: ___, ...rest } = vim;
  return { vim: { ...rest, mode: "normal", keys: [] }, buffer: settleNormal(moveTo(buffer, buffer.cursor)) };
}

function inNormal(work: Work, command: Command): Work | undefined {
  if (command.key === ".") return repeatLastChange(work, command.count);
  if (command.key === "v" || command.key === "V") {
    const mode = command.key === "v" ? "visual" : "visual line";
    return {
      ...work,
      vim: { ...work.vim, mode, anchor: work.buffer.cursor },
      buffer: moveTo(work.buffer, work.buffer.cursor),
    };
  }
  const next = run(work, command);
  const isChange = command.operator
    ? command.operator !== "y"
    : command.key !== undefined && !/^(u|ctrl\+r)$/.test(command.key);
  // Pasting an empty register changes nothing, but `.` repeats it.
  const ended = next ?? (command.key === "p" || command.key === "P" ? work : undefined);
  return ended && isChange ? { ...ended, vim: { ...ended.vim, change: { command } } } : ended;
}

function run(work: Work, command: Command): Work | undefined {
  const { count = 1, argument = "" } = command;

  const hasCount = command.count !== undefined;
  if (command.key) return simpleCommands[command.key]!(work, { count, hasCount, argument });
  const reach = command.motion === "line" || command.object ? undefined : reachOf(work, command);
  if (!command.operator) return reach && moveCursor(work, reach);
  const target = command.object
    ? objectRange(work, command)
    : command.motion === "line"
      ? lineRange(work, count)
      : undefined;
  const { text, cursor } = work.buffer;
  const range = target ?? (reach && rangeTo(text, cursor, reach, command.operator));
  if (!range) return undefined;
  const isLine = command.motion === "line" && !text.slice(range.start, range.end).includes("\n");
  const from =
    isLine && command.operator !== "y"
      ? Math.min(cursor, firstNonBlank(text, cursor))
      : command.object
        ? range.start
        : Math.min(cursor, reach?.at ?? cursor);
  return operators[command.operator]!(work, { range, cursor: from, count: 1 });
}

function reachOf({ vim, buffer }: Work, { motion, count, argument = "", operator }: Command): Reach | undefined {
  return motions[motion!]!({
    text: buffer.text,
    at: buffer.cursor,
    count: count ?? 1,
    hasCount: count !== undefined,
    argument,
    operator,
    find: vim.find,
    goal: buffer.goal,
  });
}

function moveCursor(work: Work, reach: Reach): Work {
  const buffer = moveTo(work.buffer, reach.at, reach.goal === undefined ? {} : { goal: reach.goal });
  return { vim: work.vim, buffer: settleNormal(buffer) };
}

function objectRange({ buffer }: Work, { object, count = 1, operator = "" }: Command): Range | undefined {
  const range = textObjects[object!.name]!({ text: buffer.text, at: buffer.cursor, count, around: object!.around });
  return !range || range.linewise ? range : exclusiveRange(buffer.text, range, operator);
}

/** The range of `count` lines from the current one; undefined if there are fewer. */
function lineRange({ buffer: { text, cursor } }: Work, count: number): Range | undefined {
  let end = lineEnd(text, cursor);
  for (let left = count - 1; left > 0; left--) {
    if (end === text.length)
      return left < count - 1 ? { start: lineStart(text, cursor), end, linewise: true } : undefined;
    end = lineEnd(text, end + 1);
  }
  return { start: lineStart(text, cursor), end, linewise: true };
}

function inVisual(work: Work, command: Command): Work | undefined {
  const { vim, buffer } = work;
  const range = visualSelection(vim, buffer)!;
  if (command.object) {
    const object = textObjects[command.object.name]!({
      text: buffer.text,
      at: buffer.cursor,
      count: command.count ?? 1,
      around: command.object.around,
    });
    if (!object || object.end <= object.start) return undefined;
    const mode = object.linewise ? "visual line" : vim.mode;
    return {
      vim: { ...vim, mode, anchor: object.start },
      buffer: moveTo(buffer, previousGrapheme(buffer.text, object.end)),
    };
  }
  if (command.motion && !command.operator) {
    const reach = reachOf(work, command);
    return reach && moveCursor(work, reach);
  }
  if (command.key === "o" || command.key === "O")
    return { vim: { ...vim, anchor: buffer.cursor }, buffer: moveTo(buffer, vim.anchor!) };
  if (command.key === "v" || command.key === "V") {
    const mode = command.key === "v" ? "visual" : "visual line";
    return mode === vim.mode ? enterNormal(work) : { ...work, vim: { ...vim, mode } };
  }
  const next = runVisual(work, command, range);
  if (!next) return undefined;
  // `.` does not repeat a yank, nor a paste over a selection, which has replaced the register.
  const isOnce = command.operator === "y" || /^[YpP]$/.test(command.key ?? "");
  return afterVisual(next, isOnce ? undefined : { command, extent: extentOf(buffer.text, range) });
}

function afterVisual(work: Work, change: Change | undefined): Work {
  const ended = work.vim.mode === "insert" ? { ...work, vim: withoutAnchor(work.vim) } : normalAfter(work);
  return change ? { ...ended, vim: { ...ended.vim, change } } : ended;
}

function normalAfter(work: Work): Work {
  return { vim: { ...withoutAnchor(work.vim), mode: "normal" }, buffer: settleNormal(work.buffer) };
}

function withoutAnchor({ anchor: _, ...vim }: Vim): Vim {
  return vim;
}

/** `.` repeats the last change, including the text typed after it. A count replaces the original one. */
function repeatLastChange(work: Work, count: number | undefined): Work | undefined {
  const { change } = work.vim;
  if (!change) return undefined;
  const command = count === undefined ? change.command : { ...change.command, count };
  const next = change.extent ? runVisual(work, command, rangeOfExtent(work.buffer, change.extent)) : run(work, command);
  if (!next) return undefined;
  const ended = typeAgain(next, change.typed ?? "");
  return { ...ended, vim: { ...withoutAnchor(ended.vim), change: { ...change, command } } };
}

function typeAgain(work: Work, typed: string): Work {
  if (work.vim.mode === "insert") {
    const { cursor } = work.buffer;
    const buffer = replace(work.buffer, { start: cursor, end: cursor, text: typed, group: work.vim.group });
    return leaveInsert(work.vim, buffer);
  }
  if (work.vim.mode !== "replace") return { ...work, buffer: settleNormal(work.buffer) };
  let next = work;
  for (const character of typed) next = overwrite(next, character);
  return leaveInsert(next.vim, next.buffer);
}

/** Handles Escape in insert and replace mode. With a count, repeats the typed text. */
export function leaveInsert(vim: Vim, buffer: TextBuffer): Work {
  const { inserting, overwritten: _, ...rest } = vim;
  const typed = inserting ? typedSince(inserting, buffer) : "";
  let current = buffer;
  const repeats = inserting && inserting.between + typed !== "" ? inserting.count - 1 : 0;
  if (inserting && repeats > 0) {
    const { cursor } = buffer;
    const text = (inserting.between + typed).repeat(repeats);
    const end = vim.mode === "replace" ? Math.min(lineEnd(buffer.text, cursor), cursor + text.length) : cursor;
    current = replace(buffer, { start: cursor, end, text, group: vim.group });
  }
  const { cursor, text } = current;
  const back = cursor > lineStart(text, cursor) ? previousGrapheme(text, cursor) : cursor;
  const change = vim.change && inserting ? { change: { ...vim.change, typed } } : {};
  return { vim: { ...rest, ...change, mode: "normal", keys: [] }, buffer: moveTo(current, back) };
}

/** Returns the text typed since insert mode began; empty if the text before or after it has changed too. */
function typedSince({ text: before, at }: NonNullable<Vim["inserting"]>, { text, cursor }: TextBuffer): string {
  const isInsert = text.length - cursor === before.length - at && text.startsWith(before.slice(0, at));
  const isReplace = text.startsWith(before.slice(0, at)) && cursor >= at && text.length - cursor <= before.length - at;
  return isInsert || isReplace ? text.slice(at, cursor) : "";
}

function pressReplace(work: Work, key: Key & { type: "key" }): Work | undefined {
  if (key.name === "escape") return leaveInsert(work.vim, work.buffer);
  if (key.name === "backspace") return restore(work);
  return key.text === undefined ? undefined : overwrite(work, key.text);
}

function overwrite({ vim, buffer }: Work, text: string): Work {
  const { cursor } = buffer;
  const end = isLineEnd(buffer.text, cursor) ? cursor : nextGrapheme(buffer.text, cursor);
  const old = buffer.text.slice(cursor, end);
  return {
    vim: { ...vim, overwritten: [...(vim.overwritten ?? []), old] },
    buffer: replace(buffer, { start: cursor, end, text, group: vim.group }),
  };
}

function restore({ vim, buffer }: Work): Work {
  const old = vim.overwritten?.at(-1);
  if (old === undefined) return { vim, buffer };
  const start = previousGrapheme(buffer.text, buffer.cursor);
  return {
    vim: { ...vim, overwritten: vim.overwritten!.slice(0, -1) },
    buffer: replace(buffer, { start, end: buffer.cursor, text: old, cursor: start, group: vim.group }),
  };
}

/** Returns the status shown beside the text: the mode, and the keys of an unfinished command. */
export function vimStatus({ mode, keys }: Vim): string {
  return keys.length === 0 ? mode : `${mode} ${keys.join("")}`;
}
