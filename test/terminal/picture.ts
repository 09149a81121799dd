// A terminal's screen as an SVG: every cell as the emulator has it, in colours of a dark and a light window.
import type { IBufferCell, Terminal } from "@xterm/headless";

const cell = { width: 8.4, height: 19 };
const font = 14;
const padding = 16;

export type Theme = { background: string; ink: string; colours: readonly string[] };

/** The sixteen colours of a calm window; the shades beyond them come as numbers. */
export const themes = {
  dark: {
    background: "#16171a",
    ink: "#e6e5e1",
    colours:
      "#2c2f35 #ff8a80 #6fcf97 #e3b341 #6f9bff #c8a2f0 #86c8dc #c9c8c3 #6a6963 #ff8a80 #6fcf97 #e3b341 #8ab0ff #c8a2f0 #86c8dc #e6e5e1".split(
        " ",
      ),
  },
  light: {
    background: "#fbfbfa",
    ink: "#1d1d1b",
    colours:
      "#1d1d1b #b3261e #1f7a46 #8a5a00 #2f5fd0 #7a3e9d #1c6d86 #6a6963 #9a9a94 #b3261e #1f7a46 #8a5a00 #2f5fd0 #7a3e9d #1c6d86 #1d1d1b".split(
        " ",
      ),
  },
} as const satisfies Record<string, Theme>;

export function drawScreen(terminal: Terminal, theme: Theme): string {
  const { cols, rows } = terminal;
  const buffer = terminal.buffer.active;
  const width = Math.ceil(cols * cell.width + 2 * padding);
  const height = Math.ceil(rows * cell.height + 2 * padding);
  const backs: string[] = [];
  const texts: string[] = [];
  for (let row = 0; row < rows; row++) {
    const line = buffer.getLine(buffer.baseY + row);
    if (!line) continue;
    let column = 0;
    while (column < cols) {
      const first = line.getCell(column)!;
      const style = styleOf(first, theme);
      let text = "";
      let end = column;
      // A run of cells that look the same; wide characters stand alone, so that every column stays where it is.
      while (end < cols) {
        const next = line.getCell(end)!;
        if (end > column && (styleOf(next, theme) !== style || next.getWidth() !== 1 || first.getWidth() !== 1)) break;
        text += next.getChars() || " ";
        end += Math.max(1, next.getWidth());
      }
      const [fill, back, extra] = style.split("|");
      const x = padding + column * cell.width;
      const y = padding + row * cell.height;
      if (back !== "")
        backs.push(
          `<rect x="${round(x)}" y="${y}" width="${round((end - column) * cell.width)}" height="${cell.height}" fill="${back}"/>`,
        );
      if (text.trim() !== "") {
        const length = round((end - column) * cell.width);
        const body = escaped(text.replace(/ /g, "\u00a0"));
        texts.push(`<text x="${round(x)}" y="${y + 14}" fill="${fill}"${extra} textLength="${length}">${body}</text>`);
      }
      column = end;
    }
  }
  // Where it is hidden, nothing is typed.
  const isTyping = /^[›!] /.test(buffer.getLine(buffer.baseY + buffer.cursorY)?.translateToString() ?? "");
  const cursor =
    buffer.type === "normal" && isTyping
      ? `<rect x="${round(padding + buffer.cursorX * cell.width)}" y="${padding + buffer.cursorY * cell.height + 2}" width="2" height="15" fill="${theme.ink}"/>`
      : "";
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<rect width="${width}" height="${height}" rx="9" fill="${theme.background}"/>`,
    ...backs,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${font}" lengthAdjust="spacingAndGlyphs">`,
    ...texts,
    "</g>",
    cursor,
    "</svg>",
    "",
  ].join("\n");
}

/** Ink, ground and attributes, as one word to compare by. */
function styleOf(each: IBufferCell, theme: Theme): string {
  let fore = each.isFgDefault() ? theme.ink : colourOf(each.getFgColor(), each.isFgRGB(), theme);
  let back = each.isBgDefault() ? "" : colourOf(each.getBgColor(), each.isBgRGB(), theme);
  if (each.isInverse()) [fore, back] = [back === "" ? theme.background : back, fore];
  const extra = [
    each.isBold() ? ' font-weight="600"' : "",
    each.isItalic() ? ' font-style="italic"' : "",
    each.isDim() ? ' opacity="0.62"' : "",
    each.isStrikethrough()
      ? ' text-decoration="line-through"'
      : each.isUnderline()
        ? ' text-decoration="underline"'
        : "",
  ].join("");
  return `${fore}|${back}|${extra}`;
}

function colourOf(value: number, isRgb: boolean, theme: Theme): string {
  if (isRgb) return `#${value.toString(16).padStart(6, "0")}`;
  if (value < 16) return theme.colours[value]!;
  if (value >= 232) return `#${(8 + (value - 232) * 10).toString(16).padStart(2, "0").repeat(3)}`;
  const part = (by: number) => {
    const step = Math.floor((value - 16) / by) % 6;
    return (step === 0 ? 0 : 55 + step * 40).toString(16).padStart(2, "0");
  };
  return `#${part(36)}${part(6)}${part(1)}`;
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
