// The screen: what is committed is written once and stays, whatever the live region and the window do.
import { describe, expect, it } from "vitest";
import { createPalette, type Painted, widthOf } from "../../src/terminal/painted.ts";
import { createScreen } from "../../src/terminal/screen.ts";
import type { View } from "../../src/terminal/view.ts";
import { createEmulator } from "./emulator.ts";

const { plain, bold } = createPalette({ depth: 8 });
const rounds = Number(process.env["ROUNDS"] ?? 1);

describe("the screen", () => {
  it("the screen redraws only lines of the live region that differ", async () => {
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

  it("the screen writes finished lines above the live region in the same write", async () => {
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

  it("the screen is never cleared, no scroll region is set, and the mouse is not captured", async () => {
    const { written } = await play(7);
    const sequences = new Set(
      written
        .join("")
        .match(/\x1b\[[?0-9;]*[A-Za-z]/g)
        ?.map((each) => each.replace(/\d+(?=[ABGm])/, "n")),
    );
    expect([...sequences].sort()).toEqual(
      [
        "\x1b[?2026h",
        "\x1b[?2026l",
        "\x1b[?25h",
        "\x1b[?25l",
        "\x1b[?7h",
        "\x1b[?7l",
        "\x1b[5n",
        "\x1b[6n",
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

  it("the screen erases nothing from the first column on, which tmux would keep in its scrollback", async () => {
    const { written } = await play(8);
    const erasures = written.join("").match(/(?:\x1b\[\w*)?\x1b\[J/g) ?? [];
    expect(erasures.length).toBeGreaterThan(0);
    expect(new Set(erasures)).toEqual(new Set(["\x1b[C\x1b[J"]));
  });

  it("the screen drops frames that the terminal is too slow for, but no finished line", async () => {
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
    "resizing the window during an answer loses and doubles nothing on the screen",
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

  it.each([
    ["late frames, replies and resize events lose nothing", {}],
    ["keys that look like a reply lose nothing", { hasSuchKeys: true }],
    ["replies after the time limit lose nothing", { answerMs: 1 }],
  ])(
    "the screen: %s",
    async (_title, options) => {
      for (let seed = 1; seed <= 10 * rounds; seed++) {
        const { committed, lines } = await playLate(seed, options);
        // What was taken and written again can leave its first row behind, and after a late reply it follows newer lines.
        const written = lines.filter((line, index) => line.startsWith("#") && lines.lastIndexOf(line) === index);
        const whole = written.filter((line) => committed.includes(line));
        expect(new Set(whole), `seed ${seed}`).toEqual(new Set(committed));
        if (!("answerMs" in options)) expect(whole, `seed ${seed}`).toEqual(committed);
      }
    },
    30_000 * rounds,
  );

  it("the screen loses nothing when a line of uncertain width was drawn for a wider window", async () => {
    const emulator = createEmulator({ columns: 54, rows: 16 });
    const screen = createScreen(emulator, { columns: 100, rows: 16 }, { settleMs: 0, redraw: () => screen.draw(view) });
    // It is drawn without wrapping, so that it takes one row in the narrow window, not two.
    const view = { lines: [plain(`~👍${"-".repeat(97)}`), plain("~")], cursor: { row: 1, column: 0 } };
    screen.commit([plain("#0"), plain("#1")]);
    screen.draw(view);
    screen.resize({ columns: 54, rows: 16 });
    screen.draw(view);
    await emulator.lines();
    for (const answer of emulator.answers()) screen.answered(answer);
    expect((await emulator.lines()).filter((line) => line.startsWith("#"))).toEqual(["#0", "#1"]);
  });

  it("a key that looks like a reply, pressed before there is a query, writes nothing twice", async () => {
    const emulator = createEmulator({ columns: 60, rows: 16 });
    const screen = createScreen(emulator, { columns: 60, rows: 16 }, { settleMs: 0, redraw: () => screen.draw(view) });
    const view = { lines: [plain("~".repeat(50)), plain("~")], cursor: { row: 1, column: 0 } };
    screen.commit([plain("#0"), plain("#1")]);
    screen.draw(view);
    screen.answered("\x1b[12;40R");
    emulator.resize({ columns: 40, rows: 16 });
    screen.resize({ columns: 40, rows: 16 });
    screen.draw(view);
    await emulator.lines();
    for (const answer of emulator.answers()) screen.answered(answer);
    expect((await emulator.lines()).filter((line) => line.startsWith("#"))).toEqual(["#0", "#1"]);
  });

  it("a key that looks like a reply, pressed while the replies are under way, writes nothing twice", async () => {
    for (let position = 0; position <= 4; position++) {
      const emulator = createEmulator({ columns: 60, rows: 16 });
      const screen = createScreen(
        emulator,
        { columns: 60, rows: 16 },
        { settleMs: 0, redraw: () => screen.draw(view) },
      );
      const view = { lines: [plain("~".repeat(50)), plain("~")], cursor: { row: 1, column: 0 } };
      screen.commit(Array.from({ length: 9 }, (_, index) => plain(`#${index}`)));
      screen.draw(view);
      emulator.resize({ columns: 40, rows: 16 });
      screen.resize({ columns: 40, rows: 16 });
      screen.draw(view);
      await emulator.lines();
      const answers = emulator.answers();
      for (const answer of answers.toSpliced(position, 0, "\x1b[16;40R")) screen.answered(answer);
      const kept = (await emulator.lines()).filter((line) => line.startsWith("#"));
      expect(kept, `at ${position}`).toEqual(Array.from({ length: 9 }, (_, index) => `#${index}`));
    }
  });

  it("after the terminal has answered its queries, no reply is written again", async () => {
    const emulator = createEmulator({ columns: 40, rows: 16 });
    const screen = createScreen(emulator, { columns: 40, rows: 16 }, { settleMs: 0, answerMs: 60_000 });
    screen.commit([plain("#0"), plain("#1")]);
    screen.draw({ lines: [plain("~")] });
    let isRead = false;
    const read = screen.allRead().then(() => {
      isRead = true;
    });
    screen.answered("\x1b[12;40R"); // a key
    await emulator.lines();
    expect(isRead).toBe(false);
    for (const answer of emulator.answers()) screen.answered(answer);
    await read;
    screen.draw({ lines: [plain("~"), plain("~")] });
    expect((await emulator.lines()).filter((line) => line.startsWith("#"))).toEqual(["#0", "#1"]);
  });

  it("the screen leaves no rows of the live region in the scrollback if the terminal keeps up", async () => {
    for (let seed = 1; seed <= 5; seed++) {
      const { lines } = await playLate(seed, { isPrompt: true });
      expect(
        lines.filter((line) => line.startsWith("~")),
        `seed ${seed}`,
      ).toEqual(["~"]);
    }
  });
});

/**
 * Frames wait to be read, the window changes before, between and after them, and its new size is known at some time later. With
 * `isPrompt`, each of these has arrived before the next one happens.
 */
async function playLate(seed: number, { isPrompt = false, hasSuchKeys = false, answerMs = 60_000 } = {}) {
  const random = generator(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  let actual = { columns: 60, rows: 20 };
  const emulator = createEmulator(actual);
  const toRead: string[] = [];
  const late = { write: (text: string) => toRead.push(text) > 0, once: () => {} };
  const redraw = () => screen.draw(view);
  const screen = createScreen(late, actual, { settleMs: 0, answerMs, redraw });
  let view: View = { lines: [] };
  const answers: string[] = [];
  const committed: string[] = [];
  const read = async () => {
    emulator.write(toRead.shift() ?? "");
    await emulator.lines();
    answers.push(...emulator.answers());
  };
  const catchUp = async () => {
    do {
      while (toRead.length > 0) await read();
      for (const answer of answers.splice(0)) screen.answered(answer);
    } while (toRead.length > 0);
  };
  for (let step = 0; step < 200; step++) {
    const kind = random();
    if (kind < 0.1) {
      // Not higher than the live region is, which would leave the window.
      actual = { columns: 40 + below(60), rows: 14 + below(20) };
      emulator.resize(actual);
      if (isPrompt) screen.resize(actual);
    } else if (kind < 0.2) screen.resize(actual);
    else if (kind < 0.3)
      for (const answer of answers.splice(0)) {
        if (hasSuchKeys && random() < 0.2) screen.answered("\x1b[12;40R");
        screen.answered(answer);
      }
    else if (kind < 0.6) {
      if (random() < 0.4) {
        const line = `#${committed.length}${"x".repeat(below(80))}`;
        committed.push(line);
        screen.commit([plain(line)]);
      }
      const lines = Array.from({ length: 1 + below(4) }, (_, row) =>
        plain(`~${row}${"-".repeat(below(screen.size.columns - 2))}`),
      );
      // The emulator moves the cursor with what it breaks below it, which other terminals do not.
      const row = isPrompt ? lines.length - 1 : below(lines.length);
      view = { lines, cursor: { row, column: below(3) } };
      screen.draw(view);
    } else if (toRead.length > 0) await read();
    if (isPrompt) await catchUp();
  }
  screen.resize(actual);
  view = { lines: [plain("~")] };
  screen.draw(view);
  await catchUp();
  return { committed, lines: await emulator.lines() };
}

/** Commits, draws and resizes at random; some frames are under way while the window changes. */
async function play(seed: number) {
  const random = generator(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  let size = { columns: 20 + below(80), rows: 6 + below(30) };
  const emulator = createEmulator(size);
  let drawn: View = { lines: [] };
  const screen = createScreen(emulator, size, { settleMs: 0, redraw: () => screen.draw(drawn) });
  const committed: string[] = [];
  const hear = async () => {
    await emulator.lines();
    for (const answer of emulator.answers()) screen.answered(answer);
  };
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
      const lines = Array.from({ length: height }, (_, row) =>
        cutTo(plain(`~${row} ${"live ".repeat(below(30))}`), size.columns),
      );
      if (random() < 0.2) lines[height - 1] = plain("~ 👩‍💻 👍");
      if (random() < 0.3) lines[0] = cutTo(plain("~".repeat(200)), size.columns);
      // The cursor is in the editor, which the last lines are.
      return { lines, cursor: { row: height - 1 - below(Math.min(2, height)), column: below(3) } };
    };
    if (random() < 0.3) {
      const underWay = random() < 0.3 ? view() : undefined;
      size = { columns: Math.max(12, size.columns + below(41) - 20), rows: Math.max(12, size.rows + below(11) - 5) };
      await emulator.lines();
      emulator.resize(size);
      if (underWay) screen.draw(underWay); // for the window as it was
      screen.resize(size);
    }
    drawn = view();
    screen.draw(drawn);
    await hear();
  }
  drawn = { lines: [plain("~")] };
  screen.draw(drawn);
  await hear();
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
