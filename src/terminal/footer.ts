// Renders the footer, one line below the editor. In a narrow window, parts are dropped from the right, the least important first.

import { dollars } from "../view/numbers.ts";
import { join, nothing, type Painted, type Palette, padded, widthOf } from "./painted.ts";
import { layoutWidth, rightMargin } from "./view.ts";

export type FooterParts = {
  /** The mode: agent, plan, ask or run everything; vim adds its own. */
  mode: string;
  model: string;
  /** The share of the context window in use, from 0 to 1. */
  contextUsed?: number | undefined;
  costUsd?: number | undefined;
  branch?: string | undefined;
  /** The number of commands that run in the background. */
  background?: number | undefined;
  /** A hint about a key, such as "esc interrupts". */
  hint?: string | undefined;
  /** Shown at the right edge: "? keys", or the output of the status line command. */
  right?: string | undefined;
  /** Whether the right part explains how to answer a question, so that other parts make room for it. */
  isAsking?: boolean;
  /** Whether the right part directly follows the others. */
  isCompact?: boolean;
};

/** The share of the context window from which it is shown as a warning. */
const tight = 0.8;

export function footerLine(parts: FooterParts, palette: Palette, columns: number): Painted {
  const width = columns - rightMargin;
  const { mode, model, contextUsed, costUsd, branch, background, hint, right, isAsking, isCompact } = parts;
  const isCalm = mode === "agent";
  const shown: Painted[] = [
    isCalm ? palette.soft(mode) : palette.accent(mode),
    palette.soft(model),
    contextUsed === undefined
      ? nothing
      : (contextUsed >= tight ? palette.warn : palette.soft)(`${Math.round(contextUsed * 100)} % of context`),
    costUsd === undefined || costUsd <= 0 ? nothing : palette.soft(dollars(costUsd)),
    branch ? palette.soft(branch) : nothing,
    background ? palette.accent(`${background} in background`) : nothing,
    hint ? palette.soft(hint) : nothing,
  ].filter((part) => part !== "");
  const separator = palette.soft(" · ");
  const line = (count: number) =>
    shown
      .slice(0, count)
      .reduce((left, part, index) => join(left, index === 0 ? palette.plain(" ") : separator, part), nothing);
  const end = right ? palette.soft(right) : nothing;
  const fewer = shown.map((_, index) => line(shown.length - index));
  const left = (isAsking ? fewer : fewer.slice(0, 1)).find((each) => widthOf(each) + widthOf(end) + 3 <= width);
  if (end === "" || left === undefined) return fewer.find((each) => widthOf(each) <= width) ?? nothing;
  if (isCompact) return join(left, separator, end);
  return join(padded(left, Math.max(widthOf(left) + 3, layoutWidth(columns) - widthOf(end))), end);
}

/** The rule above the editor, the only line drawn on the screen. */
export function ruleLine(palette: Palette, columns: number): Painted {
  return palette.soft("─".repeat(layoutWidth(columns)));
}
