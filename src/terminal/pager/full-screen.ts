// Draws full frames on the alternate screen, writing only the rows that differ.
import type { Painted } from "../painted.ts";
import type { ScreenOutput } from "../screen.ts";

export function createFullScreen(out: ScreenOutput): { draw(rows: readonly Painted[]): void } {
  let lastFrame: readonly Painted[] = [];
  let height = 0;
  return {
    draw(rows) {
      // after a resize, redraw everything, since the terminal may have moved its rows
      if (rows.length !== height) lastFrame = [];
      height = rows.length;
      const changed = rows.flatMap((row, index) =>
        row === lastFrame[index] ? [] : [`\x1b[${index + 1};1H\x1b[K${row}`],
      );
      lastFrame = rows;
      if (changed.length > 0) out.write(`\x1b[?2026h\x1b[?25l\x1b[?7l${changed.join("")}\x1b[?7h\x1b[?2026l`);
    },
  };
}
