// Renders program output: terminal colours become classes, and all other control sequences are dropped.
import Anser from "anser";
import { useMemo } from "preact/hooks";
import { visible } from "../../../text/visible.ts";
import { Folded } from "./folded.tsx";

type AnsiProps = {
  text: string;
  /** If set, only this many lines at the end are shown. */
  last?: number;
  first?: number;
};

type Piece = { text: string; class?: string | undefined };

/** Shows the output of a terminal in its colours. */
export function Ansi({ text, last, first = 60 }: AnsiProps) {
  const lines = useMemo(() => colouredLines(last === undefined ? text : text.slice(-last * maxTailLine)), [text, last]);
  // Omit blank lines if only the end is shown.
  const visibleLines = last === undefined ? lines : lines.filter((line) => line.length > 0).slice(-last);
  return (
    <pre class="cr-output">
      <Folded
        items={visibleLines}
        first={first}
        noun="line"
        areLines
        draw={(pieces, index) => (
          <span key={index} class="cr-line">
            {pieces.map((piece) => (piece.class ? <span class={piece.class}>{piece.text}</span> : piece.text))}
            {"\n"}
          </span>
        )}
      />
    </pre>
  );
}

/** The maximum length of a line shown while the card is closed. */
const maxTailLine = 2000;

function colouredLines(text: string): Piece[][] {
  const lines: Piece[][] = [[]];
  for (const { content, ...style } of Anser.ansiToJson(finalText(text), { use_classes: true, remove_empty: true })) {
    const name = classOf(style);
    for (const [index, part] of visible(content).split("\n").entries()) {
      if (index > 0) lines.push([]);
      if (part !== "") lines.at(-1)!.push({ text: part, class: name });
    }
  }
  while (lines.length > 1 && lines.at(-1)!.length === 0) lines.pop();
  return lines;
}

/** Removes all control sequences but colours. A line that was overwritten is shown as it was at last. */
function finalText(text: string): string {
  return text
    .replace(/\x1b\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)/g, "")
    .replace(/\x1b\[[0-9;:?]*[ -/]*[@-ln-~]|\x1b[@-Z\\^_=>78]/g, "")
    .replace(/\r+\n/g, "\n")
    .replace(/^[^\n]*\r(?=[^\n])/gm, "");
}

type Style = {
  fg: string | null;
  bg: string | null;
  fg_truecolor: string | null;
  bg_truecolor: string | null;
  decorations: string[];
};

function classOf({ fg, bg, fg_truecolor, bg_truecolor, decorations }: Style): string | undefined {
  const names = [
    colourClass(fg, fg_truecolor, "cr-fg"),
    colourClass(bg, bg_truecolor, "cr-bg"),
    ...decorations.map((each) => (decorated.has(each) ? `cr-${each}` : "")),
  ].filter(Boolean);
  return names.length > 0 ? names.join(" ") : undefined;
}

const decorated = new Set(["bold", "dim", "italic", "underline", "strikethrough"]);
const names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/** Maps a colour to one of eight that are readable on any background. */
function colourClass(name: string | null, rgb: string | null, prefix: string): string {
  if (name === null) return "";
  const existing = names.find((each) => name === `ansi-${each}` || name === `ansi-bright-${each}`);
  if (existing) return `${prefix}-${existing}`;
  const index = Number(/^ansi-palette-(\d+)$/.exec(name)?.[1] ?? Number.NaN);
  const parts = Number.isNaN(index) ? (rgb ?? "").split(",").map(Number) : paletteColour(index);
  return parts.length === 3 && parts.every(Number.isFinite) ? `${prefix}-${nearestColour(parts)}` : "";
}

function paletteColour(index: number): number[] {
  if (index >= 232) return Array(3).fill((index - 232) * 10 + 8);
  const cube = index - 16;
  return [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((level) => level * 51);
}

/** Chooses the nearest colour by which of red, green and blue are strong. */
function nearestColour(rgb: number[]): string {
  const [least, greatest] = [Math.min(...rgb), Math.max(...rgb)];
  if (greatest - least < 40) return greatest < 80 ? "black" : "white";
  const bits = rgb.map((part) => (part > (least + greatest) / 2 ? 1 : 0));
  return names[bits[0]! + 2 * bits[1]! + 4 * bits[2]!]!;
}
