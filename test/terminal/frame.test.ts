// The lines below the scrollback, without a terminal: what waits, how much more of it there is, and the footer at every width.
import { describe, expect, it } from "vitest";
import { footerLine } from "../../src/terminal/footer.ts";
import { sessionView } from "../../src/terminal/frame.ts";
import { createPalette } from "../../src/terminal/painted.ts";

const palette = createPalette({ depth: "none" });

function lines(
  queue: readonly string[],
  { columns = 80, more = {}, hint = "" }: { columns?: number; more?: object; hint?: string } = {},
) {
  const size = { columns, rows: 24 };
  const facts = { model: "Model", mode: "default", context: { used: 50, window: 100, costUsd: 0.5 } };
  const conversation = { facts, isWorking: true, request: {}, queue: queue.map((text) => ({ text })), ...more };
  const status = { update: () => {}, lines: () => [] };
  const editor = {
    vim: () => undefined,
    isEmpty: () => true,
    text: () => "",
    view: () => ({ lines: ["EDITOR"], cursor: { row: 0, column: 3 } }),
  };
  const desk = { conversation, palette, size, status, version: "1", goal: undefined };
  const parts = {
    editor,
    front: undefined,
    live: (rows: number) => [`LIVE ${rows}`],
    hint,
    branch: "main",
    background: 0,
  };
  return sessionView(desk as never, parts as never);
}

describe("what waits to be told", () => {
  it.each([
    [0, 0, undefined],
    [1, 1, undefined],
    [3, 3, undefined],
    [4, 3, "… and 1 more"],
    [7, 3, "… and 4 more"],
  ])("of %d messages %d are shown, and the rest is counted: %s", (count, shown, rest) => {
    const view = lines(Array.from({ length: count }, (_, index) => `wish ${index}\nmore of it`)).lines.join("\n");
    const wishes = [...view.matchAll(/› wish (\d)/g)].map(([, number]) => Number(number));
    expect(wishes).toEqual(Array.from({ length: shown }, (_, index) => count - shown + index));
    expect(/… and .* more/.exec(view)?.[0]).toBe(rest);
    expect(view.includes("more of it")).toBe(false);
    expect(view.match(/queued: \d+ · enter sends now · ↑ edits/g)?.length ?? 0).toBe(count > 0 ? 1 : 0);
  });

  it("stands between what runs and the editor, whose cursor moves with it", () => {
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

describe("the footer", () => {
  const full = {
    mode: "agent",
    model: "Model",
    contextUsed: 0.5,
    costUsd: 0.25,
    branch: "main",
    background: 2,
    queued: 3,
    hint: "esc interrupts",
    right: "? keys",
  };
  const at = (columns: number, parts: object = full) => footerLine(parts as never, palette, columns);

  it("says all where there is room, and leaves out from the right where there is less", () => {
    const whole = " agent · Model · 50 % of context · $0.25 · main · 2 in background · queued: 3 · esc interrupts";
    expect(at(120)).toMatch(new RegExp(`^${whole.replaceAll("$", "\\$")} +\\? keys$`));
    const widths = Array.from({ length: 130 }, (_, columns) => at(columns));
    for (const [columns, line] of widths.entries()) {
      expect(line.length, String(columns)).toBeLessThanOrEqual(columns);
      expect(line === "" || whole.startsWith(line) || line.endsWith("? keys"), line).toBe(true);
    }
    const lengths = [...new Set(widths.map((line) => line.trimEnd().length))];
    expect(lengths).toEqual([...lengths].sort((one, other) => one - other));
    expect(new Set(widths.filter((line) => !line.endsWith("keys"))).size).toBe(9);
  });

  it("says nothing of what is nothing", () => {
    expect(at(80, { mode: "plan", model: "M", costUsd: 0, background: 0, queued: 0, branch: "", hint: "" })).toBe(
      " plan · M",
    );
    expect(at(80, { mode: "ask", model: "M", contextUsed: 0.004 })).toBe(" ask · M · 0 % of context");
    expect(at(80, { mode: "ask", model: "M", contextUsed: 0.996, right: "r" })).toMatch(
      /^ ask · M · 100 % of context +r$/,
    );
  });

  it("warns of a context that is nearly full, from four fifths on", () => {
    const coloured = createPalette({ depth: 4 });
    const line = (contextUsed: number) => footerLine({ mode: "agent", model: "M", contextUsed }, coloured, 80);
    const [before, from] = [line(0.79), line(0.8)].map((text) => text.replace(/\d+ %/, "N %"));
    expect(before).not.toBe(from);
    expect(from).toContain(coloured.warn("80 % of context").replace("80", "N"));
  });
});
