// What is measured of the studio in a real browser: how soon the first rows of a session are there, what scrolling costs, how long
// a key takes. By the bench, which prints it, and by tests, which compare it.
import type { Page } from "playwright-core";
import { median } from "../../bench/measure.ts";
import type { TestService } from "../serve/service-support.ts";
import { writeLongSession } from "./long-session.ts";

/** Milliseconds of each round, by the number of events. */
export type Rounds = Record<number, number[]>;

export type SessionFigures = {
  /** From the click to rows that are read. */
  open: Rounds;
  /** Work of the page for 60 steps, as the processor counts it. */
  scroll: Rounds;
  maxRows: number;
};

/** A session is opened for the first time in each round, and not by the first round alone: that one is not counted. */
export async function sessionFigures(page: Page, service: TestService, rounds: number): Promise<SessionFigures> {
  const where = { configDir: service.workspace.config, workspace: service.workspace.path };
  const counts = [100, 300, 10_000];
  const written = Array.from({ length: rounds + 1 }, () => counts.map((events) => writeLongSession(where, events)));
  // The list and the figures in it are there before anything is measured.
  await page.reload();
  await page.locator(".item").nth(2).waitFor();
  await page.waitForTimeout(1500);
  const figures: SessionFigures = {
    open: { 100: [], 300: [], 10000: [] },
    scroll: { 300: [], 10000: [] },
    maxRows: 0,
  };
  for (const [round, ids] of written.entries())
    for (const [index, events] of counts.entries()) {
      const opened = await openSession(page, ids[index]!);
      await wholeSession(page, events);
      const { ms, rows } = events === 100 ? { ms: 0, rows: 0 } : await scrollThrough(page);
      figures.maxRows = Math.max(figures.maxRows, rows);
      if (round === 0) continue;
      figures.open[events]!.push(opened);
      figures.scroll[events]?.push(ms);
    }
  return figures;
}

async function openSession(page: Page, id: string): Promise<number> {
  return page.evaluate(async (id) => {
    performance.clearResourceTimings();
    // The rows of the session before are not those that are waited for.
    document.querySelector(".cr-timeline")?.setAttribute("data-before", "");
    const link = Object.assign(document.createElement("a"), { href: `/sessions/cursor/${id}` });
    document.body.append(link);
    const begun = performance.now();
    link.click();
    link.remove();
    const isThere = () => document.querySelectorAll(".cr-row").length > 5 && document.querySelector(".cr-result");
    while (document.querySelector("[data-before]") || !isThere())
      await new Promise((resolve) => requestAnimationFrame(resolve));
    return performance.now() - begun;
  }, id);
}

/** What is before the last turns comes afterwards, and with it work that is not that of scrolling. */
async function wholeSession(page: Page, events: number): Promise<void> {
  const isLoaded = () => performance.getEntriesByType("resource").some(({ name }) => name.includes("&from=0"));
  if (events > 100) await page.waitForFunction(isLoaded);
  await page.waitForTimeout(800);
  await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
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
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
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
