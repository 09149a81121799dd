// Renders one frame of the live region: running calls, queue, rule, the editor or a panel in its place, and the footer.

import { debugMethod } from "./commands/debug.ts";
import { modeNames } from "./commands/model-and-mode.ts";
import type { Desk } from "./desk.ts";
import type { Editor } from "./editor/editor.ts";
import { footerLine, ruleLine } from "./footer.ts";
import { linesOf, nothing, type Painted, type Palette, spread } from "./painted.ts";
import type { Panel } from "./panels/panel.ts";
import { isTmux } from "./screen.ts";
import { layoutWidth, type Size, type View } from "./view.ts";

type SessionParts = {
  editor: Editor;
  /** The panel that receives the keys, if one is open. */
  front: Panel | undefined;
  live(rows: number): readonly Painted[];
  /** A hint that is shown in place of the footer. */
  hint: string;
  branch: string | undefined;
  background: number;
  /** The rows of the window above the live region, as far as they are known. */
  rowsAbove: number;
};

/** An upper limit for the rows that the rule, the footer and the hint wrap to in a narrow window. */
const mostWrapped = 8;

/** Renders everything below the scrollback. */
export function sessionView(desk: Desk, parts: SessionParts): View {
  const { editor, front, live, hint, rowsAbove } = parts;
  const { conversation, palette, size, status, version, env } = desk;
  const { columns } = size;
  // When a window becomes narrower, tmux moves as many rows into its history as wider lines wrap, although there is room below.
  // With little above them these would be rows of the live region, so at first no line is wider than its words.
  const isCompact = isTmux(env) && rowsAbove < mostWrapped;
  const isAsking = front?.isQuestion === true;
  status.update({ conversation, version, columns, vim: editor.vim()?.mode });
  const draft = isAsking && !editor.isEmpty() ? [draftLine(editor.text(), palette, columns)] : [];
  const footer =
    hint === "" ? [...status.lines(columns), sessionFooter(desk, parts, isCompact)] : [palette.warn(` ${hint}`)];
  return frameView(
    { below: front ?? editor, live, queue: conversation.queue, footer: [...draft, ...footer], hasRule: !isCompact },
    palette,
    size,
  );
}

type FrameParts = {
  below: { view(size: Size): View };
  /** Returns the lines of the live region, at most `rows`. */
  live(rows: number): readonly Painted[];
  queue: readonly { text: string }[];
  footer: readonly Painted[];
  hasRule: boolean;
};

function frameView({ below, live, queue, footer, hasRule }: FrameParts, palette: Palette, size: Size): View {
  const { lines, cursor } = below.view(size);
  const waiting = queueLines(queue, palette, size.columns);
  const room = size.rows - 1 - lines.length - footer.length - waiting.length - 2;
  const above = [
    ...live(Math.max(0, room)),
    nothing,
    ...waiting,
    ...(hasRule ? [ruleLine(palette, size.columns)] : []),
  ];
  return {
    lines: [...above, ...lines, ...footer],
    ...(cursor && { cursor: { row: above.length + cursor.row, column: cursor.column } }),
  };
}

const maxQueued = 3;

/** Renders messages that were typed during the turn and wait to be sent. */
function queueLines(queue: readonly { text: string }[], { soft }: Palette, columns: number): Painted[] {
  const shown = queue.slice(-maxQueued).map(({ text }) => soft(`› ${linesOf(text.trim())[0]}`));
  const more = queue.length > maxQueued ? [soft(`  … and ${queue.length - maxQueued} more`)] : [];
  const hint = soft(`queued: ${queue.length} · enter sends now · ↑ edits`);
  return [...more, ...shown].map((line, index, all) =>
    spread(line, index === all.length - 1 ? hint : nothing, layoutWidth(columns)),
  );
}

/** Renders the draft that was being written when a question replaced the editor. */
function draftLine(text: string, { soft, accent }: Palette, columns: number): Painted {
  return spread(soft(`› ${linesOf(text.trim())[0]}`), accent("enter sends this first"), layoutWidth(columns));
}

function sessionFooter(
  { conversation: { info, isWorking, request, skill = "" }, palette, size, goal }: Desk,
  { branch, background, front }: SessionParts,
  isCompact: boolean,
): Painted {
  const { context, model, mode } = info;
  const isDebugging = request.appendSystemPrompt?.includes(debugMethod) === true;
  const isNamed = isDebugging || skill !== "";
  const modes = [skill, isDebugging ? "debug" : "", isNamed && mode === "default" ? "" : modeNames[mode]];
  return footerLine(
    {
      mode: modes.filter(Boolean).join(", "),
      model,
      contextUsed: context && context.used / context.window,
      costUsd: context?.costUsd,
      branch,
      background,
      hint: front ? undefined : isWorking ? "esc interrupts" : goal && `goal: ${goal.text}`,
      right: front ? front.keys : "? keys",
      isAsking: front?.isQuestion === true,
      isCompact,
    },
    palette,
    size.columns,
  );
}
