// The lines below the scrollback, without a terminal: what waits, how much more of it there is, and the footer at every width.
import { describe, expect, it } from "vitest";
import { footerLine } from "../../src/terminal/footer.ts";
import { sessionView } from "../../src/terminal/frame.ts";
import { createPalette } from "../../src/terminal/painted.ts";

const palette = createPalette({ depth: "none" });

function lines(
  queue: readonly string[],
  {
    columns = 80,
    more = {},
    hint = "",
    env = {},
    rowsAbove = 8,
  }: { columns?: number; more?: object; hint?: string; env?: object; rowsAbove?: number } = {},
) {
  const size = { columns, rows: 24 };
  const info = { model: "Model", mode: "default", context: { used: 50, window: 100, costUsd: 0.5 } };
  const conversation = { info, isWorking: true, request: {}, queue: queue.map((text) => ({ text })), ...more };
  const status = { update: () => {}, lines: () => [] };
  const editor = {
    vim: () => undefined,
    isEmpty: () => true,
    text: () => "",
    view: () => ({ lines: ["EDITOR"], cursor: { row: 0, column: 3 } }),
  };
  const desk = { conversation, palette, size, status, version: "1", goal: undefined, env };
  const parts = {
    editor,
    front: undefined,
    live: (rows: number) => [`LIVE ${rows}`],
    hint,
    branch: "main",
    background: 0,
    rowsAbove,
  };
  return sessionView(desk as never, parts as never);
}

describe("queued messages", () => {
  it.each([
    [0, 0, undefined],
    [1, 1, undefined],
    [3, 3, undefined],
    [4, 3, "… and 1 more"],
    [7, 3, "… and 4 more"],
  ])("the terminal shows of %d queued messages %d and counts the rest: %s", (count, shown, rest) => {
    const view = lines(Array.from({ length: count }, (_, index) => `wish ${index}\nmore of it`)).lines.join("\n");
    const wishes = [...view.matchAll(/› wish (\d)/g)].map(([, number]) => Number(number));
    expect(wishes).toEqual(Array.from({ length: shown }, (_, index) => count - shown + index));
    expect(/… and .* more/.exec(view)?.[0]).toBe(rest);
    expect(view.includes("more of it")).toBe(false);
    expect(view.match(/queued: \d+ · enter sends now · ↑ edits/g)?.length ?? 0).toBe(count > 0 ? 1 : 0);
  });

  it("the terminal shows queued messages between the running call and the editor", () => {
    const alone = lines([]);
    expect(alone.lines[0]).toBe("LIVE 19");
    expect(alone.lines.at(-2)).toBe("EDITOR");
    expect(alone.cursor).toEqual({ row: alone.lines.length - 2, column: 3 });
    const two = lines(["a", "b"]);
    expect(two.lines[0]).toBe("LIVE 17");
    expect(two.cursor!.row).toBe(alone.cursor!.row + 2);
    expect(lines([], { hint: "Press again to leave" }).lines.at(-1)).toBe(" Press again to leave");
  });
});

describe("a window of tmux with little above the live region", () => {
  it("under tmux no line is filled to the window's edge, so that a narrower window moves none into the scrollback", () => {
    for (const env of [{ TMUX: "/tmp/tmux-0/default,1,0" }, { TERM: "tmux-256color" }])
      expect(lines([], { columns: 100, more: { isWorking: false }, env, rowsAbove: 7 }).lines).toEqual([
        "LIVE 19",
        "",
        "EDITOR",
        " agent · Model · 50 % of context · $0.50 · main · ? keys",
      ]);
  });

  it("the terminal draws its full-width line under tmux only when rows stand above it, elsewhere at once", () => {
    for (const given of [{ env: { TMUX: "x" } }, { env: { TERM: "xterm-256color" }, rowsAbove: 0 }]) {
      const shown = lines([], { columns: 100, ...given }).lines;
      expect(shown).toContain("─".repeat(98));
      expect(shown.at(-1)).toHaveLength(98);
    }
  });
});

describe("the footer of the frame", () => {
  const full = {
    mode: "agent",
    model: "Model",
    contextUsed: 0.5,
    costUsd: 0.25,
    branch: "main",
    background: 2,
    hint: "esc interrupts",
    right: "? keys",
  };
  const at = (columns: number, parts: object = full) => footerLine(parts as never, palette, columns);

  it("the footer shows everything if there is room, and drops parts from the right", () => {
    const whole = " agent · Model · 50 % of context · $0.25 · main · 2 in background · esc interrupts";
    expect(at(120)).toMatch(new RegExp(`^${whole.replaceAll("$", "\\$")} +\\? keys$`));
    const widths = Array.from({ length: 130 }, (_, columns) => at(columns));
    for (const [columns, line] of widths.entries()) {
      expect(line.length, String(columns)).toBeLessThanOrEqual(columns);
      expect(line === "" || whole.startsWith(line) || line.endsWith("? keys"), line).toBe(true);
    }
    const lengths = [...new Set(widths.map((line) => line.trimEnd().length))];
    expect(lengths).toEqual([...lengths].sort((one, other) => one - other));
    expect(new Set(widths.filter((line) => !line.endsWith("keys"))).size).toBe(8);
  });

  it("the footer always shows a question's keys, and shortens other parts for them", () => {
    expect(at(60, { ...full, right: "↑↓ enter · esc: no", isAsking: true })).toMatch(
      /^ agent · Model · 50 % of context +↑↓ enter · esc: no$/,
    );
    expect(at(20, { ...full, right: "↑↓ enter · esc: no", isAsking: true })).toBe(" agent · Model");
  });

  it("the footer leaves out empty parts", () => {
    expect(at(80, { mode: "plan", model: "M", costUsd: 0, background: 0, branch: "", hint: "" })).toBe(" plan · M");
    expect(at(80, { mode: "ask", model: "M", contextUsed: 0.004 })).toBe(" ask · M · 0 % of context");
    expect(at(80, { mode: "ask", model: "M", contextUsed: 0.996, right: "r" })).toMatch(
      /^ ask · M · 100 % of context +r$/,
    );
  });

  it("the footer warns when the context is four fifths full", () => {
    const coloured = createPalette({ depth: 4 });
    const line = (contextUsed: number) => footerLine({ mode: "agent", model: "M", contextUsed }, coloured, 80);
    const [before, from] = [line(0.79), line(0.8)].map((text) => text.replace(/\d+ %/, "N %"));
    expect(before).not.toBe(from);
    expect(from).toContain(coloured.warn("80 % of context").replace("80", "N"));
  });
});
