// Every page of the studio, light, dark and on a phone: axe finds nothing at all.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestService } from "../serve/service-support.ts";
import { orSkipped } from "../support/skipping.ts";
import { noChromium, openBrowser, openStudio } from "./browser.ts";
import { claudeId, type Demo, prepareDemo } from "./demo.ts";

const service = new TestService();
const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let browser: Browser;
let demo: Demo;

const looks = {
  light: { colorScheme: "light" },
  dark: { colorScheme: "dark" },
  phone: { colorScheme: "light", width: 390, height: 780 },
} as const;

type Shown = [name: string, path: (demo: Demo) => string, drawn: string, before?: (page: Page) => Promise<unknown>];

/** Each with what shows that it is drawn. */
const pages: Shown[] = [
  ["board", () => "/", ".cr-days"],
  ["palette", () => "/", "dialog[open] .choice", (page) => page.keyboard.press("Control+k")],
  ["new run", () => "/new", ".new-run .chip-model"],
  ["another agent's session", () => `/sessions/claude/${claudeId}`, ".cr-assistant"],
  ["inbox", () => "/inbox", ".asked .cr-main"],
  ["timeline", ({ waiting }) => `/sessions/cursor/${waiting.sessionId}`, ".cr-rows .cr-waiting .cr-main"],
  ["review", ({ finished }) => `/sessions/cursor/${finished.sessionId}/changes`, ".changed .cr-change"],
  ["files", ({ finished }) => `/sessions/cursor/${finished.sessionId}/files`, ".files-rail .rail-line"],
  ["replay", ({ finished }) => `/sessions/cursor/${finished.sessionId}/replay`, ".replay-bar"],
  ["events", ({ finished }) => `/sessions/cursor/${finished.sessionId}/events`, ".raw-line"],
  [
    "compare",
    ({ finished, waiting }) => `/compare/cursor/${finished.sessionId}/cursor/${waiting.sessionId}`,
    ".pair .cr-change",
  ],
  ["compare with", ({ finished }) => `/compare/cursor/${finished.sessionId}`, ".choose .row"],
  ["settings", () => "/settings", ".setting input"],
  ["unknown", () => "/nowhere", "#main h1"],
];

describe.skipIf(noChromium)(orSkipped("axe finds nothing", noChromium), () => {
  beforeAll(async () => {
    [browser] = await Promise.all([openBrowser(), service.start()]);
    demo = await prepareDemo(service);
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    await service.remove();
  });

  it.each(Object.keys(looks) as (keyof typeof looks)[])(
    "the accessibility checker axe finds no violation on %s",
    async (look) => {
      const { page, context, errors } = await openStudio(browser, service, looks[look]);
      for (const [name, path, drawn, before] of pages) {
        await page.goto(`http://127.0.0.1:${service.info.port}${path(demo)}`);
        await page
          .locator(look === "phone" ? ".top-bar" : ".left .item")
          .first()
          .waitFor();
        await before?.(page);
        await page.locator(drawn).first().waitFor();
        // By the debugger, since the page lets nobody else in.
        const found: any = await page.evaluate(`${source}; axe.run(document, { resultTypes: ["violations"] })`);
        const told = found.violations.map(({ id, nodes }: any) => [
          id,
          nodes.map(({ html }: any) => html.slice(0, 160)),
        ]);
        expect(told, name).toEqual([]);
        const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(beyond, name).toBeLessThanOrEqual(0);
      }
      expect(errors).toEqual([]);
      await context.close();
    },
    240_000,
  );
});
