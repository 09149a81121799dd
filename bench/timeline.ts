// A session of 10,000 events in the page, beside one of 100: rows, time to open, cost of scrolling. In a real browser.
import { bundleGallery, hasBrowser, openBrowser, openGallery } from "../test/studio/gallery-page.ts";
import { timelineRows, timelineScroll } from "../test/studio/timeline-measures.ts";

export type TimelineFigures = { rows: number; opening: number; scrolling: number };

/** Undefined where there is no browser. */
export async function timelineFigures(rounds: number): Promise<TimelineFigures | undefined> {
  if (!hasBrowser) return undefined;
  const browser = await openBrowser();
  try {
    const page = await openGallery(browser, await bundleGallery());
    const show = (events: number) => page.evaluate<number>(`showTimeline(${events})`);
    const opened: Record<number, number[]> = { 100: [], 10000: [] };
    const scrolled: Record<number, number[]> = { 1000: [], 10000: [] };
    let rows = 0;
    await show(100);
    for (let round = 0; round < rounds; round++) {
      for (const count of [100, 10_000]) opened[count]!.push(await show(count));
      for (const count of [1000, 10_000]) {
        await show(count);
        scrolled[count]!.push(await page.evaluate<number>(timelineScroll));
        rows = Math.max(rows, await page.evaluate<number>(timelineRows));
      }
    }
    const best = (times: number[]) => Math.min(...times);
    return {
      rows,
      opening: best(opened[10_000]!) / best(opened[100]!),
      scrolling: best(scrolled[10_000]!) / best(scrolled[1000]!),
    };
  } finally {
    await browser.close();
  }
}
