// Renders the footer, one line below the editor. In a narrow window, parts are dropped from the right, the least important first.

import { dollars } from "../view/numbers.ts";
import { join, nothing, type Painted, type Palette, padded, widthOf } from "./painted.ts";
import { rightMargin } from "./view.ts";

export type FooterParts = {
  /** The mode: agent, plan, ask or run everything; vim adds its own. */
  mode: string;
  model: string;
  /** The used share of the context window, from 0 to 1. */
  contextUsed?: number | undefined;
  costUsd?: number | undefined;
  branch?: string | undefined;
  /** The number of commands running in the background. */
  background?: number | undefined;
  /** The number of queued prompts. */
  queued?: number | undefined;
  /** What a key does now: "esc interrupts". */
  hint?: string | undefined;
  /** Shown at the right edge: "? keys", or the output of the status line command. */
  right?: string | undefined;
};

/** The context share from which it is coloured as a warning. */
const tight = 0.8;

export function footerLine(parts: FooterParts, palette: Palette, columns: number): Painted {
  const width = columns - rightMargin;
  const { mode, model, contextUsed, costUsd, branch, background, queued, hint, right } = parts;
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
    queued ? palette.accent(`queued: ${queued}`) : nothing,
    hint ? palette.soft(hint) : nothing,
  ].filter((part) => part !== "");
  const separator = palette.soft(" · ");
  const line = (count: number) =>
    shown
      .slice(0, count)
      .reduce((left, part, index) => join(left, index === 0 ? palette.plain(" ") : separator, part), nothing);
  const end = right ? palette.soft(right) : nothing;
  for (let count = shown.length; count > 0; count--) {
    const left = line(count);
    if (end !== "" && count === shown.length && widthOf(left) + widthOf(end) + 3 <= width)
      return join(padded(left, width - widthOf(end)), end);
    if (widthOf(left) <= width) return left;
  }
  return nothing;
}

/** The rule above the editor, the only line drawn on the screen. */
export function ruleLine(palette: Palette, columns: number): Painted {
  return palette.soft("─".repeat(Math.max(0, columns - rightMargin)));
}
