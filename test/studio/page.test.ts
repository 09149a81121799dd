// The components in a real browser: how many rows a long session takes, how long, what stays where it is, what axe finds.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repository } from "../support/run-cli.ts";
import { bundleGallery, hasBrowser, openBrowser, openGallery } from "./gallery-page.ts";
import { pageWork } from "./studio-measures.ts";
import { timelineRows, timelineScroll } from "./timeline-measures.ts";

describe.runIf(hasBrowser)(`components in a browser${hasBrowser ? "" : " (skipped: no chromium here)"}`, () => {
  let browser: Browser;
  let bundle: Awaited<ReturnType<typeof bundleGallery>>;
  let page: Page;

  beforeAll(async () => {
    [bundle, browser] = await Promise.all([bundleGallery(), openBrowser()]);
    page = await openGallery(browser, bundle);
  });
  afterAll(() => browser.close());

  const rows = () => page.evaluate<number>(timelineRows);
  const show = (events: number) => page.evaluate<number>(`showTimeline(${events})`);

  it("the studio opens and scrolls 10,000 events at the cost of 100", async () => {
    for (const count of [100, 10_000]) await show(count);
    const work = await pageWork(page);
    const costOf = async (what: () => Promise<unknown>) => {
      const before = await work.ms();
      await what();
      return (await work.ms()) - before;
    };
    const opened = { 100: [] as number[], 10000: [] as number[] };
    for (let round = 0; round < 3; round++)
      for (const count of [100, 10_000] as const) opened[count].push(await costOf(() => show(count)));
    expect(await rows()).toBeLessThanOrEqual(400);
    expect(await rows()).toBeGreaterThan(5);
    const ratio = Math.min(...opened[10000]) / Math.min(...opened[100]);
    const scrolled = { 1000: [] as number[], 10000: [] as number[] };
    for (let round = 0; round < 2; round++) {
      for (const count of [1000, 10_000] as const) {
        await show(count);
        scrolled[count].push(await costOf(() => page.evaluate(timelineScroll)));
        expect(await rows()).toBeLessThanOrEqual(400);
      }
    }
    const flat = Math.min(...scrolled[10000]) / Math.min(...scrolled[1000]);
    // `npm run bench` has the limits; what grew with the session would be a hundred times as long.
    expect(ratio, JSON.stringify(opened)).toBeLessThanOrEqual(6);
    expect(flat, JSON.stringify(scrolled)).toBeLessThanOrEqual(4);
  });

  it("the studio keeps the reading position while more arrives, and at the end follows it", async () => {
    await show(1000);
    const isAtEnd = () => page.evaluate<boolean>(atEnd);
    expect(await isAtEnd()).toBe(true);
    await page.evaluate(append);
    await page.waitForFunction(atEnd);
    await page.mouse.move(500, 300);
    await page.mouse.wheel(0, -3000);
    await page.waitForTimeout(200);
    const seen = await page.evaluate<{ id: string; top: number }>(firstSeen);
    await page.evaluate(append);
    await page.getByRole("button", { name: "new" }).waitFor();
    await page.waitForTimeout(100);
    expect(await page.evaluate<{ id: string; top: number }>(firstSeen)).toEqual(seen);
    // Opened above, it pushes down what comes after it, and nothing else.
    await page.getByRole("button", { name: "new" }).click();
    await page.waitForFunction(atEnd);
  });

  it("scrolling up past rows of unknown height does not make the studio's timeline jump", async () => {
    await show(2000);
    await page.mouse.move(500, 300);
    for (let step = 0; step < 8; step++) {
      const before = await page.evaluate<{ id: string; top: number }>(firstSeen);
      await page.mouse.wheel(0, -300);
      await page.waitForTimeout(150);
      const top = await page.evaluate<number>(
        `document.getElementById(${JSON.stringify(before.id)})?.getBoundingClientRect().top ?? -1`,
      );
      expect(Math.abs(top - before.top - 300), `${before.id} at step ${step}`).toBeLessThanOrEqual(2);
    }
  });

  it("the user can read the studio's timeline by keyboard", async () => {
    await show(1000);
    await page.locator(".cr-scroll").focus();
    await page.keyboard.press("g");
    await page.waitForFunction("document.activeElement?.id === 'turn-1'");
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.waitForFunction("document.activeElement?.id === 'turn-1.2'");
    const open = () => page.evaluate<boolean>("document.activeElement.querySelector('details').open");
    const wasOpen = await open();
    await page.keyboard.press("o");
    await page.waitForFunction(`document.activeElement.querySelector('details').open === ${!wasOpen}`);
    await page.keyboard.press("]");
    await page.waitForFunction("document.activeElement?.id === 'turn-2'");
    await page.keyboard.press("k");
    await page.waitForFunction("document.activeElement?.id.startsWith('turn-1.')");
    await page.keyboard.press("G");
    await page.waitForFunction(atEnd);
  });

  it("the studio's timeline can scroll to a block and to a call by id", async () => {
    await show(10_000);
    expect(await page.evaluate<boolean>("controls.goTo('turn-100')")).toBe(true);
    await page.waitForFunction("document.activeElement?.id === 'turn-100'");
    expect(await page.evaluate<number>("document.activeElement.getBoundingClientRect().top")).toBeLessThan(100);
    expect(await page.evaluate<boolean>("controls.goTo('c200-3')")).toBe(true);
    await page.waitForFunction("document.activeElement?.id.startsWith('turn-200.')");
    expect(await page.evaluate<boolean>("controls.goTo('nothing')")).toBe(false);
  });

  it("the studio shows a question in its call's card, and one answer closes it", async () => {
    await page.evaluate("showShort(true)");
    await page.getByRole("button", { name: "Always allow" }).click();
    await page.getByRole("button", { name: "Deny…" }).click();
    await page.getByRole("textbox", { name: "Why not" }).fill("too long");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("answers")).toEqual([
      ["q1", { type: "yes", grant: "project" }],
      ["q1", { type: "no", reason: "too long" }],
    ]);
  });

  it.each([
    { dark: false, width: 1000 },
    { dark: true, width: 390 },
  ])("the accessibility checker axe finds no violation in the studio: %j", async (look) => {
    const own = await openGallery(browser, bundle, look);
    await own.addScriptTag({ content: readFileSync(join(repository, "node_modules/axe-core/axe.min.js"), "utf8") });
    for (const shown of ["showGallery()", "showShort(true)"]) {
      await own.evaluate(shown);
      if (shown === "showGallery()")
        await own.evaluate(
          "for (const summary of document.querySelectorAll('details:not([open]) > summary')) summary.click()",
        );
      await own.waitForTimeout(200);
      const { violations } = await own.evaluate<{
        violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
      }>(
        // Headings are those of whoever wrote them.
        "axe.run({ rules: { 'heading-order': { enabled: false } } })",
      );
      expect(
        violations.map(({ id, nodes }) => [id, nodes.map((node) => `${node.html} ${node.failureSummary}`)]),
      ).toEqual([]);
      const width = await own.evaluate<number>("document.documentElement.scrollWidth");
      expect(width).toBeLessThanOrEqual(look.width);
    }
    await own.close();
  });
});

const atEnd =
  "(() => { const s = document.querySelector('.cr-scroll'); return s.scrollHeight - s.clientHeight - s.scrollTop < 4; })()";

const append = `log.append(
  { type: "user", text: "one more" },
  ...Array.from({ length: 30 }, (_, index) => ({ type: "text_end", text: "Line " + index })),
  { type: "done", text: "", durationMs: 1, apiDurationMs: 1 },
)`;

const firstSeen = `(() => {
  for (const row of document.querySelectorAll("[data-row]")) {
    const { top } = row.getBoundingClientRect();
    if (top >= 0) return { id: row.id, top };
  }
})()`;
