// What is measured of the studio in a real browser: how soon the first rows of a session are there, what scrolling costs, how long
// a key takes. By the bench, which prints it, and by tests, which compare it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CDPSession, Page } from "playwright-core";
import { median } from "../../bench/measure.ts";
import type { TestService } from "../serve/service-support.ts";
import { writeLongSession } from "./long-session.ts";

/** Milliseconds of each round, by the number of events. */
export type Rounds = Record<number, number[]>;

export type SessionFigures = {
  /** From the click to rows that are read. */
  open: Rounds;
  /** Work of the page and of the service for that, as the processor counts it: the same however busy the machine is. */
  openWork: Rounds;
  /** Work of the page for 60 steps. */
  scroll: Rounds;
  maxRows: number;
};

/** Opens a session of each length in turns. The first round, in which the programs warm up, is not counted. */
export async function sessionFigures(
  page: Page,
  service: TestService,
  { rounds, isEnough = () => false }: { rounds: number; isEnough?: (soFar: SessionFigures) => boolean },
): Promise<SessionFigures> {
  const where = { configDir: service.workspace.config, workspace: service.workspace.path };
  const sessions = [100, 300, 10_000].map((events) => ({ events, id: writeLongSession(where, events) }));
  await page.reload();
  await page.locator(".item").nth(2).waitFor();
  const work = await pageWork(page);
  const figures: SessionFigures = {
    open: { 100: [], 300: [], 10000: [] },
    openWork: { 100: [], 300: [], 10000: [] },
    scroll: { 300: [], 10000: [] },
    maxRows: 0,
  };
  for (let round = 0; round <= rounds && !(round > 1 && isEnough(figures)); round++)
    for (const { events, id } of sessions) {
      const before = (await work.ms()) + serviceWorkMs(service);
      const opened = await openSession(page, id);
      const openWork = (await work.ms()) + serviceWorkMs(service) - before;
      await loadTheRest(page, { id, events });
      const { ms, rows } = events === 100 ? { ms: 0, rows: 0 } : await scrollThrough(page, work);
      figures.maxRows = Math.max(figures.maxRows, rows);
      if (round === 0) continue;
      figures.open[events]!.push(opened);
      figures.openWork[events]!.push(openWork);
      figures.scroll[events]?.push(ms);
    }
  await work.session.detach();
  return figures;
}

type PageWork = { session: CDPSession; ms(): Promise<number> };

/** What the page's own thread has worked so far. */
export async function pageWork(page: Page): Promise<PageWork> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return {
    session,
    async ms() {
      const { metrics } = await session.send("Performance.getMetrics");
      return metrics.find(({ name }) => name === "TaskDuration")!.value * 1000;
    },
  };
}

/** What the service's main thread has worked so far. */
function serviceWorkMs({ info: { pid } }: TestService): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}

/** Up to the first rows. What the page asks for afterwards is held back until `loadTheRest`. */
async function openSession(page: Page, id: string): Promise<number> {
  return page.evaluate(async (id) => {
    const { fetch } = window;
    const address = `/api/sessions/cursor/${id}`;
    let release = () => {};
    const isMeasured = new Promise<void>((resolve) => (release = resolve));
    window.fetch = async (input, init) => {
      if (String(input).startsWith(address) && !String(input).includes("last=")) await isMeasured;
      return fetch(input, init);
    };
    window.addEventListener("measured", () => release(), { once: true });
    window.addEventListener("measured", () => (window.fetch = fetch), { once: true });
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

/** The facts of the session, and what is before its last turns: work that is not that of scrolling. */
async function loadTheRest(page: Page, session: { id: string; events: number }): Promise<void> {
  await page.evaluate(async ({ id, events }) => {
    window.dispatchEvent(new Event("measured"));
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const isLoaded = (end: string) => performance.getEntriesByType("resource").some(({ name }) => name.endsWith(end));
    while (!isLoaded(`/cursor/${id}?pictures=1`) || (events > 100 && !isLoaded("&from=0"))) await frame();
    await frame();
    await new Promise((resolve) => requestIdleCallback(resolve));
  }, session);
}

/** The same session, before and while its run prints a hundred lines a second. */
export async function typingMs(page: Page, service: TestService): Promise<{ rest: number; streaming: number }> {
  const signal = join(service.workspace.home, "print-now");
  const command = `until [ -e ${signal} ]; do sleep 0.05; done; for i in $(seq 1 600); do echo line $i; sleep 0.01; done`;
  const body = {
    ...{ workspace: service.workspace.path, prompt: { text: "Print" }, force: true },
    model: service.script([{ text: "I print.", calls: [{ name: "Shell", args: { command } }] }]),
  };
  const { id } = (await service.call("POST", "/api/runs", body)).body as { id: string };
  await page.goto(`http://127.0.0.1:${service.info.port}/runs/${id}`);
  await page.getByText("I print.", { exact: true }).waitFor();
  const rest = await keyToFrame(page);
  writeFileSync(signal, "");
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

async function scrollThrough(page: Page, work: PageWork): Promise<{ ms: number; rows: number }> {
  const before = await work.ms();
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
  return { ms: (await work.ms()) - before, rows };
}
