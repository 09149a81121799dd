// How fast the studio is, in ratios that hold on any machine: a long session beside a short one, typing beside typing at rest.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestService, until } from "../serve/service-support.ts";
import { orSkipped } from "../support/skipping.ts";
import { noChromium, openBrowser, openStudio } from "./browser.ts";
import { writeLongSession } from "./long-session.ts";
import { type Rounds, sessionFigures, typingMs } from "./studio-measures.ts";

const service = new TestService();
let browser: Browser;
let page: Page;

describe.skipIf(noChromium)(orSkipped("the studio is fast", noChromium), () => {
  beforeAll(async () => {
    [browser] = await Promise.all([openBrowser(), service.start()]);
    ({ page } = await openStudio(browser, service));
    page.setDefaultTimeout(60_000);
  });

  afterAll(async () => {
    await browser?.close();
    await service.remove();
  });

  it("the studio opens 10,000 events as soon as 100, and scrolls them like 300", {
    timeout: 120_000,
  }, async () => {
    // The best of each: whatever else the machine does only ever takes longer.
    const ratio = (of: Rounds, few: number) => Math.min(...of[10_000]!) / Math.min(...of[few]!);
    const { openWork, scroll, maxRows } = await sessionFigures(page, service, {
      rounds: 8,
      isEnough: ({ openWork, scroll }) => ratio(openWork, 100) <= 1.3 && ratio(scroll, 300) <= 1.3,
    });
    expect(ratio(openWork, 100), JSON.stringify(openWork)).toBeLessThanOrEqual(1.3);
    expect(ratio(scroll, 300), JSON.stringify(scroll)).toBeLessThanOrEqual(1.3);
    expect(maxRows).toBeLessThanOrEqual(400);
  });

  it("typing in the studio while a run prints costs as much as at rest", async () => {
    const { rest, streaming } = await typingMs(page, service);
    expect(streaming / rest, JSON.stringify({ rest, streaming })).toBeLessThanOrEqual(1.5);
  }, 120_000);

  it.each([
    ["the board", () => "/", ".cr-days"],
    ["a session", (id: string) => `/sessions/cursor/${id}`, ".cr-result"],
  ] as const)("%s loads with 90 kB and 12 requests", async (_name, path, drawn) => {
    const { config: configDir, path: workspace } = service.workspace;
    const id = writeLongSession({ configDir, workspace }, 50);
    // However many runs there are.
    const model = service.script([{ text: "At work.", delayMs: 60_000 }]);
    const body = { workspace, model, prompt: { text: "Wait" } };
    const runs = await Promise.all([1, 2, 3, 4].map(() => service.call("POST", "/api/runs", body)));
    const begun = async () => (await service.fleet.runs({ states: ["running"] })).filter(({ sessionId }) => sessionId);
    await until(async () => (await begun()).length === runs.length, "the sessions of the runs");
    const opened = await openStudio(browser, service, { path: path(id) });
    await opened.page.locator(drawn).first().waitFor();
    await opened.page.locator(".left .item").first().waitFor();
    const { requests } = opened;
    // What comes once it is drawn counts as well.
    await expect.poll(() => requests.some((url) => url.endsWith("/api/agents")), { timeout: 12_000 }).toBe(true);
    const bytes = await opened.page.evaluate(() =>
      performance
        .getEntriesByType("resource")
        .filter(({ name }) => /\.(js|css)$/.test(name) && !name.includes("code-pieces"))
        .map((entry) => (entry as PerformanceResourceTiming).encodedBodySize),
    );
    expect(bytes.length).toBeGreaterThan(3);
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(90 * 1000);
    expect(requests.length, requests.join("\n")).toBeLessThanOrEqual(12);
    await opened.context.close();
    for (const { body } of runs) await service.call("POST", `/api/runs/${body.id}/stop`, {});
    await Promise.all(runs.map(({ body }) => service.over(body.id)));
  });
});
