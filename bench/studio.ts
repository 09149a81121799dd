// The studio in a real browser: what the first load weighs, how long sessions open, what scrolling through them costs.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { TestService } from "../test/serve/service-support.ts";
import { noChromium, openBrowser, openStudio } from "../test/studio/browser.ts";
import { writeLongSession } from "../test/studio/long-session.ts";
import { repository } from "../test/support/run-cli.ts";
import { median } from "./measure.ts";

export type StudioFigures = {
  firstLoadKb: number;
  /** Undefined where there is no browser. */
  page?: {
    /** Milliseconds, by the number of events. */
    open: Record<100 | 10_000, number>;
    /** Milliseconds of work for 60 steps. */
    scroll: Record<300 | 10_000, number>;
    mostRows: number;
    /** Milliseconds from a key to the next frame, at rest and while a run prints. */
    typing: { rest: number; streaming: number };
  };
};

export async function studioFigures(rounds: number): Promise<StudioFigures> {
  const firstLoadKb = firstLoadBytes() / 1024;
  if (noChromium) return { firstLoadKb };
  const service = new TestService();
  const browser = await openBrowser();
  try {
    await service.start();
    const { page } = await openStudio(browser, service);
    await page.getByRole("link", { name: "New run" }).first().waitFor();
    const where = { configDir: service.workspace.config, workspace: service.workspace.path };
    const open: Record<100 | 10_000, number[]> = { 100: [], 10000: [] };
    const scroll: Record<300 | 10_000, number[]> = { 300: [], 10000: [] };
    let mostRows = 0;
    // A session is read once and remembered: each is opened for the first time. The first round is not counted.
    for (let round = -1; round < Math.min(rounds, 5); round++) {
      for (const events of [100, 300, 10_000] as const) {
        const opened = await openSession(page, writeLongSession(where, events));
        const { ms, rows } = events === 100 ? { ms: 0, rows: 0 } : await scrollThrough(page);
        mostRows = Math.max(mostRows, rows);
        if (round < 0) continue;
        if (events !== 300) open[events].push(opened);
        if (events !== 100) scroll[events].push(ms);
      }
    }
    return {
      firstLoadKb,
      page: {
        open: { 100: median(open[100]), 10000: median(open[10_000]) },
        scroll: { 300: median(scroll[300]), 10000: median(scroll[10_000]) },
        mostRows,
        typing: await typingMs(page, service),
      },
    };
  } finally {
    await browser.close();
    await service.remove();
  }
}

/** Script and style that the document and what it imports at once bring along, as they are sent. */
export function firstLoadBytes(): number {
  const folder = join(repository, "dist/studio");
  const wanted = new Set<string>();
  const visit = (name: string) => {
    if (wanted.has(name)) return;
    wanted.add(name);
    const text = readFileSync(join(folder, name), "utf8");
    if (!name.endsWith(".js")) return;
    for (const [, next] of text.matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g)) visit(next!);
  };
  for (const name of readdirSync(folder)) if (/^studio-\w+\.(js|css)$/.test(name)) visit(name);
  return [...wanted].reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name)), { level: 9 }).length, 0);
}

async function openSession(page: Page, id: string): Promise<number> {
  const ms = await page.evaluate(async (id) => {
    const link = Object.assign(document.createElement("a"), { href: `/sessions/cursor/${id}` });
    document.body.append(link);
    const begun = performance.now();
    link.click();
    link.remove();
    const isThere = () => document.querySelectorAll(".cr-row").length > 5 && document.querySelector(".cr-result");
    // The rows of the session before are gone first.
    while (document.querySelector(".cr-row") && !document.querySelector(".loading"))
      await new Promise((resolve) => requestAnimationFrame(resolve));
    while (!isThere()) await new Promise((resolve) => requestAnimationFrame(resolve));
    return performance.now() - begun;
  }, id);
  // What is before the last turns comes afterwards.
  await page.waitForTimeout(1500);
  return ms;
}

/** The same session, before and while its run prints a hundred lines a second. */
export async function typingMs(page: Page, service: TestService): Promise<{ rest: number; streaming: number }> {
  const command = "sleep 4; for i in $(seq 1 600); do echo line $i; sleep 0.01; done";
  const body = {
    ...{ workspace: service.workspace.path, prompt: { text: "Print" }, force: true },
    model: service.script([{ text: "I print.", calls: [{ name: "Shell", args: { command } }] }]),
  };
  const { id } = (await service.call("POST", "/api/runs", body)).body as { id: string };
  await page.goto(`http://127.0.0.1:${service.info.port}/runs/${id}`);
  await page.getByText("I print.", { exact: true }).waitFor();
  const rest = await keyToFrame(page);
  await page
    .getByText(/^line \d+/)
    .first()
    .waitFor();
  const streaming = await keyToFrame(page);
  await service.call("POST", `/api/runs/${id}/stop`, {});
  return { rest, streaming };
}

async function keyToFrame(page: Page): Promise<number> {
  const times = await page.evaluate(async () => {
    const field = document.querySelector<HTMLTextAreaElement>(".composer textarea")!;
    const times: number[] = [];
    for (let key = 0; key < 60; key++) {
      const begun = performance.now();
      field.value += "x";
      field.dispatchEvent(new InputEvent("input", { bubbles: true }));
      await new Promise((resolve) => requestAnimationFrame(resolve));
      times.push(performance.now() - begun);
    }
    return times;
  });
  return median(times);
}

async function scrollThrough(page: Page): Promise<{ ms: number; rows: number }> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const workMs = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration")!.value * 1000;
  };
  const before = await workMs();
  const rows = await page.evaluate(async () => {
    const place = document.querySelector(".cr-scroll")!;
    let most = 0;
    for (let step = 0; step < 60; step++) {
      // Up and down the last pages, which a short session has as well.
      place.scrollTop += step % 20 < 10 ? -500 : 500;
      await new Promise((resolve) => requestAnimationFrame(resolve));
      most = Math.max(most, document.querySelectorAll(".cr-row").length);
    }
    return most;
  });
  const ms = (await workMs()) - before;
  await session.detach();
  return { ms, rows };
}
