// The screen: what is committed is written once and stays, whatever the live region and the window do.
import { describe, expect, it } from "vitest";
import { createPalette, type Painted, widthOf } from "../../src/terminal/painted.ts";
import { createScreen } from "../../src/terminal/screen.ts";
import { createEmulator } from "./emulator.ts";

const { plain, bold } = createPalette({ depth: 8 });
const rounds = Number(process.env["ROUNDS"] ?? 1);

describe("the screen", () => {
  it("draws a live region and changes only the lines that differ", async () => {
    const emulator = createEmulator({ columns: 40, rows: 10 });
    const screen = createScreen(emulator, { columns: 40, rows: 10 });
    screen.draw({ lines: ["one", "two", "three"].map(plain), cursor: { row: 1, column: 3 } });
    expect((await emulator.rows()).slice(0, 4)).toEqual(["one", "two", "three", ""]);
    expect(await emulator.cursor()).toEqual({ row: 1, column: 3 });
    screen.draw({ lines: ["one", "two!", "three"].map(plain), cursor: { row: 1, column: 4 } });
    expect(emulator.written.at(-1)).not.toContain("one");
    expect(await emulator.cursor()).toEqual({ row: 1, column: 4 });
    const frames = emulator.written.length;
    screen.draw({ lines: ["one", "two!", "three"].map(plain), cursor: { row: 1, column: 4 } });
    expect(emulator.written.length).toBe(frames);
    screen.draw({ lines: ["one", "two!", "three", "four"].map(plain), cursor: { row: 0, column: 0 } });
    screen.draw({ lines: ["one", "four"].map(plain), cursor: { row: 0, column: 0 } });
    expect((await emulator.rows()).slice(0, 4)).toEqual(["one", "four", "", ""]);
  });

  it("commits above the live region, in the same write", async () => {
    const emulator = createEmulator({ columns: 20, rows: 6 });
    const screen = createScreen(emulator, { columns: 20, rows: 6 });
    screen.draw({ lines: [plain("› "), plain("footer")], cursor: { row: 0, column: 2 } });
    for (let index = 0; index < 20; index++) {
      screen.commit([plain(`line ${index} ${"x".repeat(index)}`)]);
      screen.draw({ lines: [plain(`› ${index}`), plain("footer")], cursor: { row: 0, column: 2 } });
    }
    expect(emulator.written.length).toBe(21);
    const lines = await emulator.lines();
    expect(lines.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, index) => `line ${index} ${"x".repeat(index)}`));
    expect(lines.slice(20).filter(Boolean)).toEqual(["› 19", "footer"]);
    screen.clear();
    expect((await emulator.lines()).slice(20).filter(Boolean)).toEqual([]);
  });

  it("never clears, scrolls a region or takes the mouse", async () => {
    const { written } = await play(7);
    const sequences = new Set(
      written
        .join("")
        .match(/\x1b\[[?0-9;]*[A-Za-z]/g)
        ?.map((each) => each.replace(/\d+(?=[AGm])/, "n")),
    );
    expect([...sequences].sort()).toEqual(
      [
        "\x1b[?2026h",
        "\x1b[?2026l",
        "\x1b[?25h",
        "\x1b[?25l",
        "\x1b[?7h",
        "\x1b[?7l",
        "\x1b[C",
        "\x1b[J",
        "\x1b[K",
        "\x1b[nA",
        "\x1b[nG",
        "\x1b[0m",
        "\x1b[1m",
      ]
        .map((each) => each.replace(/\d+(?=m)/, "n"))
        .filter((each, index, all) => all.indexOf(each) === index)
        .sort(),
    );
  });

  it("erases nothing from the first column on: at the top of a window, tmux would keep it in its scrollback", async () => {
    const { written } = await play(8);
    const erasures = written.join("").match(/(?:\x1b\[\w*)?\x1b\[J/g) ?? [];
    expect(erasures.length).toBeGreaterThan(0);
    expect(new Set(erasures)).toEqual(new Set(["\x1b[C\x1b[J"]));
  });

  it("drops frames that the terminal cannot take, and no committed line", async () => {
    const emulator = createEmulator({ columns: 30, rows: 8 });
    let drain = () => {};
    let isFull = false;
    const slow = {
      write: (text: string) => emulator.write(text) && !isFull,
      once: (_: "drain", then: () => void) => {
        drain = then;
      },
    };
    const screen = createScreen(slow, { columns: 30, rows: 8 });
    screen.draw({ lines: [plain("live")] });
    isFull = true;
    for (let index = 0; index < 50; index++) {
      screen.commit([plain(`kept ${index}`)]);
      screen.draw({ lines: [plain(`live ${index}`)] });
    }
    expect(emulator.written.length).toBe(2);
    isFull = false;
    drain();
    expect(emulator.written.length).toBe(3);
    expect((await emulator.lines()).filter((line) => line.startsWith("kept"))).toEqual(
      Array.from({ length: 50 }, (_, index) => `kept ${index}`),
    );
    expect((await emulator.rows()).filter((line) => line.startsWith("live"))).toEqual(["live 49"]);
  });

  it(
    "loses and doubles nothing, whatever the window does in mid-stream",
    async () => {
      for (let seed = 1; seed <= 5 * rounds; seed++) {
        const { committed, lines } = await play(seed);
        // A wide character that does not fit leaves a blank at the end of a row.
        const kept = lines.filter((line) => line.startsWith("#")).map((line) => line.replaceAll(" ", ""));
        expect(kept, `seed ${seed}`).toEqual(committed.map((line) => line.replaceAll(" ", "")));
      }
    },
    30_000 * rounds,
  );
});

/** Commits, draws and resizes at random; some frames are under way while the window changes. */
async function play(seed: number) {
  const random = generator(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  let size = { columns: 20 + below(80), rows: 6 + below(30) };
  const emulator = createEmulator(size);
  const screen = createScreen(emulator, size, { settleMs: 0 });
  const committed: string[] = [];
  for (let step = 0; step < 150; step++) {
    if (random() < 0.5) {
      const lines = Array.from({ length: 1 + below(4) }, () => {
        const line = `#${committed.length} ${"word ".repeat(below(40))}日本e\u0301`;
        committed.push(line);
        return random() < 0.5 ? bold(line) : plain(line);
      });
      screen.commit(lines);
    }
    const view = () => {
      const height = Math.min(1 + below(9), size.rows - 1);
      const drawn = Array.from({ length: height }, (_, row) =>
        cutTo(plain(`~${row} ${"live ".repeat(below(30))}`), size.columns),
      );
      if (random() < 0.2) drawn[height - 1] = plain("~ 👩‍💻 👍");
      if (random() < 0.3) drawn[0] = cutTo(plain("~".repeat(200)), size.columns);
      // The cursor is in the editor, which the last lines are.
      return { lines: drawn, cursor: { row: height - 1 - below(Math.min(2, height)), column: below(3) } };
    };
    if (random() < 0.3) {
      const underWay = random() < 0.3 ? view() : undefined;
      size = { columns: Math.max(12, size.columns + below(41) - 20), rows: Math.max(12, size.rows + below(11) - 5) };
      await emulator.lines();
      emulator.resize(size);
      if (underWay) screen.draw(underWay); // for the window as it was
      screen.resize(size);
    }
    screen.draw(view());
  }
  screen.draw({ lines: [plain("~")] });
  return { committed, lines: await emulator.lines(), written: emulator.written };
}

function cutTo(line: Painted, columns: number): Painted {
  return plain(line.slice(0, columns - Math.max(0, widthOf(line.slice(0, columns) as Painted) - columns)));
}

function generator(seed: number): () => number {
  let state = seed * 2654435761;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}
