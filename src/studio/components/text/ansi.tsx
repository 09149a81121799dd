// What programs print: the colours of terminals as classes, everything else that is not text dropped.
import Anser from "anser";
import { visible } from "../../../text/visible.ts";
import { Folded } from "./folded.tsx";

type AnsiProps = {
  text: string;
  /** Only so many lines, from the end. */
  last?: number;
  first?: number;
};

type Piece = { text: string; class?: string | undefined };

export function Ansi({ text, last, first = 60 }: AnsiProps) {
  const lines = linesOf(last === undefined ? text : text.slice(-last * mostTailLine));
  // Of the end only what says something.
  const shown = last === undefined ? lines : lines.filter((line) => line.length > 0).slice(-last);
  return (
    <pre class="cr-output">
      <Folded
        items={shown}
        first={first}
        noun="line"
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

/** Of a line that is seen without opening the card. */
const mostTailLine = 2000;

function linesOf(text: string): Piece[][] {
  const lines: Piece[][] = [[]];
  for (const { content, ...style } of Anser.ansiToJson(printed(text), { use_classes: true, remove_empty: true })) {
    const name = classOf(style);
    for (const [index, part] of visible(content).split("\n").entries()) {
      if (index > 0) lines.push([]);
      if (part !== "") lines.at(-1)!.push({ text: part, class: name });
    }
  }
  while (lines.length > 1 && lines.at(-1)!.length === 0) lines.pop();
  return lines;
}

/** Only colours are kept; a line that was written over is what it was in the end. */
function printed(text: string): string {
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

/** One of eight, so that it can be read on any ground. */
function colourClass(name: string | null, rgb: string | null, prefix: string): string {
  if (name === null) return "";
  const known = names.find((each) => name === `ansi-${each}` || name === `ansi-bright-${each}`);
  if (known) return `${prefix}-${known}`;
  const index = Number(/^ansi-palette-(\d+)$/.exec(name)?.[1] ?? Number.NaN);
  const parts = Number.isNaN(index) ? (rgb ?? "").split(",").map(Number) : paletteColour(index);
  return parts.length === 3 && parts.every(Number.isFinite) ? `${prefix}-${nearest(parts)}` : "";
}

function paletteColour(index: number): number[] {
  if (index >= 232) return Array(3).fill((index - 232) * 10 + 8);
  const cube = index - 16;
  return [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((level) => level * 51);
}

/** By which of red, green and blue are strong in it. */
function nearest(rgb: number[]): string {
  const [least, greatest] = [Math.min(...rgb), Math.max(...rgb)];
  if (greatest - least < 40) return greatest < 80 ? "black" : "white";
  const bits = rgb.map((part) => (part > (least + greatest) / 2 ? 1 : 0));
  return names[bits[0]! + 2 * bits[1]! + 4 * bits[2]!]!;
}
