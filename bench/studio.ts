// The studio in a real browser: what the first load weighs, how long sessions open, what scrolling through them costs.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { TestService } from "../test/serve/service-support.ts";
import { noChromium, openBrowser, openStudio } from "../test/studio/browser.ts";
import { sessionFigures, typingMs } from "../test/studio/studio-measures.ts";
import { repository } from "../test/support/run-cli.ts";
import { median } from "./measure.ts";

export type StudioFigures = {
  /** Of the board, and of a session. */
  firstLoadKb: { board: number; session: number };
  /** Undefined where there is no browser. */
  page?: {
    /** Milliseconds, by the number of events. */
    open: Record<100 | 10_000, number>;
    /** Milliseconds of work for 60 steps. */
    scroll: Record<300 | 10_000, number>;
    maxRows: number;
    /** Milliseconds from a key to the next frame, at rest and while a run prints. */
    typing: { rest: number; streaming: number };
  };
};

export async function studioFigures(rounds: number): Promise<StudioFigures> {
  const firstLoadKb = { board: firstLoadBytes("home") / 1000, session: firstLoadBytes("conversation") / 1000 };
  if (noChromium) return { firstLoadKb };
  const service = new TestService();
  const browser = await openBrowser();
  try {
    await service.start();
    const { page } = await openStudio(browser, service);
    await page.getByRole("link", { name: "New run" }).first().waitFor();
    const { open, scroll, maxRows } = await sessionFigures(page, service, { rounds: Math.min(rounds, 5) });
    return {
      firstLoadKb,
      page: {
        open: { 100: median(open[100]!), 10000: median(open[10_000]!) },
        scroll: { 300: median(scroll[300]!), 10000: median(scroll[10_000]!) },
        maxRows,
        typing: await typingMs(page, service),
      },
    };
  } finally {
    await browser.close();
    await service.remove();
  }
}

/** Script and style of the frame of the page and of a view in it, with what they import at once, as they are sent. */
export function firstLoadBytes(view: "home" | "conversation"): number {
  const folder = join(repository, "dist/studio");
  const wanted = new Set<string>();
  const visit = (name: string) => {
    if (wanted.has(name)) return;
    wanted.add(name);
    const text = readFileSync(join(folder, name), "utf8");
    if (!name.endsWith(".js")) return;
    for (const [, next] of text.matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g)) visit(next!);
  };
  const first = new RegExp(`^(studio|${view})-\\w+\\.(js|css)$`);
  for (const name of readdirSync(folder)) if (first.test(name)) visit(name);
  return [...wanted].reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name)), { level: 9 }).length, 0);
}
